"""Lines of usual records are those that the general way makes, which knows all forms; and usual records go no other way."""

from __future__ import annotations

import io
import random

import pytest
from tests.builders import gzip_member, record, response, warcinfo

from crawlmill.formats.archive import read_archive
from crawlmill.formats.warc import heads
from crawlmill.indexes.cdx.archive import ArchiveLines, IndexOptions, archive_captures
from crawlmill.indexes.cdx.lines import FORMATS

OPTIONS = IndexOptions()
LANGUAGES = (
    b'charset-detected: UTF-8\r\nlanguages-cld2: {"reliable":true,"text-bytes":9,"languages":[{"code":"no",'
    b'"code-iso-639-3":"nor","text-covered":0.5,"score":9.0,"name":"N"}]}\r\n'
)
URLS = ["http://example.org/a", "https://www.e.org:8080/%C3%A9?b&a", "http://1.2.3.4/", "<http://e.org/>", "dns:e.org", "http://e.org/ b", "http://\u00e4.org/"]  # fmt: skip
STATUSES = ["HTTP/1.1 200 OK", "HTTP/1.1 404", "HTTP/2 200 ", "HTTP/1.1 304 X", "HTTP/1.1 301 M", "HTTP/1.1 2000 M", "ICY 200", "HTTP 200", "HTTP/1.1  302 M"]  # fmt: skip
HEADERS = [
    ("Content-Type", "text/html; charset=utf-8"), ("content-type ", "A/b"), ("Content-Type", ""), ("Content-Type", ";x"),
    ("Content-Type", "a/b\x0bc"), ("Content-Type", "\u00e4/b"), ("Content-Type", "\r\n a/b"), ("Content-Type", 'a/"b\\'),
    ("Location", "/x"), ("LOCATION", "http://e.org/y "), ("Location", "http://[x/"), ("Location", "http://e.org/\r\n z"),
    ("X", "y" * 300), ("X", "y\r\n Content-Type: c/d"), ("X\r", "z"), ("X", "\r"), (":X", "y"), ("X", "\n"),
]  # fmt: skip
CHANGES = [
    (b"\r\nWARC-Date: ", b"\nWARC-Date: "), (b"WARC-Date", b"warc-date"), (b"WARC-Date: ", b"WARC-Date:\t"),
    (b"10:00:00Z", b"10:00:00.5Z"), (b"10:00:00Z", b"10:00"), (b"\r\n\r\n", b" \r\n\r\n"), (b"\r\nContent-Type", b" \r\nContent-Type"), (b"sha1:", b"sha1: "), (b"sha1:", b"md5:"),
    (b"WARC-Payload-Digest", b"WARC-Truncated: length\r\nWARC-Payload-Digest"), (b"sha1:", b"SHA-1:"),
    (b"WARC-Payload-Digest", b"X: y\r\n z\r\nWARC-Payload-Digest"), (b"WARC-Payload-Digest", b"X-Y"),
    (b"WARC-Payload-Digest", b"WARC-Identified-Payload-Type: a/b\r\nWARC-Payload-Digest"),
    (b"WARC-Payload-Digest", b"WARC-Payload-Digest: sha1:A\r\nWARC-Payload-Digest"), (b"WARC-Date", b"X: \xe4\r\nWARC-Date"),
    (b"WARC-Date", b"no field\r\nWARC-Date"), (b"WARC-Target-URI", b"WARC-Refers-To"), (b"WARC-Date", b"X:\r\nWARC-Date"),
    (b"application/http", b"Application/HTTP"), (b"application/http", b"text/plain"), (b"WARC/1.0", b"WARC/1.1"),
    (b"application/warc-fields", b"application/warc-fields;x"), (b"charset-detected:", b"charset-detected"),
    (b'"nor"', b'"n\\u006fr"'), (b"Content-Length: ", b"Content-Length: 0"), (b"WARC-Record-ID", b"WARC-Protocol: h2\r\nWARC-Record-ID"),
    (b"WARC-Date", b"WARC-Protocol: a\r\nWARC-Protocol: b\r\nWARC-Date"),
]  # fmt: skip


