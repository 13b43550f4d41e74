"""Reading from servers that cut, reset, stall, refuse, lie and change: the same bytes, or the right reason; few requests."""

from __future__ import annotations

import gc
import random
import socket
import warnings
from dataclasses import replace

import pytest

from crawlmill.errors import SourceError
from tests.storage.faults import CLOSE, MODIFIED, RESET, STALL, TRICKLE, Fault, FaultServer, Thing

DATA = random.Random(3).randbytes(50_000)
OTHER = random.Random(4).randbytes(50_000)


def read(storage, thing: Thing, start: int = 0, length: int | None = None) -> tuple[bytes | str, list]:
    """What reading the thing gives (bytes, or the reason of the error), and the requests it took."""
    with FaultServer({"/x": thing}) as web:
        try:
            with storage.open_stream(f"{web.url}/x", start, length) as stream:
                found: bytes | str = stream.read()
        except SourceError as error:
            assert "127.0.0.1" in str(error)
            found = str(error.reason)
    return found, web.seen


@pytest.mark.parametrize("how", [CLOSE, RESET])
@pytest.mark.parametrize("at", [0, 1, 4095, 30_000, 49_999])
def test_cut_body_is_resumed_at_the_byte_where_it_broke(storage_with, clock, at: int, how: str) -> None:
    found, seen = read(storage_with(), Thing(DATA, faults=[Fault(at, how)]))
    assert found == DATA
    assert seen[1].range == f"bytes={at}-49999"
    assert seen[1].headers.get("If-Range") == '"one"'
    assert (len(seen), clock.waits) == (2, [0.5])


def test_cut_everywhere_in_a_small_body_gives_the_same_bytes(storage_with) -> None:
    storage = storage_with()
    for at in range(0, 300, 7):
        thing = Thing(DATA[:300], faults=[Fault(at), Fault(1), None])
        assert read(storage, thing)[0] == DATA[:300]


def test_cut_span_is_resumed_within_the_span(storage_with) -> None:
    found, seen = read(storage_with(), Thing(DATA, faults=[Fault(100)]), 1000, 500)
    assert found == DATA[1000:1500]
    assert [x.range for x in seen] == ["bytes=1000-1499", "bytes=1100-1499"]


def test_cut_every_few_kilobytes_is_progress(storage_with, clock) -> None:
    found, seen = read(storage_with(retries=1), Thing(DATA, always=Fault(8000)))
    assert found == DATA
    assert len(seen) == 7
    assert clock.waits == [0.5] * 6


def test_cut_without_progress_ends(storage_with, clock) -> None:
    found, seen = read(storage_with(), Thing(DATA, always=Fault(0)))
    assert (found, len(seen)) == ("unavailable", 9)
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 20, 20]


def test_cut_at_every_byte_ends(storage_with) -> None:
    found, seen = read(storage_with(retries=4), Thing(DATA, always=Fault(1)))
    assert (found, len(seen)) == ("unavailable", 5)


def test_cut_without_ranges_is_read_again_and_skipped(storage_with) -> None:
    found, seen = read(storage_with(), Thing(DATA, ranges=False, faults=[Fault(20_000), Fault(30_000)]))
    assert (found, len(seen)) == (DATA, 3)


def test_cut_without_ranges_at_the_same_place_always_ends(storage_with) -> None:
    found, seen = read(storage_with(retries=2), Thing(DATA, ranges=False, always=Fault(20_000)))
    assert (found, len(seen)) == ("unavailable", 3)


def test_cut_chunked_body_is_resumed(storage_with) -> None:
    found, seen = read(storage_with(), Thing(DATA, coding="chunked", faults=[Fault(20_000)]))
    assert (found, len(seen)) == (DATA, 2)


def test_cut_gzip_transfer_coding_is_resumed(storage_with) -> None:
    for coding in ("gzip, chunked", "gzip"):
        found, seen = read(storage_with(), Thing(DATA, coding=coding, faults=[Fault(20_000)]))
        assert (found, len(seen)) == (DATA, 2)


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_cut_without_strong_etag_resumes_by_date_and_size(storage_with, etag: str | None) -> None:
    found, seen = read(storage_with(), Thing(DATA, etag=etag, faults=[Fault(20_000)]))
    assert found == DATA
    assert [(x.range, x.headers.get("If-Range")) for x in seen] == [(None, None), ("bytes=20000-49999", None)]


def test_cut_without_any_validator_begins_again_and_compares(storage_with) -> None:
    thing = Thing(DATA, etag=None, modified=None, faults=[Fault(20_000), Fault(30_000)])
    found, seen = read(storage_with(), thing)
    assert found == DATA
    assert [x.range for x in seen] == [None, "bytes=0-49999", "bytes=0-49999"]


def test_cut_span_without_any_validator_begins_again_at_the_span(storage_with) -> None:
    for ranges in (True, False):
        thing = Thing(DATA, etag=None, modified=None, ranges=ranges, faults=[Fault(3000)])
        found, seen = read(storage_with(), thing, 2000, 4000)
        assert (found, len(seen)) == (DATA[2000:6000], 2)


