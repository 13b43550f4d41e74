"""WARC records: where they lie, what they say, and what is left of them when they are damaged."""

from __future__ import annotations

import io
import random
import re

import pytest
import zstandard
from tests.builders import (
    conversion,
    gzip_member,
    http,
    metadata,
    pack,
    pages,
    record,
    request,
    response,
    sha1_of,
    warcinfo,
)
from tests.formats.archives import Read, uri_of

from crawlmill.errors import FormatError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.digests import check_digests
from crawlmill.formats.warc import reader as warc_reader
from crawlmill.formats.warc.record import parse_head, quick_head

RECORDS = pages(3)
PARTS = [gzip_member(content) for content in RECORDS]


def starts(parts):
    return [sum(map(len, parts[:n])) for n in range(len(parts))]


def test_record_per_member_is_listed_with_its_member():
    read = Read(b"".join(PARTS))
    assert read.problems == []
    assert read.format == "warc"
    assert [row[:3] for row in read.rows] == [(at, len(part), 0) for at, part in zip(starts(PARTS), PARTS, strict=True)]
    assert read.uris == [uri_of(content) for content in RECORDS]
    assert read.blocks == [content.partition(b"\r\n\r\n")[2][:-4] for content in RECORDS]


def test_plain_file_is_listed_with_header_and_block():
    read = Read(b"".join(RECORDS))
    assert read.problems == []
    assert [row[:3] for row in read.rows] == [
        (at, len(c) - 4, 0) for at, c in zip(starts(RECORDS), RECORDS, strict=True)
    ]


def test_records_of_one_member_are_numbered():
    read = Read(gzip_member(RECORDS[0]) + gzip_member(b"".join(RECORDS[1:])))
    size = len(gzip_member(b"".join(RECORDS[1:])))
    at = len(gzip_member(RECORDS[0]))
    assert read.problems == []
    assert [row[:3] for row in read.rows[1:]] == [(at, size, n) for n in range(len(RECORDS) - 1)]
    assert read.uris == [uri_of(content) for content in RECORDS]


def test_file_of_one_member_is_read(monkeypatch):
    whole = gzip_member(b"".join(RECORDS))
    assert Read(whole).uris == [uri_of(content) for content in RECORDS]
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 300)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 300)
    streamed = Read(whole)
    assert streamed.uris == [uri_of(content) for content in RECORDS]
    assert streamed.problems == []


@pytest.mark.parametrize("held", [10, 1 << 20])
@pytest.mark.parametrize("limit", [300, 1 << 24])
def test_large_records_are_streamed_with_the_same_result(monkeypatch, held, limit):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", limit)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", limit)
    blocks = [content.partition(b"\r\n\r\n")[2][:-4] for content in RECORDS]
    for data in (b"".join(PARTS), b"".join(RECORDS), gzip_member(b"".join(RECORDS))):
        read = Read(data)
        assert read.problems == []
        assert read.blocks == blocks
        assert read.uris == [uri_of(content) for content in RECORDS]


def test_consumer_that_takes_nothing_still_proves_streamed_records(monkeypatch):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", 10)
    problems = []
    found = list(warc_reader.read_plain(io.BytesIO(b"".join(RECORDS)[:-10]), on_problem=problems.append))
    assert len(found) == len(RECORDS)  # given before it is read; whoever counts it proves it
    assert [problem.reason for problem in problems] == ["truncated"]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 4096])
@pytest.mark.parametrize("data", [b"".join(PARTS), b"".join(RECORDS), gzip_member(b"".join(RECORDS))])
def test_size_of_reads_is_invisible(data, most):
    class Trickle(io.BytesIO):
        def read(self, n=-1, /):
            return super().read(min(n, most))

    assert Read(Trickle(data)).rows == Read(data).rows


