"""ARC records: members as they are, URL lines split from the right, plain files by their declared lengths."""

from __future__ import annotations

import pytest
from tests.builders import arc, gzip_member, http
from tests.formats.archives import Read

from crawlmill.errors import FormatError
from crawlmill.formats.url_line import is_arc_start, parse_url_line

PAGE = http([("Content-Type", "text/html")], b"<html><p>page</html>\n")
URLS = ["http://e.org/1", "http://e.org/a b  c?d=e f", "http://e.org/漢字"]


def plain(gap: int, *, blocks=(PAGE, PAGE, PAGE), last=b"\n") -> bytes:
    """An uncompressed ARC whose declared lengths count `gap` bytes more than the blocks have."""
    version = b"1 0 CommonCrawl\nURL IP-address Archive-date Content-type Archive-length\n"
    whole = b"filedesc://t.arc 0.0.0.0 20100106101234 text/plain %d\n" % len(version) + version + b"\n"
    for url, block in zip(URLS, blocks, strict=True):
        line = f"{url} 192.0.2.1 20100106101235 text/html {len(block) + gap}\n".encode()
        whole += line + block + b"\n"
    return whole[:-1] + last


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            b"http://e.org/ 192.0.2.1 20100106101235 text/html 17",
            ("http://e.org/", "192.0.2.1", "20100106101235", "text/html", 17),
        ),
        (
            b"http://e.org/a b 1 20991231 c 192.0.2.1 20100106101235 text/html 0",
            ("http://e.org/a b 1 20991231 c", "192.0.2.1", "20100106101235", "text/html", 0),
        ),
        (
            b"http://e.org/ 192.0.2.1 2010-01-06 text/html 5",
            ("http://e.org/", "192.0.2.1", "2010-01-06", "text/html", 5),
        ),
        (b"http://e.org/ 192.0.2.1 20100106101235  5", ("http://e.org/", "192.0.2.1", "20100106101235", "", 5)),
        (b"http://e.org/\xe9 ::1 20100106101235 unk 5\r", ("http://e.org/\xe9", "::1", "20100106101235", "unk", 5)),
        (
            b"http://e.org/ 192.0.2.1 20100106101235 text/html 200 - - 12 x.arc.gz 99",
            ("http://e.org/", "192.0.2.1", "20100106101235", "text/html", 99),
        ),
    ],
)
def test_url_line_is_split_from_the_right(line, expected):
    assert tuple(parse_url_line(line)) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"http://e.org/ 192.0.2.1 20100106101235 text/html",
        b"http://e.org/ nowhere 2010-01-06 text/html 5",
        b"http://e.org/ 192.0.2.1 20100106101235 text/html -5",
        b"WARC/1.0",
    ],
)
def test_line_that_is_no_url_line_is_refused(line):
    with pytest.raises(FormatError, match="no ARC record"):
        parse_url_line(line)


def test_members_are_taken_as_they_are_whatever_length_is_declared():
    data = arc([(url, PAGE) for url in URLS])
    data += gzip_member(b"http://e.org/lie 192.0.2.1 20100106101235 text/html 3\n" + PAGE + b"\n")
    data += gzip_member(b"http://e.org/more 192.0.2.1 20100106101235 text/html 99999\n" + PAGE + b"\n\n")
    read = Read(data)
    assert read.problems == []
    assert read.format == "arc"
    assert [uri for _, uri in read.uris] == ["filedesc://test.arc.gz", *URLS, "http://e.org/lie", "http://e.org/more"]
    assert read.blocks[1:] == [PAGE, PAGE, PAGE, PAGE, PAGE + b"\n"]


def test_range_of_an_arc_needs_no_filedesc():
    data = arc([(url, PAGE) for url in URLS])
    start = Read(data).rows[2][0]
    read = Read(data[start:], start=0)
    assert [uri for _, uri in read.uris] == URLS[1:]


def test_members_of_several_records_are_cut_by_their_lengths():
    inner = plain(0).partition(b"\n\n")[2]
    read = Read(arc([]) + gzip_member(inner))
    assert read.problems == []
    assert [(row[2], uri) for row, uri in zip(read.rows[1:], URLS, strict=True)] == list(enumerate(URLS))
    assert read.blocks[1:] == [PAGE] * 3


@pytest.mark.parametrize("gap", [0, 1, -2])
def test_plain_file_is_cut_by_its_lengths_in_each_convention(gap):
    read = Read(plain(gap))
    assert read.problems == []
    assert [uri for _, uri in read.uris[1:]] == URLS
    assert read.blocks[1:] == [PAGE] * 3