@pytest.mark.parametrize(
    "later",
    [
        {"data": OTHER, "etag": '"two"'},
        {"data": OTHER, "etag": '"two"', "ranges": False},
        {"data": DATA[:-1], "etag": '"one"'},
        {"data": OTHER, "etag": None, "modified": None, "ranges": False},
    ],
)
def test_changed_object_is_changed(storage_with, later: dict) -> None:
    found, seen = read(storage_with(), Thing(DATA, faults=[Fault(20_000)], later=later))
    assert (found, len(seen)) == ("changed", 2)


@pytest.mark.parametrize(
    "later",
    [{"data": OTHER, "modified": "Sun, 18 Jan 2026 08:15:00 GMT"}, {"data": OTHER[:40_000]}, {"modified": None}],
)
def test_changed_object_without_etag_is_changed(storage_with, later: dict) -> None:
    found, seen = read(storage_with(), Thing(DATA, etag=None, faults=[Fault(20_000)], later=later))
    assert (found, len(seen)) == ("changed", 2)


def test_changed_object_without_any_validator_is_changed(storage_with) -> None:
    for coding in ("", "chunked"):
        thing = Thing(DATA, etag=None, modified=None, coding=coding, faults=[Fault(20_000)], later={"data": OTHER})
        found, seen = read(storage_with(), thing)
        assert (found, len(seen)) == ("changed", 2)


def test_changed_object_is_noticed_after_a_jump_too(storage_with) -> None:
    thing = Thing(DATA, later={"data": OTHER, "etag": '"two"'})
    with FaultServer({"/x": thing}) as web, storage_with().open_stream(f"{web.url}/x") as stream:
        stream.read(100)
        stream.seek(40_000)
        with pytest.raises(SourceError) as caught:
            stream.read(100)
    assert caught.value.reason == "changed"


@pytest.mark.parametrize("at", [0, 9000])
def test_silent_server_is_given_up_on_and_resumed(storage_with, at: int) -> None:
    found, _ = read(storage_with(read_timeout_s=0.1), Thing(DATA, faults=[Fault(at, STALL)]))
    assert found == DATA


def test_silent_server_for_ever_is_unavailable(storage_with, clock) -> None:
    found, _ = read(storage_with(read_timeout_s=0.05, retries=2), Thing(DATA, always=Fault(0, STALL)))
    assert (found, clock.waits) == ("unavailable", [0.5, 1])


def test_trickling_server_is_taken_for_silent(storage_with, clock) -> None:
    found, _ = read(storage_with(read_timeout_s=0.1, retries=1), Thing(DATA, always=Fault(10, TRICKLE)))
    assert (found, clock.waits) == ("unavailable", [0.5])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_busy_server_is_asked_again(storage_with, clock, status: int) -> None:
    found, seen = read(storage_with(), Thing(DATA, answers=[(status, {}), (status, {})]))
    assert (found, [x.status for x in seen]) == (DATA, [status, status, 200])
    assert sum(clock.waits) >= 1.5


def test_retry_after_is_waited_for(storage_with, clock) -> None:
    found, _ = read(storage_with(), Thing(DATA, answers=[(503, {"Retry-After": "30"}), (429, {"Retry-After": "1"})]))
    assert found == DATA
    assert clock.waits == [30, 1]


@pytest.mark.parametrize(
    ("status", "reason", "requests"),
    [
        (503, "unavailable", 9),
        (403, "denied", 1),
        (401, "denied", 1),
        (404, "not-found", 1),
        (410, "not-found", 1),
        (400, "unavailable", 1),
        (204, "unavailable", 1),
    ],
)
def test_refusing_server_gives_the_reason(storage_with, status: int, reason: str, requests: int) -> None:
    thing = Thing(every=(status, {}))
    found, seen = read(storage_with(), thing)
    assert (found, len(seen)) == (reason, requests)


def test_server_that_refuses_in_the_middle_gives_the_reason(storage_with) -> None:
    thing = Thing(DATA, faults=[Fault(20_000)], later={"every": (403, {})})
    assert read(storage_with(), thing)[0] == "denied"


def test_length_that_is_never_reached_is_not_believed(storage_with) -> None:
    found, seen = read(storage_with(), Thing(DATA, claim=40))
    assert (found, len(seen)) == ("changed", 2)
    found, seen = read(storage_with(), Thing(DATA, claim=40, ranges=False))
    assert (found, len(seen)) == ("unavailable", 9)


def test_length_that_is_too_small_ends_the_object(storage_with) -> None:
    assert read(storage_with(), Thing(DATA, claim=-40))[0] == DATA[:-40]


@pytest.mark.parametrize(
    "lie",
    [
        "bytes 0-99/50000",
        "bytes 1001-1499/50000",
        "bytes 1000-60000/50000",
        "bytes */50000",
        "items 1000-1499/50000",
        "",
    ],
)
def test_content_range_that_lies_is_refused(storage_with, lie: str) -> None:
    thing = Thing(DATA, headers={"Content-Range": lie}, content_range=lie or " ")
    found, seen = read(storage_with(), thing, 1000, 500)
    assert (found, len(seen)) == ("unavailable", 1)