@pytest.mark.parametrize("extra", range(-6, 7))
def test_plain_records_that_end_near_the_edge_of_the_window_are_whole(extra):
    first = record("resource", bytes((1 << 18) - 180 + extra), "http://e.org/a", "text/plain")
    read = Read(first + RECORDS[1] + RECORDS[2])
    assert read.problems == []
    assert read.uris == [("resource", "http://e.org/a"), *map(uri_of, RECORDS[1:3])]


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
def test_versions_of_warc_are_read(version):
    content = record("resource", b"x", "http://e.org/", "text/plain", version=version)
    assert Read(gzip_member(content)).uris == Read(content).uris == [("resource", "http://e.org/")]


def test_line_feeds_alone_end_lines():
    content = [record("resource", b"x\r\n\r\ny", f"http://e.org/{n}", "text/plain", eol=b"\n") for n in range(3)]
    for data in (pack(content), b"".join(content), gzip_member(b"".join(content))):
        read = Read(data)
        assert read.problems == []
        assert [uri for _, uri in read.uris] == [f"http://e.org/{n}" for n in range(3)]
        assert read.blocks == [b"x\r\n\r\ny"] * 3


def test_headers_may_be_folded_in_any_case_and_any_order():
    content = (
        b"WARC/1.0\r\ncontent-LENGTH:  3\r\nwarc-target-uri:\r\n  http://e.org/\r\n\tfolded\r\nno colon here\r\n"
        b"WARC-TYPE: Resource\r\nX-Empty:\r\n\r\nabc\r\n\r\n"
    )
    read = Read(gzip_member(content))
    assert read.problems == []
    assert read.uris == [("resource", "http://e.org/ folded")]
    assert read.blocks == [b"abc"]


def test_target_uri_in_angle_brackets_is_given_without():
    content = record("resource", b"x", "<http://e.org/>", "text/plain")
    assert Read(content).uris == [("resource", "http://e.org/")]


def test_formats_are_named_by_the_first_record_that_is_no_warcinfo():
    wat = record("metadata", b'{"Container":{},"Envelope":{"Format":"WARC/1.0"}}', "http://e.org/", "application/json")
    for content, name in [
        (conversion("http://e.org/", "text"), "wet"),
        (wat, "wat"),
        (request("http://e.org/"), "warc"),
        (metadata("http://e.org/"), "warc"),
    ]:
        assert Read(pack([warcinfo(), content])).format == name
        assert Read(pack([content])).format == name
    assert Read(pack([warcinfo()])).format == "warc"


# Damage


def test_every_cut_of_a_plain_file_is_reported():
    data = b"".join(RECORDS[:4])
    ends = [*starts(RECORDS[:4]), len(data)]
    for cut in range(1, len(data)):
        read = Read(data[:cut])
        whole = sum(end <= cut for end in ends[1:])
        if cut in ends:
            assert read.problems == []
        else:
            assert [reason for reason, _ in read.problems] == ["truncated" if cut > 4 else "unknown-format"], cut
        assert len(read.rows) == whole, cut  # what is reported is not given


@pytest.mark.parametrize("add", [-9, -5, -1, 1, 5, 50])
@pytest.mark.parametrize("packed", [True, False])
def test_wrong_length_is_reported_and_the_other_records_are_read(add, packed):
    body = b"<html><p>0123456789 0123456789</html>"
    length = len(response("http://e.org/liar", body).partition(b"\r\n\r\n")[2]) - 4
    liar = response("http://e.org/liar", body, length=length + add)
    contents = [*RECORDS[:4], liar, *RECORDS[4:]]
    read = Read(pack(contents) if packed else b"".join(contents))
    assert [reason for reason, _ in read.problems] == ["bad-length"]
    at = sum(len(gzip_member(c) if packed else c) for c in RECORDS[:4])
    assert read.problems[0][1] == at
    assert read.uris == [uri_of(content) for content in RECORDS]  # without the one that lies


