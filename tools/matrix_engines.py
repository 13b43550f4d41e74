"""The engines of the matrix: each is started in a place, and gives a function that runs a job on it.

They are those of the tests, and end with the place's stack.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from tests.engines.conftest import Hadoop, hadoop_cluster
from tests.mr.helpers import PROJECT, Ended, run
from tools.matrix_cases import Run

__all__ = ["ENGINES", "LANES", "REQUIRED", "MissingError", "Place"]

REQUIRED: Final = "CRAWLMILL_REQUIRE_ENGINES"


class MissingError(Exception):
    """What an engine needs is not there."""


class Place:
    """Where engines run. `hadoop` and `spark-yarn` share a cluster; that of `emr` is its own.

    When the double of EMR ends a cluster, it kills all that runs there.
    """

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.stack, self.folder = stack, folder

    @cached_property
    def hadoop(self) -> Hadoop:
        """A cluster of YARN and HDFS on this machine, which is started on the first use."""
        return self._new_hadoop("hadoop")

    @cached_property
    def hadoop_of_emr(self) -> Hadoop:
        """The cluster on which the double of EMR runs its steps."""
        return self._new_hadoop("hadoop-of-emr")

    def _new_hadoop(self, name: str) -> Hadoop:
        for program in ("java", "mvn"):
            if shutil.which(program) is None:
                raise MissingError(f"no {program}")
        return self.stack.enter_context(hadoop_cluster(self.folder / name))


def _emr(place: Place) -> Run:
    from tests.engines.emr.conftest import Emr  # noqa: PLC0415
    from tests.engines.emr.double import emr_double  # noqa: PLC0415

    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # of moto: a line for each request
    return Emr(place.stack.enter_context(emr_double(place.folder / "emr", place.hadoop_of_emr))).run


def _spark(place: Place, line: str) -> Run:  # noqa: ARG001
    from tests.engines.test_spark import Spark  # noqa: PLC0415

    spark = Spark(line)
    if line == "3.5" and sys.version_info >= (3, 14):
        raise MissingError("it does not know this Python")
    if shutil.which("java") is None:
        raise MissingError("no java")
    if os.environ.get(REQUIRED) == "1":
        subprocess.run([sys.executable, PROJECT / "tools/spark/environments.py", line], check=True, stdout=sys.stderr)
    if not spark.submit.exists():
        raise MissingError("`make spark` installs it")
    return spark.run


def _spark_on_yarn(place: Place) -> Run:
    start = _spark(place, "4")
    jars = next((PROJECT / ".cache/spark/4").glob("lib/python3*/site-packages/pyspark/jars"))
    settings = {
        "yarn.jars": f"local:{jars}/*",
        "executor.memory": "512m",
        "yarn.am.memory": "256m",
        "executor.instances": "1",
        "driver.host": "127.0.0.1",
        "ui.enabled": "false",
    }
    given = [part for name, value in settings.items() for part in ("-D", f"spark.{name}={value}")]
    given += ["--spark-master", "yarn", "--task-python-bin", sys.executable]
    environment = {**place.hadoop.environment, "MRJOB_CONF": ""}
    return lambda script, *args: start(script, *given, *args, **environment)


ENGINES: Final[dict[str, Callable[[Place], Run]]] = {
    "inline": lambda _: partial(_on_this_machine, "inline"),
    "local": lambda _: partial(_on_this_machine, "local"),
    "hadoop": lambda place: place.hadoop.run,
    "emr": _emr,
    "spark-3.5": partial(_spark, line="3.5"),
    "spark-4": partial(_spark, line="4"),
    "spark-yarn": _spark_on_yarn,
}

LANES: Final = (("inline", "local", "spark-3.5", "spark-4"), ("hadoop", "spark-yarn"), ("emr",))
"""Engines of a lane run one after another, and lanes side by side: daemons and containers mostly wait."""


def _on_this_machine(alias: str, script: Path, *args: object) -> Ended:
    return run(script, "-r", alias, *args)