def test_answer_that_begins_earlier_is_skipped_into(storage_with) -> None:
    with FaultServer({"/x": Thing(DATA)}) as web:
        answer = (
            b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 900-1999/50000\r\nContent-Length: 1100\r\n\r\n"
            + DATA[900:2000]
        )
        web.things["/x"] = Thing(raw=answer)
        assert storage_with().read_range(f"{web.url}/x", 1000, 500) == DATA[1000:1500]


def test_answers_limited_in_length_are_put_together(storage_with, clock) -> None:
    data = DATA * 8
    found, seen = read(storage_with(), Thing(data, part_limit=100_000), 1, None)
    assert (found, len(seen), clock.waits) == (data[1:], 4, [])


def test_answers_of_a_byte_each_end(storage_with) -> None:
    found, seen = read(storage_with(retries=3), Thing(DATA, part_limit=1), 1, None)
    assert (found, len(seen)) == ("unavailable", 4)


def test_stored_content_coding_is_left_alone(storage_with) -> None:
    for value in ("gzip", "br", "deflate, gzip"):
        assert read(storage_with(), Thing(DATA, headers={"Content-Encoding": value}))[0] == DATA


def test_body_that_ends_with_its_connection_is_read_to_there(storage_with) -> None:
    assert read(storage_with(), Thing(DATA, close_delimited=True))[0] == DATA


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 200_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 400_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nabcdef",
    ],
)
def test_answer_that_is_no_http_is_unavailable(storage_with, raw: bytes) -> None:
    found, seen = read(storage_with(retries=1), Thing(raw=raw))
    assert found == "unavailable"
    assert len(seen) == 2


def test_answer_that_is_no_http_leaves_no_socket_to_the_garbage_collector(storage_with) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        read(storage_with(retries=1), Thing(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nabcdef"))
        gc.collect()
    assert [str(each.message) for each in told if issubclass(each.category, ResourceWarning)] == []


def test_endless_chunked_body_is_read_no_further_than_asked(storage_with) -> None:
    thing = Thing(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"FFFFFFFF\r\n" + b"x" * 100_000)
    with FaultServer({"/x": thing}) as web:
        assert storage_with().read_range(f"{web.url}/x", 500, 1000) == b"x" * 1000


def test_closed_port_is_unavailable(storage_with, clock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SourceError, match="refused") as caught:
        storage_with(retries=2).open_stream(f"http://127.0.0.1:{port}/x")
    assert caught.value.reason == "unavailable"
    assert clock.waits == [0.5, 1]


def test_size_needs_a_length(storage_with) -> None:
    with FaultServer({"/x": Thing(DATA, coding="chunked", ranges=False)}) as web:
        with pytest.raises(SourceError, match="how large"):
            storage_with().size_of(f"{web.url}/x")
        web.things["/x"] = replace(Thing(DATA), modified=MODIFIED, answers=[(503, {})])
        assert storage_with().size_of(f"{web.url}/x") == 50_000


def test_break_while_reading_ahead_is_resumed(storage_with) -> None:
    data = random.Random(5).randbytes(4_000_000)
    found, seen = read(storage_with(), Thing(data, faults=[Fault(2_500_000), Fault(100_000, RESET)]))
    assert (found == data, len(seen)) == (True, 3)


def test_end_while_reading_ahead_gives_first_what_was_read(storage_with) -> None:
    data = random.Random(5).randbytes(3_000_000)
    thing = Thing(data, faults=[Fault(2_500_000)], later={"every": (404, {})})
    with FaultServer({"/x": thing}) as web, storage_with().open_stream(f"{web.url}/x") as stream:
        found = bytearray()
        with pytest.raises(SourceError) as caught:
            any(map(found.extend, iter(lambda: stream.read(100_000), b"")))
        assert (caught.value.reason, bytes(found) == data[:2_500_000]) == ("not-found", True)
        with pytest.raises(SourceError):
            stream.read(1)


def test_rest_that_does_not_say_of_which_version_it_is_counts_as_changed(storage_with) -> None:
    # A server that knows ranges but no conditions, and names validators only with whole objects.
    def rest(http, _: bytes) -> bool:
        if "Range" not in http.headers:
            return False
        first, end = int(http.headers["Range"].removeprefix("bytes=").partition("-")[0]), len(DATA)
        head = b"HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\nContent-Range: bytes %d-%d/%d\r\n\r\n"
        http.wfile.write(head % (end - first, first, end - 1, end) + DATA[::-1][first:])
        return True

    with FaultServer({"/x": Thing(DATA, faults=[Fault(len(DATA) // 2)], modified=None)}) as web:
        web.handle = rest
        with pytest.raises(SourceError) as caught, storage_with().open_stream(f"{web.url}/x") as stream:
            stream.read()
    assert caught.value.reason == "changed"


def test_size_is_asked_for_on_kept_connections(storage_with) -> None:
    storage = storage_with()
    with FaultServer({"/x": Thing(DATA)}) as web:
        assert [storage.size_of(f"{web.url}/x") for _ in range(5)] == [len(DATA)] * 5
    assert len({seen.connection for seen in web.seen}) == 1
