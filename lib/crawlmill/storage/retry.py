"""The retry policy of all storage: what a failed attempt means, how long to wait, when to give up.

* Waits are 0.5 s x 2^n, at most 20 s, with full jitter; `Retry-After` is a minimum, respected up to two minutes.
* Only consecutive failures without progress count: a body that broke after some kilobytes resets the count. A stream is
  given up after a thousand attempts in any case.
* 403 from Common Crawl also means "too fast": three more attempts. From other hosts it is final.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from crawlmill.errors import SourceError

__all__ = ["Attempts", "Failure", "RetryPolicy", "failure_of_status", "parse_retry_after", "retrying"]

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 20.0
MAX_RETRY_AFTER_S = 120.0
MIN_PROGRESS_BYTES = 4096
MAX_TRIES = 1000
_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504, 509, *range(520, 528)}  # 509 and 52x are from CDNs
_THROTTLING_STATUS = {429, 503, 509}

Result = TypeVar("Result")


class Failure(Exception):  # noqa: N818 (a failed attempt; callers get a SourceError)
    """A failed attempt. `what` contains no secrets; `most_retries` limits the retries for this kind of failure."""

    def __init__(
        self,
        what: str,
        *,
        reason: str = "unavailable",
        transient: bool = False,
        throttled: bool = False,
        retry_after_s: float | None = None,
        most_retries: int | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.reason, self.transient, self.throttled = what, reason, transient, throttled
        self.retry_after_s, self.most_retries = retry_after_s, most_retries


@dataclass(frozen=True)
class RetryPolicy:
    """The number of retries and the waits between them; `sleep` takes seconds, `random` returns a number in [0, 1)."""

    retries: int = 8
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random

    def wait_s(self, failures: int, retry_after_s: float | None = None) -> float:
        """Seconds to wait after this many consecutive failures."""
        longest = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(failures - 1, 30))
        return max(longest * self.random(), min(retry_after_s or 0.0, MAX_RETRY_AFTER_S))


class Attempts:
    """The attempts of one stream or request. `slow_down` is called with the seconds to spare a throttling host."""

    def __init__(self, policy: RetryPolicy, source: str, slow_down: Callable[[float], None] | None = None) -> None:
        self._policy, self._source, self._slow_down = policy, source, slow_down
        self._tries = self._in_a_row = 0

    def failed(self, failure: Failure, gained: int = 0) -> None:
        """Wait before another attempt; the last one had received `gained` bytes.

        Raises: SourceError: There must be no other attempt.
        """
        self._tries += 1
        self._in_a_row = 1 if gained >= MIN_PROGRESS_BYTES else self._in_a_row + 1
        allowed = self._policy.retries
        if failure.most_retries is not None:
            allowed = min(allowed, failure.most_retries)
        if not failure.transient or self._in_a_row > allowed or self._tries >= MAX_TRIES:
            tries = f", after {self._tries} tries" if self._tries > 1 else ""
            raise SourceError(failure.what + tries, reason=failure.reason, source=self._source) from failure
        wait = self._policy.wait_s(self._in_a_row, failure.retry_after_s)
        if failure.throttled and self._slow_down is not None:
            self._slow_down(wait)
        self._policy.sleep(wait)


def retrying(attempts: Attempts, try_once: Callable[[], Result]) -> Result:
    """The result of the first successful attempt. Raises: SourceError."""
    while True:
        try:
            return try_once()
        except Failure as failure:
            attempts.failed(failure)


def failure_of_status(status: int, phrase: str, host: str, retry_after_s: float | None = None) -> Failure:
    """The failure that an unsuccessful HTTP status from this host means."""
    what = f"HTTP {status} {phrase}".rstrip()
    if status in (404, 410):
        return Failure(what, reason="not-found")
    if status == 403 and f".{host}".endswith(".commoncrawl.org"):
        return Failure(
            what, reason="denied", transient=True, throttled=True, retry_after_s=retry_after_s, most_retries=3
        )
    if status in (401, 402, 403, 407, 451):
        return Failure(what, reason="denied")
    if status == 412:
        return Failure(f"{what}: the object changed while it was read", reason="changed")
    return Failure(
        what,
        transient=status in _TRANSIENT_STATUS,
        throttled=status in _THROTTLING_STATUS,
        retry_after_s=retry_after_s,
    )


def parse_retry_after(value: str | None) -> float | None:
    """The seconds to wait according to a `Retry-After` header, a number or a date; None if it is neither.

    Spec: RFC 9110 section 10.2.3.
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - imports all of `email`, too slow for a start

    try:
        date = parsedate_to_datetime(value)
        left = date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return max(left.total_seconds(), 0.0)
