"""Follows a run on Hadoop whose launcher died, for `crawlmill ledger --collect`.

YARN knows the run's applications by their tag, and Hadoop marks the output of a successful step. A step that the
launcher had not submitted yet cannot be submitted here, because the files to ship are gone with the launcher.
"""

from __future__ import annotations

import posixpath
import re
import time
from pathlib import Path
from typing import Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.mr.engines.following import Following
from crawlmill.mr.engines.hadoop.log import failure_of_task
from crawlmill.mr.engines.hadoop.record import HadoopRun
from crawlmill.mr.engines.hadoop.yarn import Application, Yarn, resource_managers, tag_of
from crawlmill.mr.engines.record import marker_of
from crawlmill.mr.engines.run_folder import committed_files, parts_in, report_of, rows_apart
from crawlmill.mr.engines.run_setup import CollectSetup
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.task.failures import TaskError
from crawlmill.mr.task.files import TaskFile
from crawlmill.storage import Storage, redact
from crawlmill.storage.hdfs.conf import hdfs_user, read_hadoop_conf, wants_kerberos

__all__ = ["HadoopCollected", "in_order"]

_EVERY_S: Final = 5.0
_SUBMITTED_WITHIN_S: Final = 600.0
_SUCCESS: Final = "_SUCCESS"
_PUBLISHED: Final = re.compile(r"part-\d{5,}(?:\.\w+)?")


class HadoopCollected(Following):
    """Follows the applications of a run that another process launched.

    Raises:
        UsageError: The launcher is alive, or YARN does not know the run.
        SourceError: YARN or HDFS does not respond.
    """

    def __init__(self, setup: CollectSetup) -> None:
        self._storage, self._scratch, self._watch = setup.storage, setup.scratch, setup.progress
        self._every_s = _EVERY_S
        self.run = run = HadoopRun.from_json(setup.record)
        conf = read_hadoop_conf()
        self._yarn = Yarn(resource_managers(conf) or run.yarn, hdfs_user(), program=wants_kerberos(conf))
        self._applications: list[Application] = []
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        self.files: list[TaskFile] = []
        if run.launcher_runs:
            raise UsageError("the run goes on: its launcher is alive")
        self._check_submitted()

    @property
    def where(self) -> str:
        """The application."""
        return self._applications[-1].id if self._applications else "YARN"

    def counters(self) -> list[dict[str, int]]:
        """Empty: they are in the logs of Hadoop's client, which are gone with the launcher."""
        return []

    def look(self) -> str | None:
        """Poll once: None if all steps are completed, else the progress in words.

        Raises:
            TaskError: A step has failed, or was never submitted.
            SourceError: YARN or HDFS does not respond.
        """
        self._applications = self._yarn.applications(tag_of(self.run.key))  # before the outputs: it may end in between
        steps = len(self.run.outputs)
        done = 0
        while done < steps and self._storage.exists(posixpath.join(self.run.outputs[done], _SUCCESS)):
            done += 1
        if done == steps or self._publishing():
            return None
        last = self._applications[-1] if self._applications else None
        if last is not None and not last.ended:
            return f"step {done + 1} of {steps} is {last.state.lower()}"
        if last is not None and last.state != "SUCCEEDED":
            raise self._error(last)
        if last is None and done == 0:
            raise TaskError(f"YARN does not know the job any more, and its output is not complete: {self._where_logs}")
        raise TaskError(
            f"step {done + 1} of {steps} was never submitted, because the launcher had died: run the job again"
        )

    def fetch(self) -> None:
        """Fetch the rows, and list the output, part of which the launcher may have published.

        Raises:
            UsageError: The output is complete except for the rename of its folder.
            SourceError: HDFS does not respond.
        """
        outputs, staging = self.run.outputs, self._staging
        if staging is not None and self._storage.exists(posixpath.join(staging, _SUCCESS)):
            raise UsageError(
                f"the launcher died just before it renamed the finished folder: rename {redact(staging)} to "
                f"{redact(self.run.info.output_dir or '')}, and remove {redact(self.run.folder)}"
            )
        found = [file for output in outputs for file in committed_files(self._storage, output)]
        self.rows, files = rows_apart(self._storage, found, self._scratch)
        parts, moved = parts_in(self._storage, outputs[-1]), self._moved()
        # In formats other than pairs, parts are files of tasks.
        pairs = {name for name in moved if self.run.info.output_format == "pairs" and _PUBLISHED.fullmatch(name)}
        published = {_number_of(name): moved[name] for name in pairs}
        named = [TaskFile(name, place) for name, place in moved.items() if name not in pairs]
        self.parts, self.files = [*in_order(parts, published)], [*named, *files]

    def output(self) -> OutputFolder | None:
        """The unpublished output folder, which tasks have written."""
        folder = self.run.info.output_dir
        return OutputFolder(folder, self._storage, again=True, work=self.run.work) if folder else None

    def end(self) -> str | None:
        """Do nothing: steps are submitted one after the other, so a failed run has none left."""
        return None

    @property
    def _staging(self) -> str | None:
        return posixpath.dirname(self.run.work) if self.run.work is not None else None

    @property
    def _where_logs(self) -> str:
        return f"logs: yarn logs -applicationId {self.where}" if self._applications else f"tag {tag_of(self.run.key)}"

    def _publishing(self) -> bool:
        """Whether the launcher died while publishing, after all tasks had ended."""
        return bool(self._moved())

    def _moved(self) -> dict[str, str]:
        """Files that were already moved to their published place, by name."""
        if self._staging is None:
            return {}
        return {
            name: posixpath.join(self._staging, name)
            for name in _names(self._storage, self._staging)
            if not name.startswith(("_", ".", f"{posixpath.basename(self.run.work or '')}/"))
        }

    def _error(self, application: Application) -> TaskError:
        """Why an application failed, in one line."""
        reports = self.run.at("reports")
        attempts = [name for name in _names(self._storage, reports) if name.startswith("attempt_")]

        def report(attempt: str) -> tuple[str, str]:
            said, trace = report_of(self._storage, posixpath.join(reports, attempt))
            return said or "it does not say why", trace

        if error := failure_of_task(attempts, report, self._where_logs):
            return error
        ended = "was killed" if application.state == "KILLED" else "failed"
        return TaskError(f"the job {ended}: {application.said or 'YARN does not say why'}; {self._where_logs}")

    def _check_submitted(self) -> None:
        """Forget a run that YARN never received."""
        begun = self._storage.exists(self.run.outputs[0]) or self._publishing()
        if begun or self._yarn.applications(tag_of(self.run.key)):
            return
        young = time.time() - self.run.info.began_s < _SUBMITTED_WITHIN_S
        if young and self.run.launcher_runs is None:
            raise UsageError(
                f"the run goes on: YARN does not have it yet, but its launcher on {self.run.host} may be alive; try "
                "again later"
            )
        marker = marker_of(self.run.info.output_dir) if self.run.info.output_dir else None
        self.run.remove(self._storage, marker)
        if self._staging is not None:
            self._storage.remove(self._staging)
        raise UsageError("nothing to collect: YARN never had the job; run it again")


def _number_of(part: str) -> int:
    return int(part.partition("-")[2].partition(".")[0])


def in_order(left: list[str], moved: dict[int, str]) -> list[str]:
    """All parts of an output, some of them moved to their place, by number; the others keep their order."""
    rest = iter(left)
    return [moved[number] if number in moved else next(rest) for number in range(len(left) + len(moved))]


def _names(storage: Storage, folder: str) -> list[str]:
    try:
        return list(storage.list(folder))
    except SourceError as error:
        if error.reason != "not-found":
            raise
        return []
