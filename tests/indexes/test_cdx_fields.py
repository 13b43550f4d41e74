"""What an index says of records: expected values are worked out by hand from the records."""

from __future__ import annotations

import io
import json
import random

import pytest
from tests.builders import gzip_member, http, pack, record, response, sha1_of, warcinfo
from tests.data import shared

import crawlmill.core
from crawlmill.errors import UsageError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.indexes.cdx.archive import ALL_TYPES, ArchiveLines, IndexOptions, archive_captures
from crawlmill.indexes.cdx.lines import FORMATS
from crawlmill.indexes.cdx.names import file_name

URI = "http://example.org/a/b"


class Read:
    """The records of an archive in memory."""

    def __init__(self, data, **options):
        self.problems, self._data, self._options = [], data, options

    def __iter__(self):
        return read_archive(
            io.BytesIO(self._data), on_problem=self.problems.append, on_format=lambda _: None, **self._options
        )

    def is_whole(self, record):
        record.block.drain()
        return True

    def lose(self, error, record):
        self.problems.append(error.located(offset=record.offset))


def lines_of(data, name, **options):
    """The lines of an archive, on the way that a job takes."""
    lines = ArchiveLines(name, IndexOptions(**options))
    types = IndexOptions(**options).selection.types
    return b"".join(lines.of(Read(data, counter=lines.counter, types=types))).decode().split("\n")[:-1]


def fields_of(made, *, data=None, **options):
    read = Read(data or gzip_member(made))
    captures = list(archive_captures(read, "x.warc.gz", IndexOptions(**options)))
    assert read.problems == []
    return captures[0].fields


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-01-05T10:00:09Z", "20260105100009"),
        ("2026-01-05T10:00:09.123456Z", "20260105100009"),
        ("2026-01-05T10:00Z", "20260105100000"),
        ("2026-01-05", "20260105000000"),
        ("2026-01", "20260101000000"),
        ("2026", "20260101000000"),
        ("20260105100009", "20260105100009"),
        ("20260105100009123", "20260105100009"),
        ("202601051000", "20260105100000"),
        ("2026-01-05T10:00:09", "20260105100009"),
        ("2026-01-05T00:30:00+01:00", "20260104233000"),
        ("0001-01-01T00:00:00+01:00", None),
        ("00000000000000", "00000000000000"),
        ("Mon, 05 Jan 2026", None),
        ("2026-01-05T10:00:0٩Z", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_become_14_digits(date, expected):
    assert timestamp_of(date) == expected


@pytest.mark.parametrize(
    ("status", "location", "expected"),
    [
        ("301 Moved", "/there?x=1#f", "http://example.org/there?x=1#f"),
        ("302 Found", "https://Example.COM/Abs", "https://Example.COM/Abs"),
        ("307 Temporary", "../up", "http://example.org/up"),
        ("308 Permanent", "//cdn.example.net/y", "http://cdn.example.net/y"),
        ("303 See Other", "?p=2", "http://example.org/a/b?p=2"),
        ("301 Moved", "c d/\u00e9", "http://example.org/a/c d/\u00e9"),
        ("301 Moved", "", None),
        ("301 Moved", "http://[::1/", None),
        ("301 Moved", "//[x", None),
        ("304 Not Modified", "/x", None),
        ("200 OK", "/x", None),
        ("404 Not Found", "/x", None),
    ],
)
def test_redirects_are_resolved(status, location, expected):
    fields = fields_of(response(URI, headers=[("Location", location)], status=f"HTTP/1.1 {status}"))
    assert fields.get("redirect") == expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("text/html; charset=x", "text/html"),
        ("Text/HTML ;charset=x", "Text/HTML"),
        ("text/html charset=x", "text/html"),
        ("", "unk"),
        (";x", "unk"),
        (None, "unk"),
    ],
)
def test_media_types_are_as_sent(content_type, expected):
    headers = [] if content_type is None else [("Content-Type", content_type)]
    assert fields_of(response(URI, headers=headers))["mime"] == expected


def test_digests_are_computed_where_there_are_none():
    block = http([("Transfer-Encoding", "chunked")], b"3\r\nabc\r\n0\r\n\r\n")
    made = record("response", block, URI, "application/http; msgtype=response")
    assert "sha1:" + fields_of(made)["digest"] == sha1_of(b"3\r\nabc\r\n0\r\n\r\n")
    made = record("resource", b"\x89PNG", URI, "image/png")
    assert "sha1:" + fields_of(made)["digest"] == sha1_of(b"\x89PNG")
    made = record("resource", b"\x89PNG", URI, "image/png", fields=(("WARC-Block-Digest", "sha1:SAID"),))
    assert fields_of(made)["digest"] == "SAID"
    made = record("response", block, URI, "application/http", fields=(("WARC-Payload-Digest", "sha256:abc"),))
    assert fields_of(made)["digest"] == "sha256:abc"
    made = record("revisit", http([]), URI, "application/http; msgtype=response")
    assert "digest" not in fields_of(made)  # that of the original is not known
    # One empty line too many, as in August 2018: Content-Length tells that it is no part of the payload.
    made = record("response", http([("Content-Length", "3")], b"\r\nabc"), URI, "application/http; msgtype=response")
    assert "sha1:" + fields_of(made)["digest"] == sha1_of(b"abc")


