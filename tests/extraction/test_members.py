"""What is copied of a range, and what is said of one that is not: the bytes decide, and the listed URL."""

from __future__ import annotations

import gzip
from contextlib import closing

import pytest
import zstandard
from tests import builders

from crawlmill.errors import SourceError
from crawlmill.extraction import members, ranges
from crawlmill.extraction.listed import Listed, listed_of
from crawlmill.extraction.members import prove
from crawlmill.extraction.ranges import fetch_ranges
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ReadOptions
from crawlmill.storage import Storage

PAGE = builders.response("http://example.org/a", b"<html>page</html>")
MEMBER = builders.gzip_member(PAGE)


def of(data, tmp_path, *, url=None, offset=0, length=None, options=None):
    """What is proven of a range of a file of these bytes."""
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    length = len(data) - offset if length is None else length
    given = (
        f"{path}\t{offset}\t{length}"
        if url is None
        else f'org,example)/a 20260105100000 {{"url": "{url}", "filename": "{path}", "offset": "{offset}", "length": "{length}"}}'
    )
    item = Input(given, str(path), offset, length)
    with Storage() as storage:
        ((_, _, fetched),) = fetch_ranges([(0, item)], storage)
        return prove(item, listed_of(item), fetched, storage, options or ReadOptions())


def stored(proven):
    """The bytes of its members."""
    data = proven.data if isinstance(proven.data, bytes) else proven.data.seek(0) or proven.data.read()
    return [data[each.start : each.start + each.length] for each in proven.members]


@pytest.mark.parametrize("url", ["http://example.org/a", "https://www.Example.org:443/a/#top", None])
def test_a_member_of_the_listed_page_is_copied_as_it_is(tmp_path, url):
    proven = of(b"x" * 7 + MEMBER + b"y", tmp_path, url=url, offset=7, length=len(MEMBER))
    assert stored(proven) == [MEMBER]
    assert (proven.row.outcome, proven.row.format, proven.row.records, proven.row.bytes) == (
        "ok",
        "warc",
        1,
        len(MEMBER),
    )


def test_a_record_of_another_page_is_not_found(tmp_path):
    proven = of(MEMBER, tmp_path, url="http://example.org/b")
    assert not proven.members
    (problem,) = proven.row.problems
    assert (problem.reason, problem.expected, problem.actual) == (
        "not-found",
        "http://example.org/b",
        "http://example.org/a",
    )
    assert (proven.row.outcome, proven.row.records) == ("failed", 0)


def frame(content, dictionary=None):
    return zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True).compress(content)


