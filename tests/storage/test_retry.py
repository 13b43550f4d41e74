"""The retry policy: which failures are tried again, after which waits, and when it ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from crawlmill.errors import SourceError
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, failure_of_status, parse_retry_after, retrying

BUSY = Failure("busy", transient=True)


def attempts(clock, retries: int = 8, random: float = 1.0, slow_down=None) -> Attempts:
    return Attempts(RetryPolicy(retries, clock.sleep, lambda: random), "somewhere", slow_down)


def fail(tries: Attempts, failure: Failure, gained: int = 0) -> int:
    """How often a failure is put up with."""
    for number in range(2000):
        try:
            tries.failed(failure, gained)
        except SourceError:
            return number
    return 2000


def test_waits_double_up_to_twenty_seconds(clock) -> None:
    assert fail(attempts(clock), BUSY) == 8
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 20, 20]


def test_waits_have_full_jitter(clock) -> None:
    fail(attempts(clock, retries=3, random=0.0), BUSY)
    fail(attempts(clock, retries=3, random=0.5), BUSY)
    assert clock.waits == [0, 0, 0, 0.25, 0.5, 1]


def test_retry_after_is_a_minimum(clock) -> None:
    tries = attempts(clock)
    for seconds in (7.0, 0.1, 0.0):
        tries.failed(Failure("busy", transient=True, retry_after_s=seconds))
    assert clock.waits == [7, 1, 2]


def test_retry_after_is_believed_for_two_minutes(clock) -> None:
    attempts(clock).failed(Failure("busy", transient=True, retry_after_s=86400.0))
    assert clock.waits == [120]


def test_progress_starts_the_count_anew(clock) -> None:
    tries = attempts(clock, retries=2)
    for gained in (0, 0, 5000, 0, 4096):
        tries.failed(BUSY, gained)
    assert clock.waits == [0.5, 1, 0.5, 1, 0.5]


def test_tiny_progress_is_none(clock) -> None:
    assert fail(attempts(clock, retries=3), BUSY, gained=4095) == 3


def test_progress_for_ever_ends_too(clock) -> None:
    assert fail(attempts(clock), BUSY, gained=5000) == 999


def test_no_retries_means_one_try(clock) -> None:
    assert fail(attempts(clock, retries=0), BUSY, gained=5000) == 0
    assert clock.waits == []


def test_permanent_failure_ends_at_once_with_its_reason(clock) -> None:
    with pytest.raises(SourceError) as caught:
        attempts(clock).failed(Failure("no", reason="denied"))
    assert (caught.value.reason, str(caught.value)) == ("denied", "no (somewhere)")


def test_giving_up_says_after_how_many_tries(clock) -> None:
    def ask() -> None:
        raise Failure("HTTP 503", transient=True)

    with pytest.raises(SourceError) as caught:
        retrying(attempts(clock, retries=2), ask)
    assert (caught.value.reason, str(caught.value)) == ("unavailable", "HTTP 503, after 3 tries (somewhere)")


def test_throttling_is_told_to_the_limits(clock) -> None:
    told: list[float] = []
    tries = attempts(clock, slow_down=told.append)
    tries.failed(Failure("slow", transient=True, throttled=True))
    tries.failed(BUSY)
    assert told == [0.5]


@pytest.mark.parametrize(
    ("status", "host", "reason", "transient"),
    [
        (404, "h", "not-found", False),
        (410, "h", "not-found", False),
        (401, "h", "denied", False),
        (403, "h", "denied", False),
        (403, "data.commoncrawl.org", "denied", True),
        (403, "notcommoncrawl.org", "denied", False),
        (403, "commoncrawl.org.evil.example", "denied", False),
        (451, "h", "denied", False),
        (412, "h", "changed", False),
        (408, "h", "unavailable", True),
        (429, "h", "unavailable", True),
        (500, "h", "unavailable", True),
        (502, "h", "unavailable", True),
        (503, "h", "unavailable", True),
        (504, "h", "unavailable", True),
        (501, "h", "unavailable", False),
        (400, "h", "unavailable", False),
        (304, "h", "unavailable", False),
        (204, "h", "unavailable", False),
    ],
)
def test_status_means_a_reason(status: int, host: str, reason: str, transient: bool) -> None:
    failure = failure_of_status(status, "", host)
    assert (failure.reason, failure.transient) == (reason, transient)


def test_forbidden_by_common_crawl_is_tried_three_more_times(clock) -> None:
    tries = attempts(clock)
    assert fail(tries, failure_of_status(403, "Forbidden", "data.commoncrawl.org")) == 3


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("soon", None),
        ("-3", None),
        ("9" * 50, 999999999.0),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999999", None),
        ("Mon, 01 Jan 0001 00:00:00 +2300", 0.0),
    ],
)
def test_retry_after_is_parsed(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds


def test_retry_after_may_be_a_date() -> None:
    later = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True))
    assert later is not None
    assert 90 < later <= 100
    assert parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
