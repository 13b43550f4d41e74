"""The EMR double on the real Hadoop of this test run, and jobs run on it as a user does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.engines.conftest import ended
from tests.engines.emr.double import EmrDouble, emr_double
from tests.engines.jobs import started
from tests.mr.helpers import PROJECT, Ended, environment

SCRIPT = ["--cloud-tmp-dir", "s3://tmp/runs/", "--check-cluster-every", "0.2"]


class Emr:
    """A user of the double, with the project's own mrjob.conf."""

    def __init__(self, double: EmrDouble) -> None:
        self.double = double

    def started(self, script: Path, *args: object, **more: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
        command = [
            sys.executable,
            str(script),
            "-r",
            "emr",
            "-c",
            str(PROJECT / "mrjob.conf"),
            *SCRIPT,
            *map(str, args),
        ]
        return started(command, {**self.double.environment, **more})

    def run(self, script: Path, *args: object, **more: str) -> Ended:
        with self.started(script, *args, **more) as process:
            return ended(process)

    def crawlmill(self, *args: object, **more: str) -> Ended:
        """Run a command."""
        done = subprocess.run(
            [sys.executable, "-m", "crawlmill", *map(str, args)],
            cwd="/",
            capture_output=True,
            timeout=600,
            check=False,
            env=environment(**{**self.double.environment, **more}),
            stdin=subprocess.DEVNULL,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def hadoop_runs(self) -> bool:
        """Whether a job runs on the cluster."""
        return "UNDEFINED" in self.double.hadoop.applications().values()

    @property
    def left(self) -> list[str]:
        """What runs have left on S3, their results apart; logs stay by intention."""
        return [key for key in self.double.keys("s3://tmp/") if "/logs/" not in key and "/mine/" not in key]


@pytest.fixture
def emr(hadoop, tmp_path: Path) -> Iterator[Emr]:
    with emr_double(tmp_path / "emr", hadoop) as double:
        yield Emr(double)


@pytest.fixture
def idle_emr(tmp_path: Path) -> Iterator[Emr]:
    """Without Hadoop: steps wait for ever."""
    with emr_double(tmp_path / "emr") as double:
        yield Emr(double)
