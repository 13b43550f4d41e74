"""Politeness: turns and slots, in one process and shared by several."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawlmill.errors import SourceError
from crawlmill.storage import Storage
from crawlmill.storage.limits import CDX_API, DEFAULTS, KINDS, HostLimits, Limiter, limits_of, name_of
from crawlmill.storage.retry import Failure
from tests.storage.faults import FaultServer, Thing


@pytest.fixture(params=["memory", "folder"])
def folder(request, tmp_path: Path) -> str | None:
    return str(tmp_path) if request.param == "folder" else None


def limiter(clock, folder: str | None = None, rate: float | None = None, slots: int | None = None) -> Limiter:
    return Limiter(rate, slots, folder=folder, patience_s=10, clock=clock, sleep=clock.sleep)


def test_unknown_host_is_not_limited(clock, folder) -> None:
    limits = limiter(clock, folder)
    for _ in range(100):
        limits.admit("h")()
    assert clock.waits == []


def test_rate_spaces_requests_evenly(clock, folder) -> None:
    limits = limiter(clock, folder, rate=4)
    for _ in range(5):
        limits.admit("h")
    assert clock.waits == [0.25] * 4


def test_rate_is_kept_by_host_and_time_counts(clock, folder) -> None:
    limits = limiter(clock, folder, rate=1)
    limits.admit("h")
    limits.admit("other")
    clock.now += 0.75
    limits.admit("H")
    assert clock.waits == [0.25]


def test_rate_holds_for_limiters_that_share_a_folder(clock, tmp_path: Path) -> None:
    limits = [limiter(clock, str(tmp_path), rate=2) for _ in range(3)]
    for one in limits * 2:
        one.admit("h")
    assert clock.waits == [0.5] * 5


def test_throttled_host_is_left_alone_by_all_and_then_asked_less_often(clock, tmp_path: Path) -> None:
    one, other = (limiter(clock, str(tmp_path)) for _ in range(2))
    one.slow_down("h", 7)
    other.admit("H")
    other.admit("elsewhere")
    one.admit("h")
    assert clock.waits == [7, 0.1]
    for _ in range(10):
        one.slow_down("h", 0)
    clock.waits.clear()
    one.admit("h")
    other.admit("h")
    assert clock.waits[-1] == 5
    clock.now += 10 * 10
    clock.waits.clear()
    for _ in range(5):
        one.admit("h")
    assert clock.waits == []


def test_turn_of_another_start_of_the_machine_is_forgotten(clock, tmp_path: Path) -> None:
    clock.now = 1e6
    limiter(clock, str(tmp_path)).slow_down("h", 60)
    clock.now = 5.0
    limiter(clock, str(tmp_path)).admit("h")
    assert clock.waits == []


def test_slots_are_given_back_once(clock, folder) -> None:
    limits = limiter(clock, folder, slots=2)
    one, two = limits.admit("h"), limits.admit("h")
    one()
    one()
    three = limits.admit("h")
    assert clock.waits == []
    with pytest.raises(Failure, match="all 2 connections"):
        limits.admit("h")
    two()
    three()
    limits.admit("h")


def test_slot_of_another_process_is_waited_for(clock, tmp_path: Path) -> None:
    mine, theirs = (limiter(clock, str(tmp_path), slots=1) for _ in range(2))
    release = theirs.admit("h")
    sleep = clock.sleep

    def give_back_in_time(seconds: float) -> None:
        sleep(seconds)
        if clock.now > 1500:  # long after the patience that is for knots of one's own
            release()

    mine._sleep = give_back_in_time
    mine.admit("h")
    assert clock.now > 1500


def test_hosts_of_common_crawl_have_limits_that_a_user_can_change(clock) -> None:
    assert limiter(clock).limits_of("Index.CommonCrawl.org") == HostLimits(1.0, 2)
    assert limiter(clock, rate=9.0).limits_of("data.commoncrawl.org") == HostLimits(
        9.0, DEFAULTS["data.commoncrawl.org"].connections
    )
    assert limiter(clock, slots=3).limits_of("h") == HostLimits(None, 3)


def test_folder_of_another_machine_limits_each_process(clock, tmp_path: Path) -> None:
    limits = limiter(clock, str(tmp_path / "none"), rate=4)
    limits.admit("h")
    limits.admit("h")
    assert clock.waits == [0.25]


def test_folder_that_went_away_is_said(clock, tmp_path: Path) -> None:
    limits = limiter(clock, str(tmp_path), slots=1)
    tmp_path.rmdir()
    with pytest.raises(SourceError, match="shared limits"):
        limits.admit("h")


def test_connection_is_given_back_by_whatever_ends_a_stream(storage_with) -> None:
    data = bytes(range(256)) * 20_000
    things = {
        "/x": Thing(data),
        "/busy": Thing(data, answers=[(503, {})]),
        "/moved": Thing(every=(302, {"Location": "/x"})),
    }
    with FaultServer(things) as web:
        storage = storage_with(max_connections_per_host=1, read_timeout_s=5)
        for path in ("x", "busy", "moved", "none"):
            try:
                with storage.open_stream(f"{web.url}/{path}") as stream:
                    stream.read(10)
                assert len(storage.open_stream(f"{web.url}/x").read()) == len(data)  # read to its end, not closed
                assert storage.read_range(f"{web.url}/x", 9, 9) == data[9:18]
                storage.size_of(f"{web.url}/x")
            except SourceError as error:
                assert error.reason == "not-found"


WORKER = """
import sys, time
from crawlmill.storage import Storage, StorageOptions
url, folder, count = sys.argv[1:]
print(time.monotonic(), flush=True)
storage = Storage(StorageOptions(max_connections_per_host=2, max_requests_per_second=50, limits_folder=folder))
for _ in range(int(count)):
    with storage.open_stream(url) as stream:
        stream.read()