@pytest.mark.parametrize("eol", [b"\r\n", b"\n"])
def test_damaged_line_ends_between_records_lose_no_other_one(contain, eol):
    made = [record("resource", b"x" * 300, f"http://e.org/{n}", "text/plain", eol=eol) for n in range(4)]
    end = len(made[0]) + len(made[1])
    for at in range(end - 2 * len(eol), end):
        for flip in (0x01, 0x0A, 0x20, 0xFF):
            data = bytearray(b"".join(made))
            data[at] ^= flip
            read = Read(contain(bytes(data)))
            assert [reason for reason, _ in read.problems] == ["bad-length"], (at, flip)
            assert [uri for _, uri in read.uris] == [f"http://e.org/{n}" for n in (0, 2, 3)], (at, flip)
    data = bytearray(b"".join(made))
    data[end - 2 * len(eol) : end] = bytes(2 * len(eol))
    data[-len(made[3]) - 1] = 0  # the next one is as bad
    read = Read(contain(bytes(data)))
    assert [reason for reason, _ in read.problems] == ["bad-length"] * 2
    assert [uri for _, uri in read.uris] == ["http://e.org/0", "http://e.org/3"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((rb"Content-Length", b"X-Length"), "bad-length"),
        ((rb"Content-Length: \d+", b"Content-Length: -7"), "bad-length"),
        ((rb"Content-Length: \d+", b"Content-Length: 1_0"), "bad-length"),
        ((rb"Content-Length: (\d+)", rb"Content-Length: +\1"), "bad-length"),
        ((rb"Content-Length: \d+", b"Content-Length: 99999999999999999999"), "bad-length"),
        ((rb"(Content-Length: )(\d+)", rb"\1\2\r\n\g<1>1\2"), "bad-length"),
        ((rb"WARC-Type", b"X-Type"), "bad-header"),
        ((rb"WARC/1.0", b"WARC 1.0"), "bad-header"),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_broken_header_is_reported_and_the_other_records_are_read(change, reason, packed):
    broken = re.sub(*change, response("http://e.org/x", b"<p>"), count=1)
    contents = [*RECORDS[:4], broken, *RECORDS[4:]]
    read = Read(pack(contents) if packed else b"".join(contents))
    assert [found for found, _ in read.problems] == [reason]
    assert [uri for uri in read.uris if uri[1] != "http://e.org/x"] == [uri_of(content) for content in RECORDS]


@pytest.fixture(params=["plain", "one member", "one member, streamed"])
def contain(request, monkeypatch):
    """Puts records behind each other where no checksum says where one ends."""
    if "streamed" in request.param:
        monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 300)
        monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 300)
    return gzip_member if "member" in request.param else bytes


@pytest.mark.parametrize("eol", [b"\r\n", b"\n"])
def test_hole_from_within_a_header_to_the_next_record_is_reported(contain, eol):
    """Any byte of a header that begins like one may be the last one before the hole."""
    made = [record("resource", b"x" * 300, f"http://e.org/{n}", "text/plain", eol=eol) for n in range(3)]
    header = made[0].partition(eol * 2)[0]
    for cut in range(5, len(header) + 1):
        read = Read(contain(header[:cut] + b"".join(made[1:])))
        assert len(read.problems) == 1, cut
        assert read.blocks == [b"x" * 300] * len(read.rows), cut
        assert read.uris == [uri_of(content.replace(eol, b"\r\n")) for content in made[1:]], cut


def test_hole_that_ends_with_a_line_end_loses_only_its_record(contain):
    made = [record("resource", b"x" * 300, f"http://e.org/{n}", "text/plain") for n in range(3)]
    read = Read(contain(made[0][:50] + b"\r\n" + made[1] + made[2]))
    assert read.problems == [("bad-header", 0)]
    assert read.uris == [uri_of(content) for content in made[1:]]


@pytest.mark.parametrize("field", ["WARC-Type", "warc-date", "WARC-RECORD-ID", "Content-Length"])
def test_header_with_a_mandatory_field_twice_is_reported(contain, field):
    header, _, block = record("resource", b"x", "http://e.org/twice").partition(b"\r\n\r\n")
    line = re.search(rb"(?im)^%b: (.*)\r?$" % field.encode(), header)
    twice = header + b"\r\n" + field.encode() + b": " + line[1].strip() + b"\r\n\r\n" + block
    read = Read(contain(RECORDS[0] + twice + b"".join(RECORDS[1:])))
    assert [reason for reason, _ in read.problems] == ["bad-header"]
    assert read.uris == [uri_of(content) for content in RECORDS]


