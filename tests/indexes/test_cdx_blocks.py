"""Lines of index files: all of them, as they stand, whatever holds them."""

from __future__ import annotations

import gzip
import io
import random

import pytest

from crawlmill.indexes.cdx.blocks import MAX_LINE, begins_index, read_blocks

LINES = [b'com,example)/%d 20240101000000 {"url": "http://example.com/%d"}' % (n, n) for n in range(50)]
CDX = [
    b"com,example)/%d 20240101000000 http://example.com/%d text/html 200 A - 10 20 a.warc.gz" % (n, n) for n in range(5)
]


class Slow(io.BytesIO):
    """Gives a few bytes at a time."""

    def __init__(self, data, most):
        super().__init__(data)
        self._most = most

    def read(self, n=-1):
        return super().read(min(n, self._most) if n >= 0 else self._most)


def read(data, most=1 << 20):
    problems = []
    blocks = list(read_blocks(Slow(data, most), on_problem=problems.append))
    for block in blocks:
        assert block.data.endswith(b"\n")
        assert block.lines == block.data.count(b"\n")
    return b"".join(block.data for block in blocks).split(b"\n")[:-1], problems, blocks


def text(lines):
    return b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("most", [1, 2, 3, 7, 4096, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_all_lines_come_as_they_stand(pack, most):
    lines = [*LINES, *CDX, LINES[0] + b"\r"]
    assert read(pack(text(lines)), most)[:2] == (lines, [])


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_last_line_without_its_end_counts(pack):
    assert read(pack(text(LINES)[:-1]))[:2] == (LINES, [])


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_byte_order_mark_is_no_part_of_a_key(pack, most):
    assert read(pack(b"\xef\xbb\xbf" + text(LINES)), most)[:2] == (LINES, [])


def test_member_ends_a_line():
    data = gzip.compress(text(LINES[:20])[:-1]) + gzip.compress(text(LINES[20:]))
    assert read(data)[:2] == (LINES, [])


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_members_may_be_cut_anywhere(size):
    lines = [*LINES, *CDX]
    data = text(lines)[:-1]
    members = (gzip.compress(data[at : at + size]) for at in range(0, len(data), size))
    assert read(b"".join(members))[:2] == (lines, [])


def test_line_before_a_damaged_member_does_not_go_on_after_it():
    damaged = bytearray(gzip.compress(text(LINES[20:30])))
    damaged[40] ^= 0xFF
    data = gzip.compress(text(LINES[:20])[:-9]) + bytes(damaged) + gzip.compress(text(LINES[30:]))
    found, problems, _ = read(data)
    assert found == [*LINES[:19], *LINES[30:]]
    assert sorted(problem.reason for problem in problems)[-1:] == ["bad-header"]
    assert len(problems) == 2


def test_headers_and_blank_lines_are_left_out_in_silence():
    for header in (b" CDX N b a m s k r V g", b'!meta {"format": "cdxj", "columns": []}', b"!OpenWayback-CDXJ 1.0"):
        assert read(text([header, b"", *CDX, b" ", header, b"\r", *LINES]))[:2] == ([*CDX, *LINES], [])
        assert begins_index(header)


@pytest.mark.parametrize("most", [5, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_line_that_is_no_capture_is_reported_by_its_number(pack, most):
    lines = [b" CDX N b a m s k r V g", *LINES]
    lines[5:5] = [b"nonsense"]
    lines[17:17] = [LINES[0][:-1]]
    found, problems, _ = read(pack(text(lines)), most)
    assert found == LINES
    assert [(problem.reason, problem.what) for problem in problems] == [
        ("bad-header", "line 6 is not a capture"),
        ("bad-header", "line 18 is not a capture"),
    ]


@pytest.mark.parametrize("most", [1000, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_line_that_is_too_long_costs_itself_only(pack, most):
    found, problems, _ = read(pack(text([LINES[0], b"x" * (3 * MAX_LINE), LINES[1], b"bad", LINES[2]])), most)
    assert found == LINES[:3]
    assert [(problem.reason, problem.what) for problem in problems] == [
        ("too-large", "line 2"),
        ("bad-header", "line 4 is not a capture"),
    ]


def test_damaged_member_costs_its_lines_and_no_other():
    members = [gzip.compress(text(LINES[at : at + 10])) for at in range(0, 50, 10)]
    members[2] = members[2][:60] + bytes([members[2][60] ^ 1]) + members[2][61:]
    found, problems, blocks = read(b"".join(members))
    assert found == LINES[:20] + LINES[30:]
    assert [problem.offset for problem in problems] == [len(members[0] + members[1])]
    assert blocks[1].offset == len(members[0])


def test_large_member_that_is_cut_gives_no_torn_line():
    rng = random.Random(1)
    lines = [b'com,example)/%d 20240101000000 {"url": "%x"}' % (n, rng.getrandbits(800)) for n in range(120_000)]
    data = gzip.compress(text(lines), 1)
    found, problems, _ = read(data[: len(data) * 3 // 4])
    assert 80_000 < len(found) < 95_000
    assert found == lines[: len(found)]
    assert [problem.reason for problem in problems] == ["truncated"]


@pytest.mark.parametrize("cut", [1, 8, 40, 100])
def test_small_member_that_is_cut_gives_the_whole_lines_before_the_cut(cut):
    data = gzip.compress(text(LINES))
    found, problems, _ = read(data[:-cut])
    assert found == LINES[: len(found)]
    assert [problem.reason for problem in problems] == ["truncated"]
    assert len(found) == len(LINES) if cut <= 8 else 0 < len(found) < len(LINES)


def test_small_member_that_is_flipped_gives_nothing():
    data = bytearray(gzip.compress(text(LINES)))
    data[-6] ^= 1
    found, problems, _ = read(bytes(data))
    assert (found, [problem.reason for problem in problems]) == ([], ["bad-checksum"])


def test_place_of_a_block_is_that_of_its_first_line_or_member():
    data = text(LINES)
    _, _, blocks = read(data, 1000)
    assert len(blocks) > 2
    for block in blocks:
        assert data[block.offset :].startswith(block.data[:20])


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (text(LINES), True),
        (b"\n" + text(CDX), True),
        (b" CDX N b a m s k r M S V g\n", True),
        (LINES[0][:40], True),
        (b"WARC/1.0\r\n", False),
        (b"crawl-data/x.warc.gz\n", False),
        (b"http://example.com/ 192.0.2.1 20240101000000 text/html 100\n", False),
        (b"", False),
    ],
)
def test_first_bytes_of_an_index(data, answer):
    assert begins_index(data) == answer


def test_lines_of_a_block_keep_their_numbers_in_the_file():
    text = b" CDX N b a\nk) 20240101000000 {}\nbad\n\nl) 20240101000000 {}\nm) 20240101000000 {}\nbad\n"
    blocks = list(read_blocks(io.BytesIO(text), on_problem=lambda _: None))
    numbered = [(line, block.number_of(n)) for block in blocks for n, line in enumerate(block.data.splitlines())]
    assert [(line[:2], number) for line, number in numbered] == [(b"k)", 2), (b"l)", 5), (b"m)", 6)]
    assert sum(block.lines for block in blocks) == 3
