"""mrjob's Spark runner, used here only for its options and for what the job uploads; `work.py` runs the job.

Differences from mrjob, and their reasons:

* all steps run in one application with our own driver (`driver.py`): mrjob's splits every input in two, and counts
again whatever Spark recomputes;
* the tasks' working folder is shipped as a zip among the Python files, which Spark sends to tasks with every master;
* without a master, `local[CORES,TRIES]` is used: in `local[*]`, a task that fails once ends the run;
* without PYSPARK_PYTHON, tasks on this machine use the launcher's interpreter, as the driver always does.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any, ClassVar, Final

from crawlmill.errors import UsageError
from crawlmill.mr.compat import combine_environments, engine_runner, unarchive
from crawlmill.mr.engines.spark.tasks import Shipped, Step
from crawlmill.mr.engines.steps import (
    REDUCERS,
    check_shipped,
    check_step,
    run_key,
    shipping,
    task_variables,
    usable_cores,
    whole_number,
)
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.storage.hdfs.conf import hdfs_user, read_hadoop_conf
from crawlmill.storage.locations import absolute, join, scheme_of

__all__ = ["SparkRunner", "on_this_machine"]

_MRJobSparkRunner: Any = engine_runner("spark")
_LOOPBACK: Final = re.compile(r"spark://(localhost|127\.[\d.]+|\[::1\])[:/]")
_CORES: Final = "spark.executor.cores"
_EXECUTORS: Final = "spark.executor.instances"
_CORE_JAR: Final = re.compile(r"spark-core_[\d.]+-(\d+)\.(\d+)")
_FIRST_FOR_ALL_PYTHONS: Final = (4, 0)
_LAST_PYTHON_BEFORE: Final = (3, 13)  # as tested


def on_this_machine(master: str | None) -> bool:
    """Whether the tasks of a master run on this machine (no master means `local`)."""
    return master is None or master.startswith("local") or _LOOPBACK.match(master) is not None


class SparkRunner(_MRJobSparkRunner):  # type: ignore[misc]
    """Holds the options and writes the command."""

    alias = "spark"
    OPT_NAMES: ClassVar[set[str]] = _MRJobSparkRunner.OPT_NAMES | {"num_cores"}

    def __init__(self, mrjob_cls: Any, **settings: Any) -> None:
        with shipping():
            super().__init__(mrjob_cls=mrjob_cls, **settings)
        manager, made_later = self._working_dir_mgr, set(self._dir_to_archive_path.values())
        check_shipped([*(manager.paths() - made_later), *self._opts["py_files"]], manager)
        self.tries = 1
        self.most_tasks: int | None = None
        self._home: Path | None = None
        self._job_class = mrjob_cls
        if self._opts["setup"]:
            raise UsageError(f"the spark runner runs no setup commands; found: {self._opts['setup'][0]}")
        if self._spark_deploy_mode() != "client":
            raise UsageError("-r spark: only with --spark-deploy-mode client: the launcher follows its driver")
        properties = [self._jobconf_for_step(step) for step in range(self._num_steps())]
        self._reducers = [whole_number(each, REDUCERS) for each in properties]
        for name in (_CORES, _EXECUTORS):
            whole_number(self._opts["jobconf"], name)

    def _check_step(self, step: dict[str, Any], step_num: int) -> None:
        check_step(self.alias, step, step_num)

    def give(self, settings: TaskSettings) -> None:
        """Pass these settings to every task."""
        self._extra_args.append(settings.argument())

    def limit_tasks(self, most: int) -> None:
        """Set the most tasks that may run at a time."""
        self.most_tasks = most

    def set_reducers(self, number: int) -> None:
        """Set the number of reducers where it is not set."""
        self._reducers = [each or number for each in self._reducers]

    def find_programs(self) -> None:
        """Find spark-submit and Java. Raises: UsageError."""
        if self._opts["num_cores"] is not None and self._opts["num_cores"] < 1:
            raise UsageError(f"-r spark: --num-cores: expected 1 or more, got {self._opts['num_cores']}")
        binary = self.get_spark_submit_bin()[0]
        found = shutil.which(binary)
        if found is None:
            raise UsageError(f"-r spark: no {binary} was found: pip install pyspark, or set SPARK_HOME")
        home = os.environ.get("JAVA_HOME")
        if shutil.which(f"{home}/bin/java" if home else "java") is None:
            where = f"below JAVA_HOME ({home})" if home else "on the PATH, and JAVA_HOME is not set"
            raise UsageError(f"-r spark: no java {where}: Spark needs Java 17")
        hdfs_user()
        self._home = _home(found)
        version = _version(self._home) if self._home else _FIRST_FOR_ALL_PYTHONS
        if version < _FIRST_FOR_ALL_PYTHONS and sys.version_info[:2] > _LAST_PYTHON_BEFORE:
            raise UsageError(
                f"-r spark: Spark {version[0]}.{version[1]} supports Python up to 3.13, this is "
                f"{sys.version_info[0]}.{sys.version_info[1]}: use Spark 4, or an older Python"
            )
        if len(self._opts["task_python_bin"] or self._opts["python_bin"] or ()) > 1:
            raise UsageError("-r spark: python_bin is the name of one program; Spark gives it no arguments of yours")
        if self.master.startswith("yarn") and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ):
            raise UsageError("-r spark: --spark-master yarn needs HADOOP_CONF_DIR: the configuration of the cluster")

    @property
    def master(self) -> str:
        """The URL of Spark's master."""
        if given := self._opts["spark_master"]:
            return str(given)
        workers = min(filter(None, (self._opts["num_cores"] or usable_cores(), self.most_tasks)))
        return f"local[{workers},{self.tries}]"

    @property
    def here(self) -> bool:
        """Whether tasks run on this machine, and see its files."""
        return on_this_machine(self._opts["spark_master"])

    def folder(self, scratch: Path) -> str:
        """The run's own folder, which all tasks can reach; does not exist yet. Raises: UsageError."""
        given = self._opts["spark_tmp_dir"]
        if given:
            return join(absolute(given, os.getcwd()), self.get_job_key())  # noqa: PTH109
        if self.here:
            return str(scratch / "spark")
        if not read_hadoop_conf():
            raise UsageError(
                f"-r spark: tasks of {self.master} need a folder that all of them reach: --spark-tmp-dir with "
                "hdfs://…, s3://… or a shared path (default: on HDFS, if HADOOP_CONF_DIR is set)"
            )
        return join(f"hdfs:///user/{hdfs_user()}/.crawlmill", self.get_job_key())

    def pack(self, scratch: Path) -> tuple[Path, Shipped]:
        """Write the zip of the tasks' working folder: the script, and what the job uploads."""
        home, name = scratch / "job", f"crawlmill_job_{secrets.token_hex(4)}.zip"
        home.mkdir()
        self._create_dir_archives()
        for uploaded, path in self._working_dir_mgr.name_to_path("file").items():
            shutil.copy2(path, home / uploaded)
        for uploaded, path in self._working_dir_mgr.name_to_path("archive").items():
            unarchive(path, str(home / uploaded))
        script = Path(self._script_path)
        shutil.copy2(script, home / script.name)
        with zipfile.ZipFile(scratch / name, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
            for path in sorted(home.rglob("*")):
                packed.write(path, path.relative_to(home))
        arguments = self._mr_job_extra_args()
        return scratch / name, Shipped(name, script.name, self._job_class.__name__, arguments)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return int(self._num_steps())

    def plan(self, folder: str, output: str) -> list[Step]:
        """The steps; the last one writes to `output`, the others below `folder`."""
        last = self._num_steps() - 1
        return [
            Step(
                number,
                [kind for kind in ("mapper", "combiner", "reducer") if kind in step],
                reducers,
                self._task_environment(number),
                output if number == last else join(folder, f"step-output/{number:04}"),
                surveys=number == 0 and self._job_class.surveys,
            )
            for number, (step, reducers) in enumerate(zip(self._get_steps(), self._reducers, strict=True))
        ]

    def command(self, script: Path, plan: Path, py_files: list[Path], folder: str) -> list[str]:
        """The command that runs the whole job and returns when it has ended."""
        settings = {
            "spark.app.name": f"crawlmill {self._label()}",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.maxResultSize": "0",  # the rows of all inputs are part of the tasks' reports
            **self._settings_of_this_machine(),
            **{f"spark.executorEnv.{name}": value for name, value in {**_user(folder), **self._cmdenv()}.items()},
            **{name: value for name, value in self._jobconf_for_step(0).items() if name.startswith("spark.")},
            **self._limits(),
        }
        files = [
            *map(str, py_files),
            *(self._opts["py_files"] if self.master.startswith("local") else self._py_files()),
        ]
        return [
            *self.get_spark_submit_bin(),
            "--master",
            self.master,
            "--deploy-mode",
            "client",
            *(part for name, value in sorted(settings.items()) for part in ("--conf", f"{name}={value}")),
            *(("--jars", ",".join(self._libjar_paths())) if self._libjar_paths() else ()),
            "--py-files",
            ",".join(files),
            *self._opts["spark_args"],
            str(script),
            str(plan),
        ]

    def environment(self, disk: Path, folder: str) -> dict[str, str]:
        """The environment of spark-submit; Spark's temporary files on this machine are below `disk`."""
        submit = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Djava.io.tmpdir={disk} -XX:-UsePerfData".strip()
        ours = {"PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_SUBMIT_OPTS": submit}
        if self._home:
            ours["SPARK_HOME"] = str(self._home)  # otherwise spark-submit searches for it with the interpreters above
        wanted = self._opts["task_python_bin"] or self._opts["python_bin"]
        if wanted:
            ours["PYSPARK_PYTHON"] = wanted[0]
        elif "PYSPARK_PYTHON" not in os.environ:
            ours["PYSPARK_PYTHON"] = sys.executable if self.here else "python3"
        defaults = {"SPARK_LOCAL_DIRS": str(disk)}
        if self.master.startswith("local"):
            defaults["SPARK_LOCAL_IP"] = "127.0.0.1"  # do not listen on the network
        return {**defaults, **os.environ, **_user(folder), **ours}

    def _settings_of_this_machine(self) -> dict[str, str]:
        if self.master.startswith("local"):
            return {
                "spark.ui.enabled": "false",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
            }
        return {}

    def _limits(self) -> dict[str, str]:
        """Limit the cores so that at most the allowed number of tasks run at a time; local[N] does so already."""
        if not self.most_tasks or self.master.startswith("local"):
            return {}
        if self.master.startswith("spark:"):
            return {"spark.cores.max": str(self.most_tasks)}
        wanted = self._jobconf_for_step(0)
        cores = min(whole_number(wanted, _CORES) or 1, self.most_tasks)
        most = self.most_tasks // cores
        executors = min(whole_number(wanted, _EXECUTORS) or 2, most)
        return {_CORES: str(cores), _EXECUTORS: str(executors), "spark.dynamicAllocation.maxExecutors": str(most)}

    def _task_environment(self, step: int) -> dict[str, str]:
        wanted = self._cmdenv()
        combined = combine_environments(os.environ, wanted) if self.here else wanted
        given = task_variables(self._jobconf_for_step(step), self.get_job_key())
        return {**given, **{name: combined[name] for name in wanted}}

    def _make_unique_job_key(self, label: str | None = None, owner: str | None = None) -> str:  # noqa: ARG002
        return run_key(self._label())

    def _check_spark_tmp_dir_opt(self) -> None:
        """Do nothing: we check it."""

    def _pick_spark_tmp_dir(self) -> str:
        return os.path.join(self._opts["local_tmp_dir"], "unused")  # noqa: PTH118 - mrjob's own is not used

    def _has_streaming_steps(self) -> bool:
        return False  # otherwise the script would be zipped once more


def _user(folder: str) -> dict[str, str]:
    """The user who writes to a folder on HDFS: not the user of the executors."""
    return {"HADOOP_USER_NAME": hdfs_user()} if scheme_of(folder) == "hdfs" else {}


def _home(submit: str) -> Path | None:
    """The Spark folder of a spark-submit: above it, in its Python environment, or SPARK_HOME."""
    path = Path(submit)
    packages = path.absolute().parent.parent.glob("lib/python3*/site-packages/pyspark")
    named = [Path(os.environ["SPARK_HOME"])] if os.environ.get("SPARK_HOME") else []
    places = [path.resolve().parent.parent, *packages, *named]
    return next((place for place in places if any(place.glob("jars/spark-core_*.jar"))), None)


def _version(home: Path) -> tuple[int, int]:
    found = [_CORE_JAR.match(jar.name) for jar in home.glob("jars/spark-core_*.jar")]
    return next(((int(each[1]), int(each[2])) for each in found if each), _FIRST_FOR_ALL_PYTHONS)
