"""Ending a run on EMR whose launcher died: `crawlmill ledger --collect OUTPUT`, or RUN if the run had no output folder.

Nothing of the launcher's machine is needed but credentials, which may be those of its mrjob.conf: the marker beside
OUTPUT leads to the record of the run, which lies on S3, in the folder RUN, with the task list and the rows. The steps
run to their end without a launcher; then the ledger is merged, the output published (or the results printed) and the
run's folder removed, as the launcher would have done it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO, Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.mr.engines.emr.aws import Aws
from crawlmill.mr.engines.emr.cancel import cancel
from crawlmill.mr.engines.emr.credentials import credentials_in, lend
from crawlmill.mr.engines.emr.record import EmrRun, marker_of
from crawlmill.mr.engines.emr.steps import submitted
from crawlmill.mr.engines.emr.watch import EmrWatch
from crawlmill.mr.run.conf import conf_paths, with_s3_settings
from crawlmill.mr.run.ending import Ending
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.task.failures import TaskError
from crawlmill.storage import Storage, redact

__all__ = ["collect"]

_EVERY_S: Final = 5.0
_LOGS_WITHIN_S: Final = 400.0


def collect(place: str, storage: Storage, stderr: BinaryIO, stdout: BinaryIO, *, wait: bool) -> int:
    """End the run that is to fill this folder, or whose own folder it is, an absolute location; gives its exit code.

    Raises:
        UsageError: There is nothing to collect, or the run goes on and `wait` is false.
        CrawlmillError: S3 or EMR do not answer.
    """
    paths = conf_paths(None, None)
    credentials = credentials_in(paths)
    lend(credentials)
    with Storage(with_s3_settings(storage.options, paths, "emr")) as configured:
        return _collect(place, configured, credentials, Console(stderr), stdout, wait=wait)


def _collect(
    place: str, storage: Storage, credentials: dict[str, str], console: Console, stdout: BinaryIO, *, wait: bool
) -> int:
    run = _find(place, storage)
    marker = marker_of(run.info.output_dir) if run.info.output_dir else None
    job = run.info.make_job()
    aws = Aws(run.region, {"emr": run.endpoint}, credentials)
    run = run if run.steps else _submitted(run, aws, storage, marker)
    progress = Progress(console, lambda _: None, shown=wait and not run.info.quiet)
    progress.inputs = run.inputs
    with tempfile.TemporaryDirectory(prefix="crawlmill-") as folder:
        scratch = Path(folder)
        logs_within_s = _LOGS_WITHIN_S if wait else 0.0
        work = EmrWatch(aws, storage, run, scratch, progress, _EVERY_S, logs_within_s=logs_within_s)
        ended: TaskError | None = None
        try:
            if state := work.look():
                if not wait:
                    raise UsageError(
                        f"the run goes on: cluster {run.cluster}, {state}; try again later, or give --wait"
                    )
                work.wait()
            work.fetch()
        except TaskError as error:
            ended = error
        finally:
            console.clear()
        output = OutputFolder(run.info.output_dir, storage, again=True) if run.info.output_dir else None
        try:
            inputs = run.ledger_order(storage, scratch)
            code = Ending(run.info, inputs, job, storage, scratch, console, stdout).finish(work, output, ended)
            if ended is not None and not run.own_cluster and (left := cancel(aws, run)):  # the steps behind it
                console.say(left)
        finally:
            if output is not None:
                output.discard()
    run.remove(storage, marker)
    return code


def _find(place: str, storage: Storage) -> EmrRun:
    marker = marker_of(place)
    for find, where in ((EmrRun.load, marker), (EmrRun.load_from, place)):
        try:
            return find(storage, where)
        except SourceError as error:
            if error.reason != "not-found":
                raise
    if storage.exists(f"{place.rstrip('/')}/_SUCCESS"):
        raise UsageError(f"nothing to collect: {redact(place)} is finished")
    raise UsageError(
        f"nothing to collect: there is no {redact(marker)}, which a run on EMR keeps beside its output folder"
    )


def _submitted(run: EmrRun, aws: Aws, storage: Storage, marker: str | None) -> EmrRun:
    """A run whose launcher had no time to note down its steps."""
    found = submitted(aws, run)
    if not found.steps:
        run.remove(storage, marker)
        raise UsageError("nothing to collect: EMR never had the job; run it again")
    return found
