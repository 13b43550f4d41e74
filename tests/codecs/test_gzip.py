"""The gzip reader: exact places, proof, damage located, reading resumed; the same with every library that inflates."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zlib

import pytest
from tests.builders import gzip_member

from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.gzip_member import header_length
from crawlmill.codecs.source import Window
from crawlmill.errors import FormatError


@pytest.fixture(params=["deflate", "isal", "zlib-ng", "zlib"], autouse=True)
def library(request, use):
    """Each test runs with each library that is installed."""
    use(request.param)


class Trickle(io.BytesIO):
    """A source that gives at most so many bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self.most = most

    def read(self, n=-1, /):
        return super().read(min(n, self.most))


def plausible(data: bytes) -> bool:
    return data.startswith(b"record ")


def unexpected(problem):
    pytest.fail(str(problem))


def read(data, **options):
    """([(offset, length, content)], [(reason, offset)]) of a file."""
    problems = []
    source = data if isinstance(data, io.BytesIO) else io.BytesIO(data)
    reader = GzipReader(source, on_problem=problems.append, plausible=plausible, **options)
    members = []
    for member in reader:
        content = member.content
        if content is None:
            pieces = []
            try:
                while piece := member.read(1 << 16):
                    pieces.append(piece)
            except FormatError:
                continue
            content = b"".join(pieces)
        members.append((member.offset, member.length, bytes(content)))
    return members, [(problem.reason, problem.offset) for problem in problems]


def places(parts):
    at, found = 0, []
    for part in parts:
        found.append((at, len(part), gzip.decompress(part)))
        at += len(part)
    return found


CONTENTS = [b"record %d " % n + b"".join(b"%d" % (k * n) for k in range(50 * n)) for n in range(1, 6)]


def test_members_of_many_writers_are_found_at_their_exact_places():
    parts = [
        gzip_member(CONTENTS[0], level=1, xfl=4),
        gzip_member(CONTENTS[1], level=9, xfl=2, os=0),
        gzip_member(CONTENTS[2], level=0, os=255),
        gzip_member(CONTENTS[3], name=b"x.warc", mtime=1390766400),
        gzip_member(CONTENTS[4], comment=b"a comment", header_crc=True),
        gzip_member(CONTENTS[0], extra=b"sl\x08\0" + bytes(8)),
        gzip_member(CONTENTS[1], extra=b"\x1f\x8b\x08\0" * 4, name=b"n", comment=b"c", header_crc=True),
    ]
    assert read(b"".join(parts)) == (places(parts), [])


def test_stored_member_that_holds_a_gzip_file_is_one_member():
    inner = b"record " + b"".join(gzip_member(content) for content in CONTENTS)
    parts = [gzip_member(CONTENTS[0]), gzip_member(inner, level=0), gzip_member(CONTENTS[1])]
    assert read(b"".join(parts)) == (places(parts), [])


def test_empty_members_are_members():
    parts = [gzip_member(b""), gzip_member(CONTENTS[0]), gzip_member(b""), gzip_member(b"")]
    assert read(b"".join(parts)) == (places(parts), [])


def test_empty_file_has_no_members():
    assert read(b"") == ([], [])


@pytest.mark.parametrize("most", [1, 2, 3, 7, 4096])
def test_size_of_reads_is_invisible(most):
    parts = [gzip_member(content) for content in CONTENTS]
    assert read(Trickle(b"".join(parts), most)) == (places(parts), [])


@pytest.mark.parametrize("extra", range(-3, 4))
def test_member_that_ends_near_the_edge_of_the_window_is_whole(extra):
    chunk = 1 << 18
    noise = random.Random(7).randbytes(chunk - 200 + extra)
    first = gzip_member(b"record " + noise, level=0)
    pad = chunk + extra - len(first)
    parts = [first, *([gzip_member(b"r", name=b"n" * (pad - 22))] if pad > 22 else []), gzip_member(CONTENTS[1])]
    assert read(b"".join(parts)) == (places(parts), [])


def test_large_member_is_streamed_and_its_neighbours_are_found(monkeypatch):
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 1000)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 1000)
    parts = [gzip_member(CONTENTS[0]), gzip_member(b"record " * 1000), gzip_member(CONTENTS[1])]
    assert read(b"".join(parts)) == (places(parts), [])


@pytest.mark.parametrize("at", [-1, -5, 40])
def test_damage_in_a_streamed_member_is_reported_once_and_reading_goes_on(monkeypatch, at):
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 1000)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 1000)
    middle = bytearray(gzip_member(b"record " + random.Random(3).randbytes(3000)))
    middle[at] ^= 0x55
    parts = [gzip_member(CONTENTS[0]), bytes(middle), gzip_member(CONTENTS[1])]
    members, problems = read(b"".join(parts))
    assert [content for _, _, content in members] == CONTENTS[:2]
    assert len(problems) == 1
    assert problems[0][1] == len(parts[0])


