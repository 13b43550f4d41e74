"""The limits of hosts among tasks on machines of their own: how many may run, and what each keeps to."""

from __future__ import annotations

import random

import pytest

from crawlmill.errors import UsageError
from crawlmill.storage import StorageOptions
from crawlmill.storage.limits import HostLimits, Limiter
from crawlmill.storage.shares import most_tasks
from tests.storage.webhdfs import WebHdfs

HERE = ["/data/x", "file:///x", "hdfs:///x", "s3://b/x"]
CRAWL = "https://data.commoncrawl.org/crawl-data/x.warc.gz"


@pytest.mark.parametrize(
    ("locations", "wanted", "options", "most", "host"),
    [
        ([], None, {}, None, None),
        (HERE, None, {}, None, None),
        (HERE, 50, {}, 50, None),
        (["http://h/x"], None, {}, 20, None),
        ([*HERE, "HTTPS://h/x"], 3, {}, 3, None),
        ([CRAWL], None, {}, 8, "data.commoncrawl.org"),
        ([CRAWL], 8, {}, 8, None),
        ([CRAWL.replace("//", "//user@").replace(".org", ".ORG:443")], 9, {}, 8, "data.commoncrawl.org"),
        ([CRAWL, "https://index.commoncrawl.org/x"], None, {}, 2, "index.commoncrawl.org"),
        ([CRAWL], None, {"max_connections_per_host": 12}, 12, "data.commoncrawl.org"),
        (["http://h/x"], 5, {"max_connections_per_host": 12}, 5, None),
        (["s3n://b/x"], None, {"max_connections_per_host": 3}, 3, "b.s3"),
        (["s3://b/x"], None, {"max_requests_per_second": 9.0}, 20, None),
        (["hdfs://h/x", "/x"], None, {"max_connections_per_host": 1, "max_requests_per_second": 1.0}, None, None),
        (["http://[bad/x"], None, {}, 20, None),
    ],
)
def test_as_many_tasks_run_as_all_hosts_allow_connections(locations, wanted, options, most, host) -> None:
    assert most_tasks(locations, wanted, StorageOptions(**options)) == (most, host)


def test_share_of_the_limits_is_an_equal_part_and_one_connection_at_least() -> None:
    assert Limiter(10, 9, share=4).limits_of("h") == HostLimits(2.5, 2)
    assert Limiter(10, 3, share=4).limits_of("h") == HostLimits(2.5, 1)
    assert Limiter(share=5).limits_of("data.commoncrawl.org") == HostLimits(1.0, 1)
    assert Limiter(share=4).limits_of("h") == HostLimits()


def test_first_request_of_a_task_waits_as_if_another_had_just_sent_one(clock) -> None:
    limits = Limiter(10, share=20, clock=clock, sleep=clock.sleep, random=lambda: 0.25)
    limits.admit("h")
    limits.admit("h")
    limits.admit("other")
    assert clock.waits == [2.5, 2.0]
    clock.waits.clear()
    Limiter(10, share=1, clock=clock, sleep=clock.sleep).admit("h")
    assert clock.waits == []


def test_rate_holds_for_short_tasks_that_follow_each_other(clock) -> None:
    """Four places for tasks, each of which sends one request and ends: never more than the limit, give or take one
    for each place."""
    rate, places, dice = 2.0, 4, random.Random(11)
    sent = []
    for _ in range(places):
        clock.now = 1000.0
        while clock.now < 1060:
            Limiter(rate, share=places, clock=clock, sleep=clock.sleep, random=dice.random).admit("h")
            sent.append(clock.now)
            clock.now += 0.01
    assert len(sent) > 60
    for start in sent:
        for length in (1, 5, 20):
            assert sum(start <= at < start + length for at in sent) <= rate * length + places


def test_cluster_of_ones_own_is_not_limited(storage_with, clock) -> None:
    with WebHdfs() as cluster:
        storage = storage_with(webhdfs=cluster.url, max_requests_per_second=0.1, max_connections_per_host=1, share=5)
        with storage.write("hdfs:///x") as file:
            file.write(b"x")
        assert storage.size_of("hdfs:///x") == 1
    assert clock.waits == []


def test_share_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError):
        StorageOptions(share=0)
