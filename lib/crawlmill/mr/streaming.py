"""What our runners of Hadoop streaming, on a cluster of one's own and on EMR, do otherwise than mrjob's.

* PYTHONPATH is set by `-cmdenv`: mrjob's wrapper script starts a shell and a Python more for each task, and leaves a
  lock file on every node; where the user has `setup` commands, it is still used;
* runs have names that nobody can guess, since a run's folder is called so;
* Hadoop 1 is not spoken to.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, Final

from crawlmill.mr.tasks import limited

__all__ = ["StreamingTasks"]

_HADOOP: Final = "3"  # which names of properties hold; those of Hadoop 2 are the same


class StreamingTasks:
    """A mix-in that stands before one of mrjob's runners of Hadoop streaming."""

    _extra_args: list[str]
    _opts: dict[str, Any]
    _working_dir_mgr: Any

    def add_arguments(self, *arguments: str) -> None:
        """Give every task more arguments."""
        self._extra_args += arguments

    def add_properties(self, properties: dict[str, str]) -> None:
        """Set properties of the job that the user has not set."""
        self._opts["jobconf"] = {**properties, **self._opts["jobconf"]}

    def limit_tasks(self, most: int) -> None:
        """Let no more map tasks run at a time."""
        self._opts["jobconf"] = limited(self._opts["jobconf"], most)

    def get_hadoop_version(self) -> str:
        """What mrjob would ask the cluster."""
        return _HADOOP

    def _make_unique_job_key(self, label: str | None = None, owner: str | None = None) -> str:  # noqa: ARG002
        return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', self._label())}.{secrets.token_hex(6)}"  # type: ignore[attr-defined]

    def _py_files_setup(self) -> list[Any]:
        for path in self._py_files():  # type: ignore[attr-defined]
            self._working_dir_mgr.add("file", path)
        return []

    def _cmdenv(self) -> dict[str, str]:
        given: dict[str, str] = super()._cmdenv()  # type: ignore[misc]
        path = [self._working_dir_mgr.name("file", path) for path in self._py_files()]  # type: ignore[attr-defined]
        path += [given["PYTHONPATH"]] if given.get("PYTHONPATH") else []
        return {**given, "PYTHONPATH": ":".join(path)}