def test_a_response_that_is_not_http_has_its_own_type():
    made = record("response", b"20260105100000\n1.2.3.4", "dns:example.org", "text/dns")
    read = Read(pack([made]))
    [capture] = archive_captures(read, "x")
    assert (capture.urlkey, capture.fields["mime"], "status" in capture.fields) == (
        "dns:example.org",
        "text/dns",
        False,
    )


def test_a_response_without_a_status_line_is_a_capture_without_a_status():
    made = record("response", b"<html>", URI, "application/http; msgtype=response")
    fields = fields_of(made)
    assert fields["mime"] == "unk"
    assert "status" not in fields


def test_length_in_a_plain_file_counts_the_closing_line_ends():
    made = response(URI, b"abc")
    plain = fields_of(made, data=warcinfo() + made)
    assert (plain["offset"], plain["length"]) == (str(len(warcinfo())), str(len(made)))
    packed = fields_of(made)
    assert packed["length"] == str(len(gzip_member(made)))


def test_records_of_one_member_all_have_a_line():
    data = gzip_member(b"".join([warcinfo(), response(URI + "1"), response(URI + "2")]))
    captures = list(archive_captures(Read(data), "x"))
    assert [(each.fields["url"], each.fields["offset"], each.fields["length"]) for each in captures] == [
        (URI + "1", "0", str(len(data))),
        (URI + "2", "0", str(len(data))),
    ]


def test_a_record_without_url_or_date_costs_no_other():
    undated = response(URI).replace(b"WARC-Date: 2026-01-05T10:00:00Z", b"WARC-Date: yesterday", 1)
    nameless = record("response", http([]), None, "application/http")
    about_file = record("metadata", b"x: y", None, "application/warc-fields")
    read = Read(pack([undated, nameless, about_file, response(URI + "5")]))
    captures = list(archive_captures(read, "x", IndexOptions(ALL_TYPES)))
    assert [each.fields["url"] for each in captures] == [URI + "5"]
    assert [(each.reason, each.what) for each in read.problems] == [
        ("bad-header", "a record without a date cannot be indexed"),
        ("bad-header", "a record without a WARC-Target-URI cannot be indexed"),
    ]


def test_extra_fields_come_last():
    made = response(URI, headers=[("Last-Modified", "Sat, 04 May 2024 01:58:10 +0100")], status="HTTP/1.1 301 M")
    made = made.replace(b"<urn:test:", b"<urn:uuid:", 1)
    fields = fields_of(made, extra=("recordid", "last-modified"))
    assert list(fields)[-2:] == ["recordid", "last-modified"]
    assert fields["last-modified"] == "20240504005810"
    assert len(fields["recordid"]) == 32
    odd = response(URI, headers=[("Last-Modified", "never")])
    assert "last-modified" not in fields_of(odd, extra=("last-modified",))


FIELDS = {
    "url": "http://example.org/a b",
    "mime": "text/html",
    "status": "200",
    "digest": "ABC",
    "length": "10",
    "offset": "5",
    "filename": "d ir/\u00e9.warc.gz",
    "redirect": "http://example.org/\u00e9",
}


def test_lines_of_each_format():
    start = "org,example)/a%20b 20260105100000 "
    made = {name: line("org,example)/a%20b", "20260105100000", FIELDS) for name, line in FORMATS.items()}
    assert made["cdxj"].startswith(start + '{"url": "http://example.org/a b", "mime": ')
    assert made["cdxj"].isascii()
    assert json.loads(made["cdxj"][len(start) :]) == FIELDS
    columns = "http://example.org/a%20b text/html 200 ABC http://example.org/%c3%a9"
    assert made["cdx11"] == f"{start}{columns} - 10 5 d%20ir/%c3%a9.warc.gz"
    assert made["cdx9"] == f"{start}{columns} 5 d%20ir/%c3%a9.warc.gz"


