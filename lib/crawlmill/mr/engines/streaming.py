"""How our runners of Hadoop streaming, on a cluster of your own and on EMR, differ from mrjob's.

* PYTHONPATH is set by `-cmdenv`: mrjob's wrapper script starts another shell and another Python for each task, and
  leaves a lock file on every node; it is still used if the user has `setup` commands;
* lines are written as they are printed: Hadoop would append a tab to lines without a value;
* an option with an empty value is passed on as `--option=`: Hadoop drops empty arguments from commands;
* run names are unguessable, since the run's folder has the same name;
* Hadoop 1 is not supported.
"""

from __future__ import annotations

from typing import Any, Final

from crawlmill.mr.compat import quiet_mrjob
from crawlmill.mr.engines.steps import REDUCERS, check_shipped, run_key, shipping, whole_number
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.survey import SURVEY, reads_task_list
from crawlmill.mr.task.task_list import limited

__all__ = ["StreamingTasks"]

_TAGS: Final = "mapreduce.job.tags"
# How streaming reads a task's output (`IdentifierResolver`): a line is all key, so no separator is appended.
_WHOLE_LINES: Final = "keyonlytext"
_HADOOP: Final = "3"  # determines the names of properties; those of Hadoop 2 are the same


class StreamingTasks:
    """A mix-in for one of mrjob's runners of Hadoop streaming; must be the first base class."""

    surveys: bool = False
    """Whether the job surveys its inputs; to be set before anything runs."""

    _extra_args: list[str]
    _job_key: str
    _opts: dict[str, Any]
    _working_dir_mgr: Any

    def __init__(self, *given: Any, **settings: Any) -> None:
        with shipping():
            super().__init__(*given, **settings)
        manager, made_later = self._working_dir_mgr, set(self._dir_to_archive_path.values())  # type: ignore[attr-defined]
        check_shipped([*(manager.paths() - made_later), *self._opts["py_files"]], manager)
        with quiet_mrjob():  # it would report the same about properties again
            for step in range(self._num_steps()):  # type: ignore[attr-defined]
                whole_number(self._jobconf_for_step(step), REDUCERS)

    def give(self, settings: TaskSettings) -> None:
        """Pass these settings to every task."""
        self._extra_args.append(settings.argument())

    @property
    def key(self) -> str:
        """The run's name, which its cluster, its steps and its jobs carry."""
        return self._job_key

    def _jobconf_for_step(self, step_num: int) -> dict[str, Any]:
        """The properties, with those that write a step's lines unchanged, unless keys and values must stay apart."""
        jobconf: dict[str, Any] = super()._jobconf_for_step(step_num)  # type: ignore[misc]
        step = self._get_step(step_num)  # type: ignore[attr-defined]
        if self._hadoop_output_format or "combiner" in step:  # type: ignore[attr-defined]
            return jobconf  # the setting of reducers applies to combiners too, whose output must keep its values
        last = "reduce" if "reducer" in step else "map"
        return {f"stream.{last}.output": _WHOLE_LINES, **jobconf}

    def tag_jobs(self, tag: str) -> None:
        """Add a YARN tag to the jobs, besides the user's."""
        tags = [*filter(None, [self._opts["jobconf"].get(_TAGS)]), tag]
        self._opts["jobconf"] = {**self._opts["jobconf"], _TAGS: ",".join(tags)}

    def add_properties(self, properties: dict[str, str]) -> None:
        """Set properties of the job that the user has not set."""
        self._opts["jobconf"] = {**properties, **self._opts["jobconf"]}

    def limit_tasks(self, most: int) -> None:
        """Set the most map tasks that may run at a time."""
        self._opts["jobconf"] = limited(self._opts["jobconf"], most)

    def set_reducers(self, number: int) -> None:
        """Set the number of reducers where it is not set."""
        self.add_properties({REDUCERS: str(number)})

    def get_hadoop_version(self) -> str:
        """The Hadoop version, which mrjob would ask the cluster for."""
        return _HADOOP

    def _make_unique_job_key(self, label: str | None = None, owner: str | None = None) -> str:  # noqa: ARG002
        return run_key(self._label())  # type: ignore[attr-defined]

    def _mr_job_extra_args(self, *, local: bool = False) -> list[str]:
        # Streaming splits a task's command at blanks, and drops empty arguments (`PipeMapRed.splitArgs`).
        passed: list[str] = []
        for each in super()._mr_job_extra_args(local=local):  # type: ignore[misc]
            if each or not passed or not passed[-1].startswith("--"):
                passed.append(each)
            else:
                passed[-1] += "="
        return passed

    def _py_files_setup(self) -> list[Any]:
        for path in self._py_files():  # type: ignore[attr-defined]
            self._working_dir_mgr.add("file", path)
        return []

    def _cmdenv(self) -> dict[str, str]:
        given: dict[str, str] = super()._cmdenv()  # type: ignore[misc]
        path = [self._working_dir_mgr.name("file", path) for path in self._py_files()]  # type: ignore[attr-defined]
        path += [given["PYTHONPATH"]] if given.get("PYTHONPATH") else []
        survey = {SURVEY: f"{self._step_output_uri(0)}/part-00000"} if self.surveys else {}  # type: ignore[attr-defined]
        return {**given, "PYTHONPATH": ":".join(path), **survey}

    def _step_input_uris(self, step_num: int) -> list[str]:
        uris: list[str] = super()._step_input_uris(  # type: ignore[misc]
            0 if reads_task_list(step_num, surveys=self.surveys) else step_num
        )
        return uris

    def _hadoop_args_for_step(self, step_num: int) -> list[str]:
        given: list[str] = super()._hadoop_args_for_step(step_num)  # type: ignore[misc]
        again = step_num and reads_task_list(step_num, surveys=self.surveys)
        return [*given, "-inputformat", self._hadoop_input_format] if again else given  # type: ignore[attr-defined]
