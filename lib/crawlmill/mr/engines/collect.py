"""Finishes a run whose launcher died: `crawlmill ledger --collect OUTPUT`, or RUN if the run had no output folder.

The launcher's machine is not needed, only credentials, which may come from mrjob.conf: the record of the run is on S3
or HDFS, with the task list and the rows (`record.py`). The cluster continues without a launcher. Once it is done, the
ledger is merged, the output published (or the results printed) and the run's folder removed, just as the launcher would
have done.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from crawlmill.errors import UsageError
from crawlmill.mr.engines.record import RunRecord, find_record, marker_of
from crawlmill.mr.engines.registry import engine_of
from crawlmill.mr.engines.run_setup import CollectSetup
from crawlmill.mr.run.conf import conf_paths, with_s3_settings
from crawlmill.mr.run.credentials import credentials_in, lend
from crawlmill.mr.run.ending import Ending
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.task.failures import TaskError
from crawlmill.storage import Storage, redact

if TYPE_CHECKING:
    from crawlmill.mr.engines.registry import Collected

__all__ = ["collect"]


def collect(place: str, storage: Storage, stderr: BinaryIO, stdout: BinaryIO, *, wait: bool) -> int:
    """Finish the run with this output folder, or with this folder of its own; an absolute location.

    Returns the exit code that the run itself would have had.

    Raises:
        UsageError: There is nothing to collect, or the run is still going on and `wait` is false.
        CrawlmillError: Storage or the cluster does not respond.
    """
    paths = conf_paths(None, None)
    credentials = credentials_in(paths)
    lend(credentials)
    console = Console(stderr)
    with (
        Storage(with_s3_settings(storage.options, paths, "emr")) as configured,
        tempfile.TemporaryDirectory(prefix="crawlmill-") as folder,
        _following(place, configured, Path(folder), credentials, console, wait=wait) as work,
    ):
        return _finish(work, configured, Path(folder), console, stdout, wait=wait)


@contextmanager
def _following(
    place: str, storage: Storage, scratch: Path, credentials: dict[str, str], console: Console, *, wait: bool
) -> Iterator[Collected]:
    """Find the run to collect, and create the object that follows it."""
    found = find_record(storage, place)
    finished = storage.exists(f"{place.rstrip('/')}/_SUCCESS")
    if found is None and not finished:
        raise UsageError(
            f"nothing to collect: there is no {redact(marker_of(place))}, which a run on EMR or Hadoop keeps beside "
            "its output folder"
        )
    if found is None or finished:
        if found is not None:  # the launcher died after publishing everything
            run = RunRecord.from_json({name: found.record[name] for name in ("info", "key", "folder", "tasks")})
            run.remove(storage, marker_of(place))
        raise UsageError(f"nothing to collect: {redact(place)} is finished")
    quiet = bool(found.record["info"].get("quiet"))
    progress = Progress(console, lambda _: None, shown=wait and not quiet)
    progress.inputs = int(found.record.get("inputs", 0))
    setup = CollectSetup(found.record, storage, scratch, progress, credentials, wait)
    try:
        yield engine_of(found.runner).follow(setup)
    finally:
        console.clear()


def _finish(work: Collected, storage: Storage, scratch: Path, console: Console, stdout: BinaryIO, *, wait: bool) -> int:
    run = work.run
    ended: TaskError | None = None
    try:
        if state := work.look():
            if not wait:
                raise UsageError(f"the run goes on: {work.where}, {state}; try again later, or give --wait")
            work.wait()
        work.fetch()
    except TaskError as error:
        ended = error
    finally:
        console.clear()
    job, inputs = run.info.make_job(), run.ledger_order(storage, scratch)
    output = work.output()
    try:
        code = Ending(run.info, inputs, job, storage, scratch, console, stdout).finish(work, output, ended)
        if ended is not None and (left := work.end()):
            console.say(left)
    finally:
        if output is not None:
            output.discard()
    run.remove(storage, marker_of(run.info.output_dir) if run.info.output_dir else None)
    return code
