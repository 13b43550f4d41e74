"""Ending a run on EMR whose launcher died: `crawlmill ledger --collect OUTPUT`.

Nothing of the launcher's machine is needed but credentials, which may be those of its mrjob.conf: the marker beside
OUTPUT leads to the record of the run, which lies on S3 with the task list and the rows. The steps run to their end
without a launcher; then the ledger is merged, the output published and the run's folder removed, as the launcher would
have done it.
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
from crawlmill.mr.run.conf import conf_paths
from crawlmill.mr.run.ending import Ending
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.task.failures import TaskError
from crawlmill.storage import Storage, redact

__all__ = ["collect"]

_EVERY_S: Final = 5.0
_LOGS_WITHIN_S: Final = 400.0


def collect(output_dir: str, storage: Storage, stderr: BinaryIO, stdout: BinaryIO, *, wait: bool) -> int:
    """End the run that is to fill this folder, an absolute location; gives its exit code.

    Raises:
        UsageError: There is nothing to collect, or the run goes on and `wait` is false.
        CrawlmillError: S3 or EMR do not answer.
    """
    console, marker = Console(stderr), marker_of(output_dir)
    credentials = credentials_in(conf_paths(None, None))
    lend(credentials)
    run = _find(output_dir, marker, storage)
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
        output = OutputFolder(output_dir, storage, again=True)
        try:
            inputs = run.ledger_order(storage, scratch)
            code = Ending(run.info, inputs, job, storage, scratch, console, stdout).finish(work, output, ended)
            if ended is not None and not run.own_cluster and (left := cancel(aws, run)):  # the steps behind it
                console.say(left)
        finally:
            output.discard()
    run.remove(storage, marker)
    return code


def _find(output_dir: str, marker: str, storage: Storage) -> EmrRun:
    try:
        return EmrRun.load(storage, marker)
    except SourceError as error:
        if error.reason != "not-found":
            raise
    if storage.exists(f"{output_dir.rstrip('/')}/_SUCCESS"):
        raise UsageError(f"nothing to collect: {redact(output_dir)} is finished")
    raise UsageError(
        f"nothing to collect: there is no {redact(marker)}, which a run on EMR keeps beside its output folder"
    )


def _submitted(run: EmrRun, aws: Aws, storage: Storage, marker: str) -> EmrRun:
    """A run whose launcher had no time to note down its steps."""
    found = submitted(aws, run)
    if not found.steps:
        run.remove(storage, marker)
        raise UsageError("nothing to collect: EMR never had the job; run it again")
    return found
