"""The text of input lists: every way in which a line may name an input, and what is no list."""

from __future__ import annotations

import gzip

import pytest
from tests import builders

from crawlmill.errors import UsageError
from crawlmill.inputs.list_lines import parse_line, read_entries
from crawlmill.ledger.input_lines import hint_for, may_be_location

CDX = '{"url": "http://e.org/", "filename": "crawl-data/x.warc.gz", "offset": "812", "length": "1043"}'


def entries(data: bytes, *, chunk: int = 1 << 20) -> list[tuple[str, str, int | None, int | None]]:
    chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]
    return [(e.given, e.location, e.offset, e.length) for e in read_entries(chunks, "x.paths")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a.warc.gz", ("a.warc.gz", None, None)),
        ("/data/sub dir/näh.warc.gz", ("/data/sub dir/näh.warc.gz", None, None)),
        ("s3://commoncrawl/a b.warc.gz", ("s3://commoncrawl/a b.warc.gz", None, None)),
        ("a.warc.gz\t0\t12", ("a.warc.gz", 0, 12)),
        ("a.warc.gz\t0\t0", ("a.warc.gz", 0, 0)),
        ("a.warc.gz\t812\t1043", ("a.warc.gz", 812, 1043)),
        (CDX, ("crawl-data/x.warc.gz", 812, 1043)),
        ('{"filename": "x", "offset": 5, "length": 6}', ("x", 5, 6)),
        ('{"filename": "x"}', ("x", None, None)),
        (f"org,e)/ 20260105100000 {CDX}", ("crawl-data/x.warc.gz", 812, 1043)),
        (f"org,e)/ 20260105100000123 {CDX}", ("crawl-data/x.warc.gz", 812, 1043)),
        ("org,e)/ 20260105100000 http://e.org/ text/html 200 SHA - - 1043 812 x.gz", ("x.gz", 812, 1043)),
        ("org,e)/ 20260105100000 http://e.org/ m 200 SHA - - 1043 812 x.gz - - -", ("x.gz", 812, 1043)),
        ("a 20260105100000 b c d e", ("a 20260105100000 b c d e", None, None)),
    ],
)
def test_line_of_each_form_names_file_offset_and_length(line, expected):
    assert parse_line(line) == expected


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("a\t1", "2 fields"),
        ("a\t1\t2\t3", "4 fields"),
        ("a\t-1\t2", "offset"),
        ("a\t1\tx", "length"),
        ("a\t1_0\t2", "offset"),
        ("a\t١\t2", "offset"),
        ('{"filename": "x", "offset": 1}', "length, got nothing"),
        ('{"filename": "x", "offset": true, "length": 1}', "offset"),
        ('{"filename": "x", "offset": 1.5, "length": 1}', "offset"),
        ('{"filename": "x", "offset": 1, "length": "9223372036854775808"}', "length"),
        ('{"offset": 1, "length": 1}', "filename"),
        ('{"filename": 7}', "filename"),
        ('{"filename": "x"', "delimiter"),
        ('{"a":' * 100_000, "nested"),
        ("org,e)/ 20260105100000 http://e.org/ text/html 200 SHA - 812 x.warc.gz", "it has no length"),
        ("org,e)/ 20260105100000 http://e.org/ text/html 200 SHA 1043", "it has no filename and no offset"),
    ],
)
def test_line_that_makes_no_sense_is_a_usage_error_with_list_and_line(line, word):
    with pytest.raises(UsageError, match=r"x\.paths, line 3: ") as caught:
        entries(f"# first\n\n{line}\n".encode())
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_list_with_comments_blank_lines_cr_lf_and_bom_gives_the_other_lines():
    data = b"\xef\xbb\xbf# a comment\r\n\r\n  \r\na.warc.gz\r\n  # indented\r\n b.warc.gz \r\nc.warc.gz"
    assert [given for given, *_ in entries(data)] == ["a.warc.gz", "b.warc.gz", "c.warc.gz"]


def test_headers_of_an_index_name_nothing():
    cdx = "org,e)/ 20260105100000 http://e.org/ m 200 SHA - - 1043 812 x.gz"
    data = f' CDX N b a m s k r M S V g\n!meta {{"format": "cdx"}}\n{cdx}\n!x.gz\n'.encode()
    assert [given for given, *_ in entries(data)] == [cdx, "!x.gz"]


def test_list_with_a_bom_before_a_location_loses_the_bom():
    assert entries(b"\xef\xbb\xbfa.warc.gz\n")[0][:2] == ("a.warc.gz", "a.warc.gz")


def test_list_with_odd_line_ends_inside_a_name_cuts_at_line_feeds_only():
    assert [given for given, *_ in entries("a\u2028b\x0bc\x85d\nx\n".encode())] == ["a\u2028b\x0bc\x85d", "x"]


def test_name_that_is_no_utf8_survives_as_surrogates():
    given, location, *_ = entries(b"caf\xe9.warc.gz\n")[0]
    assert given == location
    assert location.encode("utf-8", "surrogateescape") == b"caf\xe9.warc.gz"


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 4096])
def test_gzip_list_of_several_members_in_chunks_of_any_size_is_one_list(chunk):
    data = gzip.compress(b"a\nb", mtime=0) + gzip.compress(b"c\n# x\nd", mtime=0) + b"\0" * 20
    assert [given for given, *_ in entries(data, chunk=chunk)] == ["a", "bc", "d"]