@pytest.mark.parametrize(
    ("location", "root", "prefix", "expected"),
    [
        ("/data/x.warc.gz", None, None, "/data/x.warc.gz"),
        ("s3://commoncrawl/crawl-data/CC/x.warc.gz", None, None, "crawl-data/CC/x.warc.gz"),
        ("crawl-data/CC/x.warc.gz", None, "s3://b/", "s3://b/crawl-data/CC/x.warc.gz"),
        ("mycrawl-data/x.warc.gz", None, None, "mycrawl-data/x.warc.gz"),
        ("/data/x.warc.gz", None, "s3://b/", "s3://b/x.warc.gz"),
        ("sub/x.warc.gz", None, "s3://b/", "s3://b/sub/x.warc.gz"),
        ("https://h/d/x.warc.gz", None, "p/", "p/x.warc.gz"),
        ("/data/d/x.warc.gz", "/data", None, "d/x.warc.gz"),
        ("/data/d/x.warc.gz", "/data/", None, "d/x.warc.gz"),
        ("s3://b/d/crawl-data/x.warc.gz", "s3://b/d", None, "crawl-data/x.warc.gz"),
    ],
)
def test_names_of_files(location, root, prefix, expected):
    assert file_name(location, root=root, prefix=prefix) == expected


@pytest.mark.parametrize(("location", "root"), [("/data2/x", "/data"), ("s3://a/x", "s3://b"), ("/x", "s3://b")])
def test_a_file_that_is_not_below_the_root(location, root):
    with pytest.raises(UsageError, match="not below"):
        file_name(location, root=root)


def test_the_line_of_a_page_of_common_crawl():
    data = shared("commoncrawl/whirlwind.warc.gz").read_bytes()
    [line] = lines_of(data, "whirlwind.warc.gz")
    assert line == (
        'org,wikipedia,an)/wiki/escopete 20240518015810 {"url": "https://an.wikipedia.org/wiki/Escopete", '
        '"mime": "text/html", "mime-detected": "text/html", "status": "200", '
        '"digest": "RY7PLBUFQNI2FFV5FTUQK72W6SNPXLQU", "length": "17351", "offset": "1023", '
        '"filename": "whirlwind.warc.gz", "charset": "UTF-8", "languages": "spa"}'
    )


def test_captures_of_a_real_crawl_are_those_that_pywb_found():
    wanted = []
    for line in shared("archives/iana.cdxj").read_text().splitlines():
        key, timestamp, fields = line.split(" ", 2)
        fields = json.loads(fields)
        wanted.append((key, timestamp, *(fields[name] for name in ("url", "mime", "digest", "length", "offset"))))
    found = archive_captures(Read(shared("archives/iana.warc.gz").read_bytes()), "iana.warc.gz")
    assert sorted(wanted) == sorted(
        (each.urlkey, each.timestamp, *(each.fields[name] for name in ("url", "mime", "digest", "length", "offset")))
        for each in found
    )


def test_a_wat_record_has_the_date_of_the_page_that_it_describes():
    def wat(uri, **header):
        block = json.dumps({"Container": {}, "Envelope": {"WARC-Header-Metadata": header}}).encode()
        return record("metadata", block, uri, "application/json")

    about_file = wat("CC.warc.gz", **{"WARC-Type": "warcinfo", "WARC-Date": "2020-01-01T00:00:00Z"})
    page = wat(URI, **{"WARC-Type": "response", "WARC-Date": "2020-01-02T03:04:05Z"})
    odd = record("metadata", b'{"Envelope": []}', URI, "application/json")
    captures = list(archive_captures(Read(pack([about_file, page, odd])), "x", IndexOptions(frozenset({"metadata"}))))
    assert [each.timestamp for each in captures] == ["20200102030405", "20260105100000"]


def test_captures_of_the_wat_and_wet_of_common_crawl():
    # Both are of the page whose response record is of this second.
    for name, kind, mime in (("wat", "metadata", "application/json"), ("wet", "conversion", "text/plain")):
        data = shared(f"commoncrawl/whirlwind.warc.{name}.gz").read_bytes()
        [capture] = archive_captures(Read(data), "x", IndexOptions(frozenset({kind})))
        assert (capture.urlkey, capture.timestamp) == ("org,wikipedia,an)/wiki/escopete", "20240518015810")
        assert capture.fields["mime"] == mime