def test_large_records_of_a_plain_file_are_streamed(monkeypatch):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", 20)
    read = Read(plain(0))
    assert read.problems == []
    assert read.blocks[1:] == [PAGE] * 3


@pytest.mark.parametrize("gap", [9, -9])
def test_wrong_length_in_a_plain_file_is_reported_and_the_other_records_are_read(gap):
    data = bytearray(plain(0))
    right = b" text/html %d\n" % len(PAGE)
    at = data.index(right)
    data[at : at + len(right)] = b" text/html %d\n" % (len(PAGE) + gap)
    read = Read(bytes(data))
    assert "bad-length" in [reason for reason, _ in read.problems]
    assert [uri for _, uri in read.uris][-2 if gap < 0 else -1 :] == URLS[1 if gap < 0 else 2 :]


def test_every_cut_of_a_gzipped_file_is_reported():
    data = arc([(url, PAGE) for url in URLS])
    rows = Read(data).rows
    ends = [row[0] + row[1] for row in rows]
    for cut in range(1, len(data)):
        read = Read(data[:cut])
        assert bool(read.problems) == (cut not in ends), cut
        assert read.rows == [row for row in rows if row[0] + row[1] <= cut]


def test_every_cut_of_a_plain_file_is_reported():
    # A block that ends with a line feed of its own may as well be one of September 2012, cut nowhere.
    data = plain(0, blocks=[PAGE.strip()] * 3)
    ends = [row[0] + row[1] + 1 for row in Read(data).rows]
    for cut in range(ends[0] + 1, len(data)):
        read = Read(data[:cut])
        assert bool(read.problems) == (cut not in ends), cut


def test_damaged_member_is_reported_and_the_others_are_read():
    parts = [arc([]), *(arc([(url, PAGE)])[len(arc([])) :] for url in URLS)]
    damaged = bytearray(parts[2])
    damaged[20] ^= 0xFF
    read = Read(b"".join([*parts[:2], bytes(damaged), parts[3]]))
    assert [offset for _, offset in read.problems] == [len(parts[0]) + len(parts[1])]
    assert [uri for _, uri in read.uris[1:]] == [URLS[0], URLS[2]]


@pytest.mark.parametrize("held", [10, 1 << 20])
def test_record_that_is_reported_is_not_given(monkeypatch, held):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    whole = b"http://e.org/a 192.0.2.1 20100106101235 text/html 5\nwhole\n"
    cut = b"http://e.org/b 192.0.2.1 20100106101235 text/html 30\nno more"
    liar = b"http://e.org/c 192.0.2.1 20100106101235 text/html 2\nmuch longer than that\n"
    open_end = b"http://e.org/d 192.0.2.1 20100106101235 text/html 5\nwhole"
    for data, reason, at in [
        (whole + cut, "truncated", len(whole)),
        (liar + whole, "bad-length", 0),
        (whole + open_end, "truncated", len(whole)),
    ]:
        read = Read(data)
        assert read.problems == [(reason, at)]
        assert ([uri for _, uri in read.uris], read.blocks) == (["http://e.org/a"], [b"whole"])


# No line feed between records: Heritrix, 2008

BINARY = [b"\x89PNG\r\n\x1a\n\0\0 \xff http://in.org/", b"text without its end", b"\xff\xd8\n\xe0\0"]


def tight(blocks=tuple(BINARY), *, wrong: int = 0, first: bytes = b"1 0 InternetArchive\nURL IP-address\n") -> bytes:
    """A plain ARC whose declared lengths are those of the blocks, with no line feed behind them; one may be `wrong`."""
    whole = b"filedesc://t.arc 0.0.0.0 20080430204825 text/plain %d\n" % len(first) + first
    for number, (url, block) in enumerate(zip(URLS, blocks, strict=True)):
        declared = len(block) + (wrong if number == 1 else 0)
        whole += f"{url} 192.0.2.1 20080430204826 image/png {declared}\n".encode() + block
    return whole


@pytest.mark.parametrize("held", [10, 1 << 20])
def test_records_that_follow_without_a_line_feed_are_read(monkeypatch, held):
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    data = tight()
    read = Read(data)
    assert read.problems == []
    assert [uri for _, uri in read.uris[1:]] == URLS
    assert read.blocks[1:] == BINARY
    offsets = [row[0] for row in read.rows]
    assert [row[1] for row in read.rows[1:]] == [
        end - at for at, end in zip(offsets[1:], [*offsets[2:], len(data)], strict=True)
    ]
    for offset, length, *_ in read.rows[1:]:
        assert Read(data[offset : offset + length], start=offset, part=True).rows[0][:2] == (offset, length)