def test_gzip_list_cut_anywhere_is_a_usage_error_or_an_empty_list():
    data = gzip.compress(b"a\nb\n" * 50, mtime=0)
    for end in range(2, len(data)):
        with pytest.raises(UsageError, match="cut short"):
            entries(data[:end])


def test_gzip_list_with_a_wrong_checksum_is_a_usage_error():
    data = bytearray(gzip.compress(b"a\nb\n", mtime=0))
    data[-6] ^= 1
    with pytest.raises(UsageError, match="damaged"):
        entries(bytes(data))


def test_csv_list_takes_its_columns_in_any_order_and_keeps_each_row_as_given():
    data = (
        b'url,"warc_record_length",warc_record_offset,x,warc_filename\r\n'
        b'"http://e.org/?a=1,2",1043,812,,crawl-data/x.warc.gz\r\n\r\n'
        b'"a\nb",7,8,"q""q","crawl-data/y.warc.gz"\r\n'
    )
    assert entries(data) == [
        ('"http://e.org/?a=1,2",1043,812,,crawl-data/x.warc.gz', "crawl-data/x.warc.gz", 812, 1043),
        ('"a\nb",7,8,"q""q","crawl-data/y.warc.gz"', "crawl-data/y.warc.gz", 8, 7),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"warc_filename,warc_record_offset\nx,1\n", "line 1: the CSV header lacks warc_record_length"),
        (b"warc_filename,warc_record_offset,warc_record_length\nx,1\n", "line 2: expected at least 3 fields, got 2"),
        (b"# c\nwarc_filename,warc_record_offset,warc_record_length\nx,1,2\nx,one,2\n", "line 4: .*offset"),
        (b'warc_filename,warc_record_offset,warc_record_length\n"x"y,1,2\n', "line 2: "),
    ],
)
def test_csv_list_with_a_mistake_is_a_usage_error_with_its_line(data, message):
    with pytest.raises(UsageError, match=message):
        entries(data)


def test_file_named_warc_filename_is_no_csv_header():
    assert entries(b"warc_filename.warc.gz\n")[0][1] == "warc_filename.warc.gz"


@pytest.mark.parametrize(
    "data",
    [
        builders.pack(builders.pages(1)),
        b"".join(builders.pages(1)),
        builders.pack([builders.conversion("http://e.org/", "text")]),
        builders.arc([("http://e.org/", b"HTTP/1.1 200 OK\r\n\r\n")]),
        gzip.decompress(builders.arc([("http://e.org/", b"HTTP/1.1 200 OK\r\n\r\n")])),
        b"SEQ\x06\x19org.apache.hadoop.io.Text" + bytes(40),
    ],
    ids=["warc.gz", "warc", "wet.gz", "arc.gz", "arc", "sequencefile"],
)
def test_crawl_file_given_as_a_list_is_a_usage_error_that_says_what_to_do(data):
    with pytest.raises(UsageError, match=r"x\.paths is a crawl file .*, not an input list: .*echo x\.paths \| python"):
        entries(data)


@pytest.mark.parametrize("data", [b"a\0b\n", b"<!DOCTYPE html><title>404</title>", b"  <?xml version='1.0'?><Error>"])
def test_bytes_that_are_no_text_or_a_web_page_are_no_list(data):
    with pytest.raises(UsageError, match="not an input list"):
        entries(data)


def test_endless_line_is_no_list():
    with pytest.raises(UsageError, match="a line of more than"):
        list(read_entries((b"x" * 65536 for _ in range(1000)), "x.paths"))


@pytest.mark.parametrize("data", [b"", b"\n", b"# only this\n", gzip.compress(b"", mtime=0)])
def test_list_that_names_nothing_gives_nothing(data):
    assert entries(data) == []


def test_words_and_sentences_are_no_locations():
    for line in ("myhost", "root:x:0:0:root:/root:/bin/bash", "To be or not to be"):
        assert not may_be_location(line)
    for line in ("x.warc.gz", "crawl-data/x", "metadata-00000", "/x y", "https://e.org/a b", "{", "x1\t0\t5"):
        assert may_be_location(line)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("f0.warc.gz 0 400", "tabs"),
        ("f0.warc.gz\t0 400", "tabs"),
        ("f0.warc.gz\t0\t400", None),
        ('"f0.warc.gz"', "quotes"),
        ("'f0.warc.gz'", "quotes"),
        ("~/f0.warc.gz", "~"),
        ("segments/*/warc/*.gz", "patterns"),
        ("f[01].warc.gz", "patterns"),
        ("f{0,1}.warc.gz", "patterns"),
        ("plain", None),
        ("https://e.org/?x=1", None),
        ("a b.warc.gz", None),
        ('org,e)/ 20260105100000 {"url": "http://e.org/?x=1", "filename": "x"}', None),
        ('{"url": "http://e.org/?x=1", "filename": "x"}', None),
    ],
)
def test_line_that_names_nothing_gets_a_hint_where_its_writing_says_why(line, word):
    hint = hint_for(line)
    assert (hint is None) == (word is None)
    assert word is None or word in hint
