"""Follows a run on EMR whose launcher died, for `crawlmill ledger --collect`."""

from __future__ import annotations

from typing import Final

from crawlmill.errors import UsageError
from crawlmill.mr.engines.emr.aws import Aws
from crawlmill.mr.engines.emr.cancel import cancel
from crawlmill.mr.engines.emr.record import EmrRun
from crawlmill.mr.engines.emr.steps import submitted
from crawlmill.mr.engines.emr.watch import EmrWatch
from crawlmill.mr.engines.record import marker_of
from crawlmill.mr.engines.run_setup import CollectSetup
from crawlmill.mr.run.output_folder import OutputFolder

__all__ = ["EmrCollected"]

_EVERY_S: Final = 5.0
_LOGS_WITHIN_S: Final = 400.0


class EmrCollected(EmrWatch):
    """Follows the steps of a run that another process launched.

    Raises:
        UsageError: EMR does not know the run.
        AwsError: EMR does not respond.
    """

    def __init__(self, setup: CollectSetup) -> None:
        run = EmrRun.from_json(setup.record)
        aws = Aws(run.region, {"emr": run.endpoint}, setup.credentials)
        if not run.steps:  # the launcher died before it could record them
            run = submitted(aws, run)
        if not run.steps:
            run.remove(setup.storage, marker_of(run.info.output_dir) if run.info.output_dir else None)
            raise UsageError("nothing to collect: EMR never had the job; run it again")
        self.run = run
        super().__init__(
            aws,
            setup.storage,
            run,
            setup.scratch,
            setup.progress,
            _EVERY_S,
            logs_within_s=_LOGS_WITHIN_S if setup.wait else 0.0,
        )

    def output(self) -> OutputFolder | None:
        """The output folder, some of whose objects may already exist."""
        folder = self.run.info.output_dir
        return OutputFolder(folder, self._storage, again=True) if folder else None

    def end(self) -> str | None:
        """Cancel the steps after a failed one, on a cluster that is not the run's own. Raises: AwsError."""
        return None if self.run.own_cluster else cancel(self._aws, self.run)