def test_consumer_that_leaves_a_streamed_member_unread_still_gets_its_damage(monkeypatch):
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 1000)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 1000)
    middle = bytearray(gzip_member(b"record " * 1000))
    middle[-5] ^= 1
    problems = []
    reader = GzipReader(io.BytesIO(bytes(middle)), on_problem=problems.append, plausible=plausible)
    assert len(list(reader)) == 1
    assert [problem.reason for problem in problems] == ["bad-checksum"]


def test_every_cut_is_reported_and_what_lies_before_it_is_read():
    parts = [gzip_member(content) for content in CONTENTS[:3]]
    data, whole = b"".join(parts), places(parts)
    for cut in range(len(data)):
        members, problems = read(data[:cut])
        before = [place for place in whole if place[0] + place[1] <= cut]
        assert members == before
        at = sum(length for _, length, _ in before)
        assert problems == ([] if cut == at else [("truncated", at)]), cut


def test_every_flipped_bit_is_reported_or_changes_nothing_and_the_other_members_are_read():
    parts = [gzip_member(content) for content in CONTENTS[:3]]
    data, whole = b"".join(parts), places(parts)
    for at in range(len(data)):
        victim = next(place for place in whole if at < place[0] + place[1])
        others = [place for place in whole if place is not victim]
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            members, problems = read(bytes(damaged))
            if problems:
                assert members == others, (at, bit)
                assert victim[0] <= problems[0][1] <= at
            else:
                assert members == whole, (at, bit)


def test_member_that_runs_into_the_next_ones_is_reported_and_they_are_read():
    runaway = bytearray(gzip_member(CONTENTS[2], level=0))
    runaway[11:15] = b"\xff\xff\0\0"
    parts = [gzip_member(CONTENTS[0]), bytes(runaway), *(gzip_member(content) for content in CONTENTS[3:])]
    members, problems = read(b"".join(parts))
    assert [content for _, _, content in members] == [CONTENTS[0], *CONTENTS[3:]]
    assert problems == [("bad-compression", len(parts[0]))]


def runaway(behind: bytes) -> bytes:
    """What damage leaves of a member: a stored block that holds all that is `behind`, its end, and a trailer of 8."""
    header, size = gzip_member(b"x", level=0)[:10], len(behind)
    return header + b"\0" + struct.pack("<HH", size, size ^ 0xFFFF) + behind + b"\1\0\0\xff\xff" + b"trailer."


@pytest.mark.parametrize("limit", [1000, 1 << 24])
def test_true_members_that_a_false_stream_runs_over_are_read(monkeypatch, limit):
    monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", limit)
    monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", limit)
    first, *true = (gzip_member(content) for content in CONTENTS)
    members, problems = read(first + runaway(b"".join(true)))
    assert [content for _, _, content in members] == CONTENTS
    assert problems[0] == ("bad-checksum", len(first))


@pytest.mark.parametrize("spoilt", [slice(-8, -4), slice(-4, None)])
def test_member_of_which_only_checksum_or_length_is_wrong_is_not_looked_into(spoilt):
    inner = b"record " + b"".join(gzip_member(content) for content in CONTENTS)
    first, last = gzip_member(CONTENTS[0]), gzip_member(CONTENTS[1])
    middle = bytearray(gzip_member(inner, level=0))
    middle[spoilt] = b"\1\2\3\4"
    members, problems = read(first + bytes(middle) + last)
    assert [content for _, _, content in members] == CONTENTS[:2]
    assert problems == [("bad-checksum", len(first))]


def test_zeros_over_members_lose_no_other_one():
    for seed in range(1500):
        chance = random.Random(seed)
        contents = [b"record %d " % n + chance.randbytes(chance.randrange(300)).hex().encode() for n in range(8)]
        parts = [gzip_member(content) for content in contents]
        data = bytearray(b"".join(parts))
        begin = chance.randrange(len(data))
        end = min(begin + chance.randrange(20, 700), len(data))
        data[begin:end] = bytes(end - begin)
        members, problems = read(bytes(data))
        untouched = [place for place in places(parts) if place[0] + place[1] <= begin or place[0] >= end]
        assert [place for place in untouched if place not in members] == [], seed
        assert problems or len(members) == len(parts), seed  # nothing is lost if the zeros were zeros before


@pytest.mark.parametrize(
    ("junk", "reason"),
    [
        (b"not gzip", "trailing-bytes"),
        (bytes(512), "trailing-bytes"),
        (b"\x1f", "truncated"),
        (b"\x1f\x8b", "truncated"),
        (b"\x1f\x8b\x08", "truncated"),
        (b"\x1f\x8b\x08\xff", "bad-compression"),
        (b"\x1f\x8b\x08\0\0\0", "truncated"),
    ],
)
def test_bytes_behind_the_last_member_are_reported(junk, reason):
    part = gzip_member(CONTENTS[0])
    assert read(part + junk) == (places([part]), [(reason, len(part))])