@pytest.mark.parametrize("eol", [b"\r\n", b"\n"])
def test_field_that_a_crawler_wrote_twice_into_a_proven_record_is_no_damage(eol):
    twice = record("resource", b"x", "http://e.org/twice", fields=(("WARC-Date", "2026-01-05T10:00:00Z"),), eol=eol)
    for heads_only in (False, True):
        read = Read(pack([warcinfo(), twice]), heads_only=heads_only)
        assert read.problems == []
        assert read.uris[1:] == [("resource", "http://e.org/twice")]


def test_version_within_a_field_and_a_field_that_may_be_repeated_are_no_damage(contain):
    fields = (
        ("WARC-Concurrent-To", "<urn:a>"),
        ("WARC-Concurrent-To", "<urn:b>"),
        ("X", "folded,\r\n as by WARC/1.0"),
        ("WARC-Date-Of-Old", "WARC/1.0"),
    )
    made = [record("resource", b"x", "http://e.org/WARC/1.0", fields=fields) for _ in range(3)]
    read = Read(contain(b"".join(made)))
    assert read.problems == []
    assert len(read.rows) == 3


@pytest.mark.parametrize("eol", [b"\r\n", b"\n"])
@pytest.mark.parametrize("inner", [b"", b"\r\n\r\n"])
def test_bytes_removed_before_a_record_lose_no_other_one(contain, eol, inner):
    """From one byte of the closing line ends on; with more, the next header begins within a line."""
    within = inner + record("resource", b"within", "http://within.org/", "text/plain", eol=eol)
    made = [
        record("resource", b"x" * 30 + within + b"y" * 30, f"http://e.org/{n}", "text/plain", eol=eol) for n in range(4)
    ]
    end = len(made[0]) + len(made[1])
    whole = b"".join(made)
    for count in range(1, 30):
        for last in range(end - 2 * len(eol) + 1, end + 1):
            read = Read(contain(whole[: last - count] + whole[last:]))
            assert [reason for reason, _ in read.problems] == ["bad-length"], (count, last)
            assert [uri for _, uri in read.uris] == [f"http://e.org/{n}" for n in (0, 2, 3)], (count, last)


@pytest.mark.parametrize("held", [10, 1 << 20])
@pytest.mark.parametrize("add", [-9, -1, 1, 9, 200, 600, 5_000, 10_000_000])
def test_neighbours_with_the_same_wrong_length_are_each_reported(monkeypatch, add, held):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    body = b"<html><p>0123456789 0123456789</html>"
    length = len(response("http://e.org/0", body).partition(b"\r\n\r\n")[2]) - 4
    wrong = [response(f"http://e.org/{n}", body, length=length + add) for n in range(3)]
    before = sum(map(len, RECORDS[:4]))
    read = Read(b"".join([*RECORDS[:4], *wrong, *RECORDS[4:]]))
    at = [before, before + len(wrong[0]), before + 2 * len(wrong[0])]
    assert read.problems == [("bad-length", offset) for offset in at]
    assert read.uris == [uri_of(content) for content in RECORDS]


def test_header_with_a_wrong_length_within_what_another_claims_is_reported():
    """The second is too short, and what it declares ends where the first one's claim does not reach."""
    body = b"<html><p>0123456789 0123456789</html>"
    wrong = [response("http://e.org/long", body, length=3_000), response("http://e.org/short", body, length=7)]
    read = Read(b"".join([*wrong, *RECORDS]))
    assert read.problems == [("bad-length", 0), ("bad-length", len(wrong[0]))]
    assert read.uris[-3:] == [uri_of(content) for content in RECORDS[-3:]]


def test_length_beyond_the_end_of_a_plain_file_loses_only_its_record():
    liar = response("http://e.org/liar", b"<p>", length=10_000_000)
    read = Read(b"".join([*RECORDS[:4], liar, *RECORDS[4:]]))
    assert [reason for reason, _ in read.problems] == ["bad-length"]
    assert read.uris == [uri_of(content) for content in RECORDS]


