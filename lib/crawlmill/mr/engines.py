"""mrjob's own runners (EMR, Spark) as the launcher wants them: a task list in, files of output and rows out."""

from __future__ import annotations

import logging
import posixpath
import shutil
from pathlib import Path
from typing import Any

from crawlmill.errors import UsageError
from crawlmill.mr.compat import StepFailedException, engine_runner
from crawlmill.mr.failures import TaskError
from crawlmill.mr.job import CrawlJob
from crawlmill.mr.publish import OutputFolder
from crawlmill.mr.runners import InlineRunner, LocalRunner
from crawlmill.mr.shipping import zip_package
from crawlmill.storage import Storage

__all__ = ["EngineWork", "runner_class"]

_TEMPORARY = ("_cloud_tmp_dir", "_spark_tmp_dir")
_BINARIES = {"spark": "get_spark_submit_bin"}


def runner_class(alias: str | None) -> type[Any]:
    """The class of the runner that is called so; ours for one machine, mrjob's for engines."""
    ours = {runner.alias: runner for runner in (InlineRunner, LocalRunner)}
    alias = alias or LocalRunner.alias
    if alias == "hadoop":
        from crawlmill.mr.hadoop_runner import HadoopRunner  # noqa: PLC0415 - imports all of mrjob's

        return HadoopRunner
    return ours[alias] if alias in ours else engine_runner(alias)


class EngineWork:
    """A run on an engine, with the face that `MachineRunner` shows the launcher."""

    def __init__(self, job: CrawlJob, scratch: Path, storage: Storage) -> None:
        job.options.py_files = [*(job.options.py_files or []), str(zip_package(scratch / "crawlmill.zip"))]
        self._runner = job.make_runner()
        self._scratch, self._storage, self._quiet = scratch, storage, job.options.quiet
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        if find := _BINARIES.get(self._runner.alias):
            binary = getattr(self._runner, find)()[0]
            if shutil.which(binary) is None:
                raise UsageError(f"-r {self._runner.alias}: no {binary} to be found (is it on the PATH?)")
        temporary = next(filter(None, (getattr(self._runner, name, None) for name in _TEMPORARY)))
        self._ledger_folder = posixpath.join(temporary, "ledger")
        self._runner._extra_args += ["--ledger-folder", self._ledger_folder]  # noqa: SLF001 - known only now

    def write_to(self, output: OutputFolder | None) -> None:
        """Output is fetched from where the engine keeps it, wherever it is to go."""

    def warm_up(self) -> None:
        """Nothing can begin before the inputs are known."""

    def run(self) -> None:
        """Run the job and fetch its output and rows.

        Raises:
            TaskError: The engine says so.
        """
        if not self._quiet:
            logging.getLogger("mrjob").setLevel(logging.INFO)  # how far the engine is
        try:
            self._runner.run()
        except StepFailedException as error:
            raise TaskError(str(error)) from error
        part = self._scratch / "part-00000"
        with part.open("wb") as file:
            file.writelines(self._runner.cat_output())
        self.parts = [part]
        for name in self._storage.list(self._ledger_folder):
            rows = self._scratch / f"{len(self.rows)}.rows"
            with (
                self._storage.open_stream(posixpath.join(self._ledger_folder, name)) as source,
                rows.open("wb") as file,
            ):
                shutil.copyfileobj(source, file)
            self.rows.append(rows)

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`."""
        return [
            {f"{group}: {name}": count for group, names in step.items() for name, count in names.items()}
            for step in self._runner.counters()
        ]

    def close(self) -> None:
        """Clean up what the engine's runner left."""
        self._runner.cleanup()