def test_bytes_between_members_are_reported():
    first, second = gzip_member(CONTENTS[0]), gzip_member(CONTENTS[1])
    members, problems = read(first + bytes(300) + second)
    assert [content for _, _, content in members] == CONTENTS[:2]
    assert problems == [("bad-compression", len(first))]


def test_tail_that_stands_twice_is_not_taken_for_the_member():
    # As an interrupted and resumed download leaves it: the last bytes of the member once more.
    first, second = gzip_member(CONTENTS[3]), gzip_member(CONTENTS[1])
    members, problems = read(first + first[-60:] + second)
    assert members[0] == (0, len(first), CONTENTS[3])
    assert problems == [("bad-compression", len(first))]


def test_wrong_header_checksum_is_reported_whatever_inflates():
    member = bytearray(gzip_member(CONTENTS[0], name=b"name", header_crc=True))
    member[12] ^= 1
    members, problems = read(bytes(member) + gzip_member(CONTENTS[1]))
    assert [content for _, _, content in members] == [CONTENTS[1]]
    assert problems == [("bad-checksum", 0)]


def test_many_damaged_members_do_not_multiply_the_reading():
    class Counting(io.BytesIO):
        total = 0

        def read(self, n=-1, /):
            piece = super().read(n)
            Counting.total += len(piece)
            return piece

    parts = []
    for n in range(300):
        part = bytearray(gzip_member(b"record %d " % n + random.Random(n).randbytes(2000)))
        part[-5 if n % 2 else 30] ^= 0xFF
        parts.append(bytes(part))
    data = b"".join(parts)
    members, problems = read(Counting(data))
    assert members == []
    assert len(problems) == 300
    assert Counting.total < 3 * len(data)


def test_head_only_reader_gives_heads_and_lengths_and_rereads_on_request():
    parts = [gzip_member(content) for content in CONTENTS]
    reader = GzipReader(io.BytesIO(b"".join(parts)), on_problem=unexpected, plausible=plausible, heads=16)
    found = []
    for member in reader:
        if member.head is not None:
            assert member.head == CONTENTS[len(found)][:16]
            assert member.size == len(CONTENTS[len(found)])
            if len(found) % 2:
                reader.reread()
                continue
            assert bytes(member.inflate()) == CONTENTS[len(found)]
            found.append(CONTENTS[len(found)])
        else:
            found.append(bytes(member.content))
    assert found == CONTENTS


def test_inflating_a_damaged_member_on_demand_says_what_is_wrong():
    part = bytearray(gzip_member(CONTENTS[3]))
    part[-5] ^= 1
    reader = GzipReader(io.BytesIO(bytes(part)), on_problem=unexpected, plausible=plausible, heads=16)
    member = next(iter(reader))
    with pytest.raises(FormatError, match="wrong checksum of a gzip member"):
        member.inflate()


def test_reading_from_an_offset_gives_offsets_of_the_file():
    parts = [gzip_member(content) for content in CONTENTS]
    data = b"".join(parts)
    start = len(parts[0])
    source = io.BytesIO(data)
    source.seek(start)
    assert read(source, start=start) == (places(parts)[1:], [])


def test_declared_size_never_makes_memory():
    member = bytearray(gzip_member(CONTENTS[0]))
    member[-4:] = b"\xff\xff\xff\xff"
    assert read(bytes(member)) == ([], [("bad-checksum", 0)])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x1f\x8b\x08\0" + bytes(6), 10),
        (b"\x1f\x8b\x08\x04" + bytes(6) + b"\x03\0abc", 15),
        (b"\x1f\x8b\x08\x18" + bytes(6) + b"name\0comment\0", 23),
        (b"\x1f\x8b\x08\x04" + bytes(6) + b"\xff\xff", None),
        (b"\x1f\x8b\x08\x08" + bytes(6) + b"name without end", None),
        (b"\x1f\x8b\x08\x02" + bytes(6) + b"\x00", None),
        (b"\x1f\x8b\x08", None),
    ],
)
def test_header_length_by_rfc_1952(data, expected):
    assert header_length(data) == expected


def test_header_with_reserved_flags_is_none():
    with pytest.raises(FormatError):
        header_length(b"\x1f\x8b\x08\x20" + bytes(6))


def test_window_keeps_what_is_marked_and_goes_back_to_it():
    window = Window(io.BytesIO(bytes(range(256)) * 4), chunk=16)
    assert window.hold(20)
    window.at += 10
    window.keep(window.offset)
    window.at += 10
    assert window.hold(100)
    window.go_to(10)
    assert window.data[window.at] == 10
    window.keep(None)
    window.go_to(500)
    assert window.hold(1)
    assert window.data[window.at] == 500 % 256
    window.go_to(3)
    assert window.hold(1)
    assert window.data[window.at] == 3
    window.go_to(1024)
    assert not window.hold(1)


def test_crc_of_builders_is_that_of_zlib():
    assert zlib.decompress(gzip_member(CONTENTS[0], extra=b"abc", name=b"n", header_crc=True), 31) == CONTENTS[0]
