"""Reading of one input: large records are proven and their digests checked without being held."""

from __future__ import annotations

import gzip
import random
import tracemalloc

import pytest
from tests.builders import gzip_member, http, record, response, sha1_of
from tests.storage.faults import Fault, FaultServer, Thing

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage, StorageOptions

MAX_BODY = 100_000
WRONG = sha1_of(b"something else")
LAST = response("http://e.org/last", b"<p>")


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


BODY = noise(3 << 20)
LONG = noise(17 << 20)


def chunked(body: bytes, size: int = 70_001) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;name=value\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"


def large(body: bytes, headers=(), *, block_digest=None, payload_digest=None, kind="response") -> bytes:
    """A response record whose digests are true unless others are given."""
    block = http([("Content-Type", "x/y"), *headers], body)
    fields = (
        ("WARC-Payload-Digest", payload_digest or sha1_of(body)),
        ("WARC-Block-Digest", block_digest or sha1_of(block)),
    )
    return record(kind, block, "http://e.org/large", "application/http; msgtype=response", fields=fields)


@pytest.fixture
def read(tmp_path):
    """Reads a file of these bytes to its end: its row, and the records given."""

    def run(data: bytes, **options):
        path = tmp_path / "file"
        path.write_bytes(data)
        reading = Reading(Input(str(path), str(path)), Storage(), ReadOptions(max_body=MAX_BODY, **options))
        return reading.row, list(reading)

    return run


def lost(row):
    return dict(row.lost)


def held(content: bytes) -> bytes:
    return gzip_member(content, level=0)