def test_flipped_bytes_of_a_plain_files_framing_are_reported():
    data = b"".join(RECORDS[:4])
    silent = 0
    for at in range(len(data)):
        read = Read(data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :])
        if not read.problems:
            silent += 1
            assert len(read.rows) == 4  # content is not covered by any checksum; the framing is
    assert silent < len(data)


def test_damaged_first_member_leaves_the_format_to_the_next():
    for at in (0, 1, 2, 3, 12, len(PARTS[0]) - 5):
        damaged = bytearray(b"".join(PARTS))
        damaged[at] ^= 0xFF
        read = Read(bytes(damaged))
        assert read.format == "warc"
        assert read.uris == [uri_of(content) for content in RECORDS[1:]]
        assert len(read.problems) == 1


@pytest.mark.parametrize("pack", [bytes, gzip_member])
def test_first_bytes_of_a_large_record_that_are_damaged_lose_only_it(pack):
    large = pack(response("http://e.org/large", random.Random(1).randbytes(2 << 20)))
    for at in range(8 if pack is bytes else 3):
        read = Read(large[:at] + b"\xff" + large[at + 1 :] + b"".join(map(pack, RECORDS[1:])))
        assert [offset for _, offset in read.problems] == [0]
        assert read.uris == [uri_of(content) for content in RECORDS[1:]]


@pytest.mark.parametrize("pack", [gzip_member, zstandard.ZstdCompressor(write_checksum=True).compress])
def test_first_bytes_that_are_damaged_in_front_of_a_large_member_lose_only_theirs(pack):
    large = response("http://e.org/large", random.Random(1).randbytes(2 << 20))
    first = pack(RECORDS[0])
    read = Read(bytes(4) + first[4:] + pack(large) + pack(RECORDS[1]))
    assert [offset for _, offset in read.problems] == [0]
    assert read.uris == [uri_of(large), uri_of(RECORDS[1])]


@pytest.mark.parametrize("heads_only", [False, True])
def test_first_members_without_a_record_leave_the_format_to_the_next(heads_only):
    note, blank = gzip_member(b"A note of whoever packed this.\n"), gzip_member(b"\r\n" + RECORDS[0])
    read = Read(note + blank + b"".join(PARTS), heads_only=heads_only)
    assert read.format == "warc"
    assert read.problems == [("bad-header", 0), ("bad-header", len(note))]
    assert read.uris == [uri_of(content) for content in (RECORDS[0], *RECORDS)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no crawl file\n" * 50,
        gzip_member(b"text\n" * 9) * 3,
        gzip_member(bytes(2 << 20)) + b"".join(PARTS),
        b"<!DOCTYPE html><html>",
        gzip_member(b"text\n" * 9),
        b"\x1f\x8b",
        bytes(300),
        b"WARC",
    ],
)
def test_what_is_no_archive_is_refused(data):
    read = Read(data)
    assert read.rows == []
    assert [reason for reason, _ in read.problems][-1:] in (["unknown-format"], ["truncated"])


def test_heads_only_reads_the_same_records():
    odd = [gzip_member(b"".join(RECORDS[1:3])), gzip_member(RECORDS[3], header_crc=True), gzip_member(b"")]
    data = b"".join([PARTS[0], *odd, *PARTS[4:], gzip_member(response("http://e.org/big", b"x" * 50_000))])
    assert Read(data, heads_only=True).rows == Read(data).rows
    assert Read(data, heads_only=True).blocks == Read(data).blocks


@pytest.mark.parametrize("heads_only", [False, True])
def test_first_record_whose_rest_is_damaged_loses_only_itself(heads_only):
    liar = bytearray(gzip_member(record("metadata", random.Random(1).randbytes(9000), "http://e.org/x", "x/y")))
    liar[5000] ^= 1
    read = Read(b"".join([PARTS[0], liar, *PARTS]), heads_only=heads_only)
    assert [offset for _, offset in read.problems] == [len(PARTS[0])]
    assert read.uris == [uri_of(content) for content in (RECORDS[0], *RECORDS)]
    assert read.format == "warc"