class Read:
    """The records of an archive in memory, with everything that is reported of them."""

    def __init__(self, data, **options):
        self.problems, self.cut, self.passed, self.given = [], 0, 0, 0
        self._data, self._options = data, {"types": OPTIONS.selection.types, **options}

    def __iter__(self):
        for each in read_archive(
            io.BytesIO(self._data), on_problem=self.lose, on_format=lambda _: None, on_left_out=self._left_out,
            **self._options,
        ):  # fmt: skip
            self.given += 1
            yield each

    def _left_out(self, records):
        self.passed += records

    def is_whole(self, each):
        each.block.drain()
        return True

    def lose(self, error, each=None):
        self.problems.append((error.reason, error.what, each.offset if each is not None else error.offset))


def usual(data, **options):
    """The lines on the way of the core in use, and what was read."""
    lines = ArchiveLines("x.gz", OPTIONS)
    read = Read(data, counter=lines.counter, **options)
    return b"".join(lines.of(read)).decode().split("\n")[:-1], read


def general(data, **options):
    """The lines on the way of any record."""
    read = Read(data, **options)
    captures = archive_captures(read, "x.gz", OPTIONS)
    return [FORMATS["cdxj"](each.urlkey, each.timestamp, each.fields) for each in captures], read


def page(number, **options):
    made = response(f"http://example.org/{number}", b"x" * 9, **options)
    return gzip_member(made), gzip_member(
        record("metadata", LANGUAGES, f"http://example.org/{number}", "application/warc-fields")
    )


def odd_archive(dice):
    """An archive of usual and odd records, now and then damaged."""
    members = [gzip_member(warcinfo())]
    for number in range(dice.randrange(1, 25)):
        url = dice.choice(URLS) if dice.random() < 0.3 else f"http://example.org/{number}"
        odd = [dice.choice(HEADERS) for _ in range(dice.randrange(4))] if dice.random() < 0.5 else HEADERS[:1]
        made = response(
            url, b"x" * dice.choice([0, 10, 9000]), headers=odd, kind=dice.choice(["response", "response", "revisit"]),
            status=dice.choice(STATUSES) if dice.random() < 0.3 else STATUSES[0],
        )  # fmt: skip
        made = made.replace(b"WARC-Date", b"WARC-Record-ID: <urn:%d>\r\nWARC-Date" % number, dice.randrange(2))
        named = dice.choice([(), (("WARC-Concurrent-To", f"<urn:{number}>"),), (("WARC-Refers-To", "<urn:1>"),)])
        group = [made, record("metadata", LANGUAGES, url, "application/warc-fields", fields=named)]
        group.insert(0, record("request", b"GET / HTTP/1.1\r\n\r\n", url, "application/http"))
        group = [each.replace(*dice.choice(CHANGES), 1) if dice.random() < 0.2 else each for each in group]
        dice.shuffle(group) if dice.random() < 0.1 else None
        members += [gzip_member(b"".join(group))] if dice.random() < 0.05 else map(gzip_member, group)
    data = bytearray(b"".join(members))
    for _ in range(dice.choice([0, 0, 1, 3])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data[: dice.randrange(len(data))] if dice.random() < 0.1 else data)


@pytest.mark.parametrize("heads_only", [False, True])
def test_lines_and_problems_are_those_of_the_general_way(heads_only):
    dice, lines = random.Random(heads_only), 0
    for _ in range(150):
        data = odd_archive(dice)
        (made, read), (wanted, proven) = usual(data, heads_only=heads_only), general(data, heads_only=heads_only)
        assert made == wanted
        assert read.problems == proven.problems
        assert read.given + read.passed == proven.given + proven.passed
        lines += len(made)
    assert lines > 1000


def test_usual_records_are_not_yielded_when_only_heads_are_read():
    data = gzip_member(warcinfo()) + b"".join(member for number in range(50) for member in page(number))
    lines, read = usual(data, heads_only=True)
    assert len(lines) == 50
    assert all(line.endswith('"charset": "UTF-8", "languages": "nor"}') for line in lines)
    assert read.passed > 97  # all but the warcinfo, the record that decides the format, and the last one


def test_a_record_is_yielded_now_and_then_so_that_lines_do_not_pile_up(monkeypatch, core):
    monkeypatch.setattr(heads, "_MAX_UNSEEN", 4000)
    data = gzip_member(warcinfo()) + b"".join(member for number in range(50) for member in page(number))
    lines, read = usual(data, heads_only=True)
    assert lines == general(data, heads_only=True)[0]
    assert read.given > (5 if core == "python" else 0)