"""


def test_limits_hold_for_processes_together_and_killed_ones_give_back(tmp_path: Path) -> None:
    with FaultServer({"/x": Thing(b"x" * 1000)}) as web:
        active, most, times = 0, 0, []

        def watch(http, _) -> bool:
            nonlocal active, most
            with web.lock:
                active += 1
                most = max(most, active)
                times.append(time.monotonic())
            time.sleep(0.03)
            with web.lock:
                active -= 1
            return False

        web.handle = watch
        command = [sys.executable, "-c", WORKER, f"{web.url}/x", str(tmp_path)]
        workers = [subprocess.Popen([*command, "100000" if n == 0 else "4"], stdout=subprocess.PIPE) for n in range(4)]
        try:
            began = min(float(worker.stdout.readline()) for worker in workers)
            for worker in workers[1:]:
                assert worker.wait(240) == 0
            workers[0].kill()
            workers[0].wait()
            assert subprocess.run([*command, "2"], stdout=subprocess.DEVNULL, timeout=240, check=True).returncode == 0
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()
    assert most <= 2
    # Fifty a second from the first on. A busy machine lets requests arrive late, but none before it was allowed.
    assert times[-1] - began >= (len(times) - 1) / 50


def test_what_is_to_be_said_once_is_first_only_once_in_a_run(tmp_path) -> None:
    here, there = (Limiter(folder=str(tmp_path)) for _ in range(2))
    assert [limiter.is_first("it/is") for limiter in (here, there, here)] == [True, False, False]
    alone = Limiter()
    assert [alone.is_first("x"), alone.is_first("x"), alone.is_first("y")] == [True, False, True]


def test_slot_is_given_back_where_the_turn_cannot_be_waited_for() -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    limiter = Limiter(requests_per_second=0.1, connections=1, sleep=interrupted)
    limiter.admit("h")()
    with pytest.raises(KeyboardInterrupt):
        limiter.admit("h")
    with pytest.raises(KeyboardInterrupt):  # of the turn again, and not of a slot that never comes
        limiter.admit("h")
    assert not limiter._held["h"]


def read(storage, url, kind=None) -> bytes:
    with storage.open_stream(url, kind=kind) as stream:
        return stream.read()


def test_stream_may_name_a_kind_of_service_by_whose_limits_its_host_is_asked(clock, monkeypatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultServer({"/a": Thing(b"data")}) as server, Storage(clock=clock, sleep=clock.sleep) as storage:
        for _ in range(3):
            assert read(storage, f"{server.url}/a") == b"data"
        assert clock.waits == []
        for _ in range(3):
            assert read(storage, f"{server.url}/a", CDX_API) == b"data"
        assert clock.waits == [1.0, 1.0]
        assert storage.read_all(f"{server.url}/a", limit=10, kind=CDX_API) == b"data"
        assert clock.waits == [1.0, 1.0, 1.0]
        read(storage, f"{server.url}/a")
        assert len(clock.waits) == 3


def test_service_that_throttles_is_left_alone_by_its_kind(clock, monkeypatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultServer() as server, Storage(clock=clock, sleep=clock.sleep, random=lambda: 0.5) as storage:
        server.things["/a"] = Thing(b"data", answers=[(429, {"Retry-After": "7"})])
        assert read(storage, f"{server.url}/a", CDX_API) == b"data"
        assert sum(clock.waits) >= 7
        clock.waits.clear()
        server.things["/b"] = Thing(b"other")
        read(storage, f"{server.url}/b")
        assert clock.waits == []


def test_kind_is_kept_by_host_and_yields_to_what_is_known_of_the_host_or_given() -> None:
    assert name_of("A.example", CDX_API) == name_of("a.example", CDX_API) != name_of("b.example", CDX_API)
    assert name_of("index.commoncrawl.org", CDX_API) == "index.commoncrawl.org"
    assert limits_of(name_of("a.example", CDX_API), HostLimits()) == KINDS[CDX_API]
    assert limits_of(name_of("a.example", CDX_API), HostLimits(3.0)).requests_per_second == 3.0
    assert limits_of(name_of("a.example"), HostLimits()) == HostLimits()


def test_local_file_has_no_limits(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"data")
    assert read(Storage(), str(tmp_path / "a"), CDX_API) == b"data"