def test_every_cut_of_a_file_without_line_feeds_is_reported():
    data = tight()
    rows = Read(data).rows
    ends = [row[0] for row in rows[1:]] + [len(data)]
    tight_from = rows[2][0] + rows[2][1]  # from then on the file has shown what it is
    for cut in range(ends[0] + 1, len(data)):
        read = Read(data[:cut])
        assert bool(read.problems) == (cut < tight_from or cut not in ends), cut


@pytest.mark.parametrize("wrong", [-9, -1, 1, 9, 40])
def test_wrong_length_in_a_file_without_line_feeds_loses_its_record_alone(wrong):
    blocks = [BINARY[0], BINARY[2] * 4, BINARY[1]]
    read = Read(tight(blocks, wrong=wrong))
    assert [reason for reason, _ in read.problems] == ["bad-length"]
    assert [uri for _, uri in read.uris[1:]] == [URLS[0], URLS[2]]
    assert read.blocks[1::2] == [BINARY[0]] if len(read.blocks) == 3 else True


@pytest.mark.parametrize("gap", [0, 1, -2])
@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_damaged_line_feed_between_records_loses_no_other_one(gap, flip):
    data = bytearray(plain(gap))
    second = data.index(URLS[1].encode())
    data[second - 1] ^= flip
    read = Read(bytes(data))
    assert [reason for reason, _ in read.problems] in (["bad-length"], [])
    assert [uri for _, uri in read.uris if "lie" not in uri][-2:] == URLS[1:]
    assert bool(read.problems) == (URLS[0] not in [uri for _, uri in read.uris])


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        (b"http://e.org/a b 192.0.2.1 20080430204826 text/html 5\n", True),
        (b"www.e.org/a 192.0.2.1 20080430204826 text/html 5\n", True),
        (b"redirect?u=http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", True),
        (b"http://a.org/?u=http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", True),
        ("http://e.org/\u6f22 192.0.2.1 20080430204826 text/html 5\n".encode(), True),
        (b"\0\x89 nothing 192.0.2.1 20080430204826 text/html 5\n", True),  # no good line is in it
        (b"\0\x89http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", False),
        (b"</html>http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", False),
        (b"\xff\xd8http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", False),
        (b"http:\0http://e.org/ 192.0.2.1 20080430204826 text/html 5\n", False),
    ],
)
def test_line_that_holds_other_bytes_before_a_good_one_is_no_beginning(line, starts):
    assert is_arc_start(line) is starts


@pytest.mark.parametrize("held", [10, 1 << 20])
@pytest.mark.parametrize("gap", [0, 1, -2])
@pytest.mark.parametrize("fill", [b"", b"\0", b"\xff"])
def test_damaged_url_line_loses_its_own_record_alone(monkeypatch, fill, gap, held):
    """What is damaged begins behind the line feed of the record before; something of the line is left."""
    monkeypatch.setattr("crawlmill.formats.runs.HELD", held)
    blocks = [PAGE + b"1", PAGE + b"2", PAGE + b"3"]
    data = plain(gap, blocks=blocks)
    second = data.index(URLS[1].encode())
    date = data.index(b"20100106101235", second) - second
    for count in range(1, date + 1):
        damaged = data[:second] + fill * count + data[second + count :]
        read = Read(damaged)
        given = dict(zip([uri for _, uri in read.uris], read.blocks, strict=True))
        assert given[URLS[0]] == blocks[0], count
        assert given[URLS[2]] == blocks[2], count
        # With its length and date the record may still be read, under what is left of its URL.
        assert [reason for reason, _ in read.problems] == ["bad-header"] * (4 - len(given)), count


@pytest.mark.parametrize("wrong", [-40, -9, 9, 40, 150, 9_999])
def test_neighbours_with_the_same_wrong_length_in_a_plain_file_are_each_reported(wrong):
    lines = [f"http://e.org/{n} 192.0.2.1 20100106101235 text/html " for n in range(5)]
    starts, data = [], plain(0)
    for n, line in enumerate(lines):
        starts.append(len(data) + 1)
        data += b"\n" + f"{line}{len(PAGE) + wrong * (n in (1, 2))}\n".encode() + PAGE
    read = Read(data + b"\n")
    assert read.problems == [("bad-length", starts[1]), ("bad-length", starts[2])]
    assert [uri for _, uri in read.uris][-3:] == ["http://e.org/0", "http://e.org/3", "http://e.org/4"]