CONTAINERS = {
    "plain": (BODY, b"".join),
    "gzip": (BODY, lambda parts: b"".join(map(held, parts))),
    "gzip, streamed": (LONG, lambda parts: b"".join(map(held, parts))),
    "one member": (LONG, lambda parts: held(b"".join(parts))),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_true_digests_of_a_large_record_pass(read, container):
    body, pack = CONTAINERS[container]
    row, records = read(pack([large(body), LAST]), verify=True)
    assert (row.outcome, row.records, lost(row)) == ("ok", 2, {})
    assert [found.uri for found in records] == ["http://e.org/large", "http://e.org/last"]
    assert records[0].http.status == 200


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("which", ["block", "payload"])
def test_false_digest_of_a_large_record_is_reported(read, container, which):
    body, pack = CONTAINERS[container]
    content = large(body, **{f"{which}_digest": WRONG})
    row, records = read(pack([LAST, content]), verify=True)
    assert (row.outcome, row.records, lost(row)) == ("partial", 2, {"bad-digest": 1})
    offset = len(pack([LAST])) if container != "one member" else 0
    assert [(found.offset, f"wrong {which} digest" in found.message) for found in row.problems] == [(offset, True)]
    assert len(records) == 2


@pytest.mark.parametrize("container", ["plain", "gzip"])
@pytest.mark.parametrize("form", ["stored", "without chunks", "decoded"])
def test_payload_digest_of_a_large_record_may_be_over_any_of_its_forms(read, container, form):
    packed = gzip.compress(BODY[:1000] + BODY, 1, mtime=0)
    stored = chunked(packed)
    forms = {"stored": stored, "without chunks": packed, "decoded": BODY[:1000] + BODY}
    headers = [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]
    pack = CONTAINERS[container][1]
    row, _ = read(pack([large(stored, headers, payload_digest=sha1_of(forms[form])), LAST]), verify=True)
    assert (row.outcome, lost(row)) == ("ok", {})
    row, _ = read(pack([large(stored, headers, payload_digest=WRONG), LAST]), verify=True)
    assert (row.outcome, lost(row)) == ("partial", {"bad-digest": 1})


def test_body_that_decodes_to_more_than_is_taken_of_it_is_checked(read):
    page = b"<p>" * 200_000
    packed = gzip.compress(page, mtime=0)
    content = large(packed, [("Content-Encoding", "gzip")], payload_digest=sha1_of(page))
    row, _ = read(held(content), verify=True)
    assert (row.outcome, lost(row)) == ("ok", {})


def test_body_that_explodes_is_not_decoded_to_its_end(read):
    bomb = gzip.compress(gzip.compress(bytes(200 << 20), 1, mtime=0), 1, mtime=0)  # would be 200 MiB
    content = large(bomb, [("Content-Encoding", "gzip, gzip")], payload_digest=WRONG)
    row, _ = read(held(content), verify=True)
    assert (row.records, lost(row)) == (1, {"too-large": 1})


def test_large_record_that_is_cut_is_lost_and_its_digests_are_not_judged(read):
    row, records = read((LAST + large(BODY))[:-100_000], verify=True)
    assert (row.outcome, row.records, lost(row)) == ("partial", 1, {"truncated": 1})
    assert len(records) == 1


def test_record_of_a_bad_member_is_lost_and_its_digests_are_not_judged(read):
    data = bytearray(held(large(LONG, block_digest=WRONG)))
    data[-6] ^= 1
    row, records = read(bytes(data) + held(LAST), verify=True)
    assert (row.outcome, row.records, lost(row)) == ("partial", 1, {"bad-checksum": 1})
    assert [found.uri for found in records] == ["http://e.org/last"]


@pytest.fixture
def lose(monkeypatch):
    """A reading whose server hangs up after so many bytes of the file, and has nothing more to give."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultServer() as server:

        def run(data: bytes, at: int, *, verify=False, streamed=False):
            server.things["/a"] = Thing(data, always=Fault(at), ranges=False)
            url = f"{server.url}/a"
            return Reading(
                Input(url, url), Storage(StorageOptions(retries=0)), ReadOptions(verify=verify), streamed=streamed
            )

        yield run


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("verify", [False, True])
def test_record_that_a_lost_source_has_cut_is_not_counted(lose, container, verify):
    body, pack = CONTAINERS[container]
    reading = lose(pack([large(body), LAST]), len(body) // 2, verify=verify)
    assert list(reading) == []
    assert (reading.row.outcome, reading.row.records, lost(reading.row)) == ("failed", 0, {"unavailable": 1})
    reading = lose(pack([LAST, large(body), LAST]), len(body) // 2, verify=verify)
    assert [found.uri for found in reading] == ["http://e.org/last"]
    assert (reading.row.outcome, reading.row.records, lost(reading.row)) == ("partial", 1, {"unavailable": 1})


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("take", [lambda block: list(block.pieces()), lambda block: block.head(3), lambda block: None])
def test_streamed_record_that_a_lost_source_has_cut_is_not_proven_and_ends_the_reading(lose, container, take):
    body, pack = CONTAINERS[container]
    reading = lose(pack([LAST, large(body), LAST]), len(body) // 2, streamed=True)
    proven = []
    for found in reading:
        if found.block.streamed:
            try:
                take(found.block)
            except SourceError:
                pass  # `is_whole` says it again
        if reading.is_whole(found):
            proven.append(found.uri)
    assert proven == ["http://e.org/last"]
    assert (reading.row.outcome, reading.row.records, lost(reading.row)) == ("partial", 1, {"unavailable": 1})


def test_streamed_record_of_another_type_is_not_counted_if_it_is_cut(tmp_path):
    path = tmp_path / "file"
    path.write_bytes((LAST + large(BODY, kind="resource"))[:-1_000_000])
    reading = Reading(
        Input(str(path), str(path)), Storage(), selection=Selection(types=frozenset({"response"})), streamed=True
    )
    assert [found.uri for found in reading] == ["http://e.org/last"]
    assert (reading.row.records, lost(reading.row)) == (1, {"truncated": 1})


def test_digests_of_a_large_record_are_checked_in_bounded_memory(read):
    content = large(noise(40 << 20))
    data = content + LAST
    del content
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    row, _ = read(data, verify=True)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert row.outcome == "ok"
    assert peak < 8 << 20


@pytest.mark.parametrize("verify", [True, False])
def test_body_of_a_large_record_that_is_taken_is_whole(tmp_path, verify):
    path = tmp_path / "file"
    path.write_bytes(large(BODY) + LAST)
    reading = Reading(Input(str(path), str(path)), Storage(), ReadOptions(verify=verify))
    assert [found.body() for found in reading] == [BODY, b"<p>"]


def test_body_of_a_record_that_is_too_large_is_refused_and_its_head_is_there(read):
    _, records = read(large(BODY) + LAST)
    assert records[0].http.status == 200
    with pytest.raises(FormatError, match="too large"):
        records[0].body()


def test_body_of_an_arc_record_that_declares_too_little_is_whole(tmp_path):
    path = tmp_path / "file"
    block = http([("Content-Type", "x/y")], LONG + b"!")
    path.write_bytes(held(b"http://e.org/ 192.0.2.1 20100106101235 x/y 3\n" + block + b"\n"))
    reading = Reading(Input(str(path), str(path)), Storage())
    assert [(found.length, found.content_length, found.body()) for found in reading] == [
        (path.stat().st_size, len(block), LONG + b"!")
    ]
    small = Reading(Input(str(path), str(path)), Storage(), ReadOptions(max_body=MAX_BODY))
    for found in small:
        assert found.content_length == len(block)
        with pytest.raises(FormatError, match="too large"):
            found.body()
    assert small.row.outcome == "ok"


INFO = record("warcinfo", b"software: x\r\n", None, "application/warc-fields")


@pytest.mark.parametrize("heads_only", [False, True])
@pytest.mark.parametrize("pack", [b"".join, lambda records: b"".join(map(gzip_member, records))])
@pytest.mark.parametrize(
    ("after", "wanted", "given"),
    [
        ([LAST], {"wet"}, []),
        ([LAST], {"warc"}, ["warcinfo", "warcinfo", "response"]),
        ([record("conversion", b"text", "http://e.org/", "text/plain")], {"warc"}, []),
        ([], {"wet"}, []),
        ([], {"warc"}, ["warcinfo", "warcinfo"]),
    ],
)
def test_no_record_of_an_unsupported_format_is_given(tmp_path, pack, after, wanted, given, heads_only):
    path = tmp_path / "x"
    path.write_bytes(pack([INFO, INFO, *after]))
    reading = Reading(
        Input(str(path), str(path)),
        Storage(),
        ReadOptions(heads_only=heads_only),
        selection=Selection(frozenset(wanted)),
    )
    found = [(each.type, each.body()[:8]) for each in reading]
    assert [kind for kind, _ in found] == given
    assert [body for kind, body in found if kind == "warcinfo"] == [b"software"] * given.count("warcinfo")
    assert reading.row.records == len(given)
    assert dict(reading.row.lost) == ({} if given else {"unsupported-format": 1})


def test_records_before_the_format_is_known_are_given_where_the_file_is_cut(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(gzip_member(INFO) + gzip_member(LAST)[:-20])
    reading = Reading(Input(str(path), str(path)), Storage(), selection=Selection(frozenset({"warc"})))
    assert ([each.type for each in reading], reading.row.records) == (["warcinfo"], 1)
    assert (reading.row.outcome, dict(reading.row.lost)) == ("partial", {"truncated": 1})


def test_records_held_while_the_format_is_not_known_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("crawlmill.formats.proven._MAX_WAITING", 3)
    path = tmp_path / "x"
    path.write_bytes(gzip_member(INFO) * 5)
    for wanted, given in (("warc", 5), ("wet", 0)):
        reading = Reading(Input(str(path), str(path)), Storage(), selection=Selection(frozenset({wanted})))
        assert len(list(reading)) == given