def test_what_zstandard_frames_hold_is_copied_to_be_compressed_by_gzip(tmp_path):
    other = builders.response("http://example.org/b", b"<p>other</p>")
    dictionary = zstandard.ZstdCompressionDict(PAGE * 4, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    beginning = b"\x5d\x2a\x4d\x18" + (4 * len(PAGE)).to_bytes(4, "little") + PAGE * 4
    for head, frames in (
        (b"", [frame(PAGE), frame(other)]),
        (beginning, [frame(each, dictionary) for each in (PAGE, other)]),
    ):
        proven = of(head + b"".join(frames), tmp_path, url="http://example.org/a", offset=len(head))
        assert stored(proven) == [PAGE, other]
        assert all(each.is_plain and each.closing == b"" for each in proven.members)
        assert [each.lines[0].url for each in proven.members] == ["http://example.org/a", "http://example.org/b"]
        assert (proven.row.outcome, proven.row.records, proven.row.bytes) == ("ok", 2, len(b"".join(frames)))
        proven.close()


@pytest.mark.parametrize("has_sum", [True, False])
def test_a_frame_with_one_record_is_inflated_once_and_proven_as_by_its_reader(tmp_path, monkeypatch, has_sum):
    def compressed(content):
        return zstandard.ZstdCompressor(write_checksum=has_sum).compress(content)

    def seen(data):
        proven = of(data, tmp_path, url="http://example.org/a")
        first = proven.first
        lines = [line.text(Listed(), "x", 5, 8) for member in proven.members for line in member.lines]
        with closing(proven):
            return proven.row, stored(proven), first, lines

    whole = compressed(PAGE)
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    flipped = [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in range(0, len(whole), 3)]
    others = [
        whole + whole,
        whole + skippable,
        skippable + whole,
        compressed(builders.warcinfo()),
        compressed(b"no record"),
    ]
    for data in (whole, compressed(PAGE + b"\r\n"), whole[:-1], *others, *flipped):
        found = seen(data)
        with monkeypatch.context() as changed:
            changed.setattr(members, "_usual", lambda *_: None)
            assert found == seen(data)
    monkeypatch.setattr(members, "_read", None)
    assert seen(whole)[0].verified is has_sum
    assert seen(whole)[1] == [PAGE]


def test_of_damaged_frames_nothing_is_copied(tmp_path):
    whole = frame(PAGE)
    spoiled = bytearray(whole)
    spoiled[-1] ^= 1
    for data, reason in ((bytes(spoiled), "bad-checksum"), (whole[:-3], "truncated")):
        proven = of(data, tmp_path)
        assert not proven.members
        assert [problem.reason for problem in proven.row.problems] == [reason]


def test_each_flipped_bit_and_each_cut_is_found(tmp_path):
    for at in [*range(4), *range(10, len(MEMBER), 3)]:
        spoiled = bytearray(MEMBER)
        spoiled[at] ^= 0x10
        proven = of(bytes(spoiled), tmp_path, url="http://example.org/a")
        assert not proven.members, at
        assert proven.row.outcome == "failed", at
    for length in range(1, len(MEMBER), 7):
        proven = of(MEMBER, tmp_path, length=length)
        assert not proven.members
        assert proven.row.outcome == "failed"


@pytest.mark.parametrize("more", [-1, 1, 5000])
def test_a_range_that_is_not_where_its_member_is_is_not_copied(tmp_path, more):
    assert not of(MEMBER + MEMBER, tmp_path, length=len(MEMBER) + more).members
    assert not of(b"\0" * 9 + MEMBER, tmp_path, offset=9 + more, length=len(MEMBER)).members


def test_several_whole_members_are_copied_one_by_one(tmp_path):
    proven = of(MEMBER + builders.gzip_member(builders.metadata("http://example.org/a")), tmp_path)
    assert b"".join(stored(proven)) == (tmp_path / "x.warc.gz").read_bytes()
    assert [len(member.lines) for member in proven.members] == [1, 1]
    assert proven.row.records == 2


def test_a_plain_record_gets_the_line_ends_that_its_range_lacks(tmp_path):
    for length in (len(PAGE), len(PAGE) - 4):
        proven = of(PAGE + builders.warcinfo(), tmp_path, length=length)
        (member,) = proven.members
        assert member.is_plain
        assert stored(proven)[0] + member.closing == PAGE


def test_an_arc_record_is_known_as_one(tmp_path):
    data = builders.arc([("http://example.org/a", builders.http([], b"x"))])
    start = data.index(b"\x1f\x8b", 2)
    proven = of(data, tmp_path, url="http://example.org/a", offset=start)
    assert [member.is_arc for member in proven.members] == [True]
    assert proven.row.format == "arc"


def test_digests_are_checked_on_request(tmp_path):
    data = builders.gzip_member(PAGE.replace(b"page", b"PAGE"))
    assert of(data, tmp_path).members
    proven = of(data, tmp_path, options=ReadOptions(verify=True))
    assert not proven.members
    assert set(proven.row.lost) == {"bad-digest"}


def test_a_large_range_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(ranges, "MAX_HELD", 100)
    proven = of(MEMBER, tmp_path, url="http://example.org/a")
    assert not isinstance(proven.data, bytes)
    assert stored(proven) == [MEMBER]
    proven.close()
    assert proven.data.closed


def test_what_is_neither_warc_nor_arc_is_not_copied(tmp_path):
    assert not of(gzip.compress(b"hello", mtime=0), tmp_path).members
    assert not of(b"", tmp_path).members


def test_both_ways_of_reading_make_the_same_line(tmp_path, monkeypatch):
    page = builders.response("http://example.org/r", b"", [("Location", "/to")], status="HTTP/1.1 301 Moved")
    data = builders.gzip_member(page)
    given = '{"url": "http://example.org/r", "charset": "UTF-8", "languages": "eng", "recordid": "7", "filename": "f", "offset": 0, "length": 1}'
    listed = listed_of(Input(given, "f", 0, 1))
    usual = of(data, tmp_path).members[0].lines[0]
    monkeypatch.setattr(members, "inflate_whole", lambda _: None)
    slow = of(data, tmp_path).members[0].lines[0]
    line = slow.text(listed, "out.warc.gz", 12, 34)
    assert usual.text(listed, "out.warc.gz", 12, 34) == line
    assert line.endswith(
        '"length": "34", "offset": "12", "filename": "out.warc.gz", "charset": "UTF-8", "languages": "eng", "redirect": "http://example.org/to", "recordid": "7"}'
    )


def test_a_cdx_line_says_which_page_its_capture_is_of():
    given = "org,e)/ 20260105100000 http://e.org/ text/html 200 SHA - - 1043 812 x.gz"
    assert listed_of(Input(given, "x.gz", 812, 1043)) == Listed("http://e.org/", "org,e)/", "20260105100000")


class Broken:
    """Storage whose streams end with an error after so many bytes, so many times."""

    def __init__(self, storage, limit, times):
        self.storage, self.limit, self.times, self.opened = storage, limit, times, 0

    def open_stream(self, location, start=0, length=None):
        self.opened += 1
        stream = self.storage.open_stream(location, start, length)
        if self.opened > self.times:
            return stream
        left, read = self.limit, stream.read

        def limited(n):
            nonlocal left
            if left <= 0:
                raise SourceError("gone", reason="unavailable")
            piece = read(min(n, left))
            left -= len(piece)
            return piece

        stream.read = limited
        return stream


@pytest.mark.parametrize(("limit", "times", "lost"), [(250, 1, 1), (0, 1, 5), (150, 9, 2), (10**6, 9, 0)])
def test_after_a_broken_request_the_rest_is_asked_for_again(tmp_path, limit, times, lost):
    (tmp_path / "x").write_bytes(bytes(500))
    inputs = [(n, Input("x", str(tmp_path / "x"), n * 100, 100)) for n in range(5)]
    with Storage() as storage:
        found = list(fetch_ranges(inputs, Broken(storage, limit, times)))
    assert [n for n, _, _ in found] == [0, 1, 2, 3, 4]
    errors = [each for _, _, each in found if isinstance(each, SourceError)]
    assert len(errors) == lost