@pytest.mark.parametrize(
    "made",
    [
        response(URI, b"x"),
        response(URI, headers=[("Content-Type", 'a/"b\\c"; d')]),
        response("http://example.org/\"'<>?x={}&b"),
        response("http://ex\u00e4mple.org/"),
        response(URI, status="HTTP/1.1 301 M", headers=[("Location", "http://e.org/")]),
        response(URI, status="HTTP/1.1 301 M", headers=[("Location", "/x")]),
        response(URI, status="HTTP/1.1 2000 M"),
        response(URI, status="http/1.1 404"),
        response(URI, headers=[("Content-Type", "\u00e4/b")]),
        response(URI, headers=[("content-TYPE ", "a/b"), ("Content-Type", "c/d")]),
        response(URI, headers=[("X", "y" * 5000), ("Content-Type", "c/d")]),
        response(URI, kind="revisit"),
        response(URI, version="1.1", eol=b"\n"),
        response(URI).replace(b"sha1:", b"sha1: ", 1),
        response(URI).replace(b"sha1:", b"md5:", 1),
        response(URI).replace(b"WARC-Payload-Digest", b"WARC-Truncated: length\r\nWARC-Payload-Digest"),
        response(URI).replace(b"WARC-Payload-Digest", b"WARC-Truncated: \r\nWARC-Payload-Digest"),
        response(URI).replace(b"WARC-Payload-Digest", b"X: y\r\n z\r\nWARC-Payload-Digest"),
        response(URI).replace(b"WARC-Payload-Digest", b"WARC-Identified-Payload-Type: a/b\r\nWARC-Payload-Digest"),
        response(URI).replace(b"WARC-Target-URI: " + URI.encode(), b"WARC-Target-URI: <" + URI.encode() + b">"),
        response(URI).replace(b"10:00:00Z", b"10:00:00.5Z"),
        record("response", b"x", "dns:e.org", "text/dns", fields=(("WARC-Payload-Digest", "sha1:A"),)),
    ],
    ids=range(22),
)
def test_lines_are_those_of_the_fields_whatever_makes_them(made):
    about = b'charset-detected: UTF-8\r\nlanguages-cld2: {"reliable":true,"text-bytes":9,"languages":[]}\r\n'
    data = pack([made, record("metadata", about, URI, "application/warc-fields")])
    captures = archive_captures(Read(data), "x \u00e4.gz")
    wanted = [FORMATS["cdxj"](each.urlkey, each.timestamp, each.fields) for each in captures]
    assert lines_of(data, "x \u00e4.gz") == wanted
    assert len(wanted) == 1


def about(uri, languages, **ids):
    """A metadata record of the crawler."""
    block = (
        f'charset-detected: UTF-8\r\nlanguages-cld2: {{"reliable":true,"text-bytes":9,"languages":[{languages}]}}\r\n'
    )
    fields = tuple((f"WARC-{name.replace('_', '-')}", value) for name, value in ids.items())
    return record("metadata", block.encode(), uri, "application/warc-fields", fields=fields)


NORWEGIAN = '{"code":"no","code-iso-639-3":"nor","text-covered":0.5,"score":9.0,"name":"N"}'


@pytest.mark.parametrize(
    ("codes", "named"),
    [(["", "nor"], ', "languages": "nor"'), ([""], ""), (["a", "", "b", "c"], ', "languages": "a,b"')],
)
def test_a_language_without_a_code_is_none(codes, named):
    languages = ",".join(NORWEGIAN.replace("nor", code) for code in codes)
    [line] = lines_of(pack([response(URI, b"x"), about(URI, languages)]), "x")
    assert line.endswith(f', "charset": "UTF-8"{named}}}')


def test_any_mixture_of_records_has_the_same_lines_on_either_core(monkeypatch):
    dice = random.Random(4)
    for _ in range(30):
        records, pages = [warcinfo()], 0
        for _ in range(dice.randrange(1, 90)):
            number = pages = pages + 1
            uri = dice.choice(
                [f"http://example.org/{number}", f"http://ex\u00e4mple.org/{number}", f"http://10.0.0.1/{number}", URI]
            )
            page = response(
                uri, b"x" * dice.choice([0, 10, 9000]), kind=dice.choice(["response", "response", "revisit"])
            )
            page = (
                page.replace(b"WARC-Date", f"WARC-Record-ID: <urn:{number}>\r\nWARC-Date".encode(), 1)
                if dice.random() < 0.9
                else page
            )
            if dice.random() < 0.1:
                page = page.replace(b"sha1:", b"md5:", 1)
            said = dice.choice(
                [{}, {"Refers_To": f"<urn:{number}>"}, {"Concurrent_To": f"<urn:{number - dice.randrange(40)}>"}]
            )
            meta = about(dice.choice([uri, URI]), dice.choice(["", NORWEGIAN, '{"odd":1}']), **said)
            group = dice.choice(
                [[page], [page, meta], [meta, page], [page, record("request", b"GET", uri, "application/http"), meta]]
            )
            records += group
        data = pack(records)
        made = {}
        for core in ("python", "native"):
            monkeypatch.setenv("CRAWLMILL_CORE", core)
            crawlmill.core.native.cache_clear()
            made[core] = lines_of(data, "x", types=frozenset(dice.choice([["response", "revisit", "resource"]])))
        crawlmill.core.native.cache_clear()
        assert made["python"] == made["native"]
        assert len(made["native"]) == pages