def test_body_that_is_inflated_later_is_reported_where_it_is():
    liar = bytearray(gzip_member(response("http://e.org/x", random.Random(1).randbytes(9000))))
    liar[5000] ^= 1
    _, found, *_ = read_archive(
        io.BytesIO(PARTS[0] + liar), heads_only=True, on_problem=lambda _: None, on_format=lambda _: None
    )
    with pytest.raises(FormatError) as caught:
        found.block.head(9000)
    assert caught.value.offset == len(PARTS[0])


def test_heads_only_still_reports_every_cut():
    data = b"".join(PARTS[:4])
    ends = starts(PARTS[:5])
    for cut in range(1, len(data)):
        assert bool(Read(data[:cut], heads_only=True).problems) == (cut not in ends), cut


def test_quick_head_agrees_with_the_full_parser_where_it_answers():
    for content in [*RECORDS, conversion("http://e.org/", "x"), record("resource", b"", None)]:
        quick = quick_head(content)
        assert quick is not None
        assert quick == parse_head(content)
        assert quick == quick_head(bytearray(content))


def test_error_of_a_header_says_what_was_expected():
    with pytest.raises(FormatError, match=r"not a WARC record: expected WARC/1.0 or WARC/1.1, got <html>"):
        parse_head(b"<html>")


# What Common Crawl has written


@pytest.mark.parametrize(
    "fields", [(("WARC-Protocol", "h2"), ("WARC-Protocol", "tls/1.3")), (("WARC-Protocol", "h2, tls/1.3"),)]
)
def test_protocols_may_be_repeated_or_joined(contain, fields):
    block = http([("Content-Type", "text/html")], b"<p>")
    made = [record("response", block, f"http://e.org/{n}", "application/http", fields=fields) for n in range(3)]
    for data in (contain(b"".join(made)), pack(made)):
        read = Read(data)
        assert read.problems == []
        assert read.uris == [uri_of(content) for content in made]
    (found,) = read_archive(io.BytesIO(made[0]), on_problem=pytest.fail, on_format=lambda _: None)
    assert [pair for pair in found.named_fields if pair[0] == "WARC-Protocol"] == list(fields)


@pytest.mark.parametrize("status", ["HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/2 200"])
def test_reason_phrase_may_be_empty(status):
    content = response("http://e.org/", b"<p>", status=status)
    (found,) = read_archive(io.BytesIO(pack([content])), on_problem=pytest.fail, on_format=lambda _: None)
    assert (found.http.status, found.http.reason, found.body()) == (200, "", b"<p>")


@pytest.mark.parametrize("held", [10, 1 << 20])
@pytest.mark.parametrize("short", [0, 2])
def test_empty_line_too_many_before_a_body(contain, monkeypatch, held, short):
    """August 2018 (CC-MAIN-2018-34): an extra CR LF before each body, and lengths that may not count it."""
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    monkeypatch.setattr("crawlmill.formats.warc.reader.HELD", held)
    body = b"%PDF and more"
    digest = (("WARC-Payload-Digest", sha1_of(body)),)
    block = http([("Content-Type", "x/y"), ("Content-Length", str(len(body)))], b"\r\n" + body)
    made = [
        record(
            "response",
            block,
            f"http://e.org/{n}",
            "application/http; msgtype=response",
            length=len(block) - short,
            fields=digest,
        )
        for n in range(3)
    ]
    for data in (contain(b"".join(made)), pack(made)):
        read = Read(data)
        assert read.problems == []
        assert read.blocks == [block] * 3
        count = 0
        for found in read_archive(io.BytesIO(data), on_problem=pytest.fail, on_format=lambda _: None):
            found.block.hold(1 << 20)
            assert found.body() == body
            assert list(check_digests(found)) == []
            count += 1
        assert count == 3


def test_block_that_is_two_bytes_longer_for_another_reason_is_damage():
    block = http([("Content-Type", "x/y")], b"%PDF and more")
    liar = record("response", block, "http://e.org/", "application/http", length=len(block) - 2)
    assert Read(pack([liar])).problems == [("bad-length", 0)]
