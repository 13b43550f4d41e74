"""Fetching ranges: in their order, and over a network the next ones ahead."""

from __future__ import annotations

import io
import os
import threading

import pytest
from tests.storage.faults import FaultServer, Thing

from crawlmill.errors import SourceError
from crawlmill.extraction.ranges import fetch_ranges
from crawlmill.inputs.lists import Input
from crawlmill.storage import Storage, StorageOptions

DATA = bytes(range(256)) * 1000


def items(location, *spans):
    return [(number, Input("x", location, offset, length)) for number, (offset, length) in enumerate(spans)]


class Meeting:
    """Storage of which two streams must be asked for at the same time before either is given."""

    def __init__(self):
        self._barrier = threading.Barrier(2)

    def open_stream(self, location, start=0, length=None):
        self._barrier.wait(timeout=240)
        return io.BytesIO(DATA[start : start + length])


def test_over_a_network_two_requests_are_under_way_at_a_time():
    spans = [(offset, 10) for offset in range(0, 200_000, 50_000)]
    found = list(fetch_ranges(items("https://example.com/x", *spans), Meeting()))
    assert [(known, data) for known, _, data in found] == [(n, DATA[o : o + 10]) for n, (o, _) in enumerate(spans)]


@pytest.mark.parametrize("most", [1, 2])
def test_ranges_come_in_order_with_their_own_errors_and_no_thread_stays(monkeypatch, most):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    others = set(threading.enumerate())  # of tests before
    with FaultServer() as server:
        server.things["/x"] = Thing(DATA)
        options = StorageOptions(max_connections_per_host=most, retries=0)
        with Storage(options) as storage:
            wanted = items(f"{server.url}/x", (200_000, 10), (0, 10), (100_000, 10), (255_995, 10))
            wanted[2:2] = [(9, Input("x", f"{server.url}/gone", 5, 10))]
            found = [(known, data) for known, _, data in fetch_ranges(wanted, storage)]
            one = next(fetch_ranges(wanted, storage))
    assert one[2] == found[0][1]
    assert isinstance(found[2][1], SourceError)
    assert found[2][1].reason == "not-found"
    del found[2]
    assert found == [(0, DATA[200_000:200_010]), (1, DATA[:10]), (2, DATA[100_000:100_010]), (3, DATA[255_995:])]
    for thread in [each for each in set(threading.enumerate()) - others if each.name == "crawlmill-ahead"]:
        thread.join(timeout=240)
        assert not thread.is_alive()


def test_what_is_too_large_to_be_held_is_fetched_in_its_turn(monkeypatch):
    monkeypatch.setattr("crawlmill.extraction.ranges._MAX_AHEAD", 20)
    spans = [(0, 10), (50_000, 30), (100_000, 10)]

    class Plain:
        def open_stream(self, location, start=0, length=None):
            return io.BytesIO(DATA[start : start + length])

    found = list(fetch_ranges(items("https://example.com/x", *spans), Plain()))
    assert [data for _, _, data in found] == [DATA[o : o + n] for o, n in spans]


@pytest.mark.parametrize("is_pipe", [False, True])
def test_gaps_of_local_files_and_pipes_are_left_out(tmp_path, is_pipe):
    path = tmp_path / "x"
    if is_pipe:
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(DATA[:8005],), daemon=True).start()
    else:
        path.write_bytes(DATA[:8005])
    spans = [(5, 10), (15, 10), (4000, 10), (8000, 10)]
    found = list(fetch_ranges(items(str(path), *spans), Storage()))
    assert [data for _, _, data in found] == [DATA[5:15], DATA[15:25], DATA[4000:4010], DATA[8000:8005]]
