"""Follows a run on a cluster by polling, and waits for a service that cannot be reached for a while."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.mr.run.progress import Progress

__all__ = ["Following"]

_TICK_S: Final = 0.2
_PATIENCE_S: Final = 3600.0


class Following:
    """What looks at a run every `_every_s` seconds. A service that does not answer is given an hour to come back."""

    lost: ClassVar[tuple[type[CrawlmillError], ...]] = (SourceError,)
    """What `look` raises if a service does not answer."""
    away: ClassVar[str] = "the cluster cannot be reached"
    _watch: Progress
    _every_s: float

    @property
    def where(self) -> str:
        """What the cluster knows the run as, for messages."""
        raise NotImplementedError

    def look(self) -> str | None:
        """One look: None if all steps are completed, else how far they are. Raises: TaskError, CrawlmillError."""
        raise NotImplementedError

    def wait(self) -> None:
        """Look until all steps are completed. Raises: TaskError, CrawlmillError."""
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
        """Whether an error may be gone at a later look."""
        return isinstance(error, SourceError) and error.reason == "unavailable"

    def _pause(self) -> None:
        due = time.monotonic() + self._every_s
        while time.monotonic() < due:
            time.sleep(min(_TICK_S, self._every_s))
            self._watch.tick()
