"""Follows a run on a cluster by polling, and waits while a service cannot be reached."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.mr.run.progress import Progress

__all__ = ["Following"]

_TICK_S: Final = 0.2
_PATIENCE_S: Final = 3600.0


class Following:
    """Polls a run every `_every_s` seconds. A service that does not respond gets an hour to recover."""

    lost: ClassVar[tuple[type[CrawlmillError], ...]] = (SourceError,)
    """What `look` raises if a service does not answer."""
    away: ClassVar[str] = "the cluster cannot be reached"
    _watch: Progress
    _every_s: float

    @property
    def where(self) -> str:
        """The name of the run on the cluster, for messages."""
        raise NotImplementedError

    def look(self) -> str | None:
        """Poll once: None if all steps are completed, else the progress in words. Raises: TaskError, CrawlmillError."""
        raise NotImplementedError

    def wait(self) -> None:
        """Poll until all steps are completed. Raises: TaskError, CrawlmillError."""
        lost_s: float | None = None
        while True:
            try:
                state = self.look()
                if state is None:
                    return
                self._watch.phase, lost_s = state, None
            except self.lost as error:
                lost_s = lost_s or time.monotonic()
                if not self._passes(error) or time.monotonic() - lost_s > _PATIENCE_S:
                    raise CrawlmillError(f"{self.where} cannot be followed any more: {error}") from error
                self._watch.phase = self.away
            self._pause()

    def _passes(self, error: CrawlmillError) -> bool:
        """Whether an error may be gone at a later poll."""
        return isinstance(error, SourceError) and error.reason == "unavailable"

    def _pause(self) -> None:
        due = time.monotonic() + self._every_s
        while time.monotonic() < due:
            time.sleep(min(_TICK_S, self._every_s))
            self._watch.tick()
