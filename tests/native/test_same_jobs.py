"""The counting jobs give the same with either core, whatever the records look like: counts, ledger rows, problems."""

from __future__ import annotations

import gzip
import importlib.util
import random
import sys
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import conversion, gzip_member, http, metadata, pack, record, request, response, warcinfo
from tests.data import shared
from tests.mr.helpers import PROJECT
from tests.native.cores import using
from tests.native.test_same_reading import HOSTILE, mutated, mutations

from crawlmill import core
from crawlmill.formats.payload.encodings import _LABELS
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage

pytest.importorskip("crawlmill_native", reason="the native core is not installed")


def job_class(name: str):
    """The class of a job's script, loaded as its own module."""
    spec = importlib.util.spec_from_file_location(name, PROJECT / "jobs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return getattr(module, name.title().replace("_", ""))


JOBS = {
    "tags": job_class("tag_count")(["-r", "inline"]),
    "words": job_class("word_count")(["-r", "inline", "--document-frequency"]),
    "servers": job_class("server_count")(["-r", "inline"]),
}


USUALLY = ReadOptions()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("same") / "x.gz"


def counted(job, file, options=USUALLY):
    """(sums by key, ledger row, records that came to Python) of a job over a file."""
    job.mapper_init()
    given = []

    class Noted(Reading):
        def __iter__(self):
            for found in super().__iter__():
                given.append(found.offset)
                yield found

    selection = Selection(frozenset(job.formats), frozenset(job.types))
    reading = Noted(Input("x", str(file)), Storage(), options, selection)
    sums = {}
    for key, value in [*job.read(reading), *job.mapper_final()]:
        numbers = value if isinstance(value, list) else [value]
        sums[key] = [a + b for a, b in zip(sums.get(key, [0, 0]), numbers, strict=False)]
    return sums, reading.row.to_json(), len(given)


def both(job, file, data, options=USUALLY):
    """What Python counts, after it was compared; and how many records came to Python on the native core."""
    file.write_bytes(data)
    found = []
    for name in ("python", "native"):
        with using(name):
            found.append(counted(JOBS[job], file, options))
    (sums, row, _), (native_sums, native_row, given) = found
    assert native_sums == sums
    assert native_row == row
    return sums, row, given


def page(body: bytes, *headers: tuple[str, str], kind: str = "text/html") -> bytes:
    return response("http://example.org/", body, [("Content-Type", kind), ("Server", "a"), *headers])


def block(content: bytes, kind: str = "response", content_type: str | None = "application/http") -> bytes:
    return record(kind, content, "http://example.org/", content_type)


def chunked(body: bytes, *sizes: int, end: bytes = b"0\r\n\r\n") -> bytes:
    parts, at = [], 0
    for size in sizes:
        parts.append(f"{size:X}\r\n".encode() + body[at : at + size] + b"\r\n")
        at += size
    return b"".join(parts) + f"{len(body) - at:x}\r\n".encode() + body[at:] + b"\r\n" + end


BODY = b"<html><meta name=x><p title='<b>'>one</p><P>two<script>'<i>'</script><my-tag/><td\xe9>" * 20
JAPANESE = "<p>日本<b>語</b>のページ<i>です".encode("iso-2022-jp")
GZIPPED = gzip.compress(BODY, mtime=0)
TE, CE = "Transfer-Encoding", "Content-Encoding"
WAT_HEAD = '{"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata":{"Headers":{'
WAT_TAIL = '}}},"WARC-Header-Metadata":{"WARC-Type":"response"}}}'


def wat(headers: str, content_type: str = "application/json") -> bytes:
    return record("metadata", f"{WAT_HEAD}{headers}{WAT_TAIL}".encode(), "http://x/", content_type)


USUAL = {
    "a page": page(BODY, kind="text/html; charset=UTF-8"),
    "no charset": page(BODY),
    "a mark of UTF-8": page(b"\xef\xbb\xbf" + BODY),
    "XHTML": page(BODY, kind="Application/XHTML+XML ; charset='koi8-r' ; x=y"),
    "no HTML": page(BODY, kind="text/plain; charset=utf-16"),
    "two types": page(BODY, kind="text/html, text/plain"),
    "two Content-Types": page(BODY, ("content-type", "text/plain")),
    "no Content-Type": response("http://x/", BODY, [("X", "y")]),
    "no headers": block(b"HTTP/1.1 200 OK\r\n\r\n" + BODY),
    "no body": page(b""),
    "year 2022": page(b"<meta name=2022>iso-2021-2022" + BODY),
    "two servers": page(BODY, ("Server", " b "), ("SERVER\t", "a"), ("server", "")),
    "no server": response("http://x/", BODY, [("Content-Type", "text/html"), ("Servers", "x"), ("X", "Server: y")]),
    "a server in UTF-8": block("HTTP/2 200\r\nServer: Grüße \r\n\r\n".encode()),
    "no HTTP at all": block(b"<html>", content_type="text/dns"),
    "no HTTP, no type": block(b"<html>", content_type=None),
}  # fmt: skip
ODD = {
    "UTF-16 by its mark": page("\ufeff<p>ä<b>".encode("utf-16-le")),
    "UTF-16, big, by its mark": page("\ufeff<p>ä<b>\U0001f600".encode("utf-16-be"), kind="text/html; charset=utf-8"),
    "UTF-16 by its declaration": page("<?xml encoding='utf-16'?><p>".encode("utf-16-le")),
    "UTF-16 by its header": page("<p>ä<\udc00b><i>".encode("utf-16-be", "surrogatepass"), kind="text/html;charset=UTF-16BE"),
    "UTF-16 of odd length": page("<p>ä<b>".encode("utf-16-le") + b"<", kind="text/html; charset=utf-16"),
    "UTF-16 with two marks": page("\ufeff\ufeff<p>".encode("utf-16-le"), kind="text/html; charset=utf-16le"),
    "UTF-16 with the other mark": page("\ufffe<p>ab".encode("utf-16-le"), kind="text/html; charset=utf-16le"),
    "UTF-16 tag with a letter": page("<pä><P\0>".encode("utf-16-le"), kind="text/html; charset=utf-16le"),
    "ISO-2022-JP by its header": page(JAPANESE, kind="text/html; charset=iso-2022-jp"),
    "ISO-2022-JP by its declaration": page(b"<meta charset='ISO-2022-JP'>" + JAPANESE),
    "ISO-2022-JP by another label": page(b"<meta charset='csISO2022JP'>" + JAPANESE),
    "ISO-2022-JP late": page(b"x" * 8180 + b"<meta charset=iso-2022-jp>" + JAPANESE),
    "ISO-2022-JP in text": page(b"<p>iso-2022-jp" + JAPANESE),
    "ISO-2022-JP in a tag": page(b"<p\x1b$B&A\x1b(B><b>", kind="text/html; charset=iso-2022-jp"),
    "ISO-2022-JP with katakana": page(JAPANESE + b"\x1b(I<p>\x1b(B<b>\x1b(J<\\>", kind="text/html; charset=iso-2022-jp"),
    "ISO-2022-JP, cut": page(JAPANESE[:-7], kind="text/html; charset=iso-2022-jp"),
    "ISO-2022-JP with half a pair": page(b"<p>\x1b$B<b>\x1b(B<i>", kind="text/html; charset=iso-2022-jp"),
    "ISO-2022-JP with bit 8": page(JAPANESE + b"\xe9<u>", kind="text/html; charset=iso-2022-jp"),
    "a header of 100 KiB": block(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "a header without an end": block(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: " + b"x" * 1_100_000 + BODY),
    "chunked": page(chunked(BODY, 100, 7), (TE, "chunked")),
    "chunked, one chunk": page(chunked(BODY), (TE, "Chunked")),
    "chunked with extensions": page(b"5;a=b\r\n<p><i\r\n0\r\nX: y\r\n\r\n", (TE, "chunked")),
    "chunked with zeros and blanks": page(b" 0005 \r\n<p><i\r\n000000000000000000\r\n\r\n", (TE, "chunked")),
    "chunked by LF": page(b"5\n<p><i\n1\n>\n0\n\n", (TE, "chunked")),
    "chunked, cut": page(chunked(BODY, 100)[:300], (TE, "chunked")),
    "chunked, cut in the first": page(b"FFFF\r\n<p><b>", (TE, "chunked")),
    "chunked, without an end": page(chunked(BODY, 50, end=b""), (TE, "chunked")),
    "chunked, with more behind": page(chunked(BODY, 50, end=b"0\r\nX: y\r\n\r\n<hr>"), (TE, "chunked")),
    "chunked, nothing in it": page(b"0\r\n\r\n", (TE, "chunked")),
    "chunked, broken": page(b"5\r\n<p><iXX2\r\n<b", (TE, "chunked")),
    "chunked of a huge size": page(b"FFFFFFFFFFFFFFF\r\n<p>", (TE, "chunked")),
    "chunked of a size beyond all": page(b"FFFFFFFFFFFFFFFFFF\r\n<p>", (TE, "chunked")),
    "chunked was said": page(BODY, (TE, "chunked")),
    "chunked was said of hexadecimal": page(b"abc<p>", (TE, "chunked")),
    "chunked was said of blanks": page(b"\t <p>", (TE, "chunked")),
    "chunked was said of nothing": page(b"", (TE, "chunked")),
    "chunked with odd extensions": page(b"3;\r;\r\n<p>\r\n3;\n<b>\r\n0;\r\r\n\r\n", (TE, "chunked")),
    "chunked twice": page(chunked(chunked(BODY, 9), 9), (TE, "chunked, chunked")),
    "gzip": page(GZIPPED, (CE, "gzip")),
    "x-gzip": page(GZIPPED, (CE, "X-GZIP")),
    "gzip and chunked": page(chunked(GZIPPED, 30), (CE, "gzip"), (TE, "chunked")),
    "chunked named gzip": page(chunked(GZIPPED, 30), (CE, "chunked"), (TE, "gzip")),
    "gzip in TE": page(GZIPPED, (TE, "gzip")),
    "gzip twice": page(gzip.compress(GZIPPED), (CE, "gzip, gzip")),
    "gzip in two headers": page(gzip.compress(GZIPPED), (CE, "gzip"), (CE, "gzip")),
    "gzip was said": page(BODY, (CE, "gzip")),
    "gzip was said of chunks": page(chunked(BODY, 5), (CE, "gzip"), (TE, "chunked")),
    "gzip, chunked was said": page(GZIPPED, (CE, "gzip"), (TE, "chunked")),
    "gzip magic alone": page(b"\x1f\x8b\x08", (CE, "gzip")),
    "gzip, two members": page(GZIPPED + GZIPPED, (CE, "gzip")),
    "gzip with rubbish behind": page(GZIPPED + b"\0\0", (CE, "gzip")),
    "gzip with its length behind": page(GZIPPED + GZIPPED[-4:], (CE, "gzip")),
    "gzip, cut": page(GZIPPED[:-5], (CE, "gzip")),
    "gzip, damaged": page(GZIPPED[:40] + b"\xff\xff" + GZIPPED[42:], (CE, "gzip")),
    "gzip with a wrong CRC": page(GZIPPED[:-8] + b"\0\0\0\0" + GZIPPED[-4:], (CE, "gzip")),
    "gzip with a wrong length": page(GZIPPED[:-4] + b"\0\0\0\x01", (CE, "gzip")),
    "gzip with a header's checksum": page(gzip_member(BODY, header_crc=True), (CE, "gzip")),
    "gzip of nothing": page(gzip.compress(b""), (CE, "gzip")),
    "gzip of UTF-16": page(gzip.compress("<p>ä<b>".encode("utf-16-le")), (CE, "gzip"), kind="text/html;charset=utf-16"),
    "gzip of ISO-2022-JP": page(gzip.compress(b"<meta charset=iso-2022-jp>" + JAPANESE), (CE, "gzip")),
    "gzip bomb": page(gzip.compress(bytes(1 << 20)), (CE, "gzip")),
    "deflate": page(zlib.compress(BODY), (CE, "deflate")),
    "identity": page(BODY, (CE, "identity"), (TE, "")),
    "an unknown coding": page(BODY, (CE, "utf-8")),
    "folded coding": block(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding:\r\n gzip\r\n\r\n" + GZIPPED),
    "LF alone": block(b"HTTP/1.1 200 OK\nContent-Type: text/html\nServer: a\n\n" + BODY),
    "LF among CR LF": block(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\nServer: a\r\n\n" + BODY),
    "CR alone": block(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\rServer: a\r\n\r\n" + BODY),
    "two CR": block(b"HTTP/1.1 200 OK\r\r\nContent-Type: text/html\r\n\r\r\n" + BODY),
    "folded": block(b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\nServer: a\r\n\tb\r\n\r\n" + BODY),
    "folded behind the status": block(b"HTTP/1.1 200 OK\r\n Content-Type: text/html\r\nServer: a\r\n\r\n" + BODY),
    "no end of the header": block(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: a\r\n"),
    "a status line alone": block(b"HTTP/1.1 200 OK"),
    "a long header": page(BODY, ("X", "y" * 5000)),
    "a header of 64 KiB": page(BODY, ("X", "y" * 70000)),
    "no status line": block(b"<html><p>" + BODY),
    "nothing": block(b""),
    "ICY": block(b"ICY 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "small letters": block(b"http/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "no version": block(b"HTTP 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "a strange version": block(b"HTTP/\xe9 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "HTTPS": block(b"HTTPS/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "an empty line first": block(b"\r\nHTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "blanks before the colon": block(b"HTTP/1.1 200 OK\r\nServer  : a\r\nContent-Type\t:text/html\r\n\r\n" + BODY),
    "no colon": block(b"HTTP/1.1 200 OK\r\nServer\r\nContent-Type text/html\r\n\r\n" + BODY),
    "a blank before a name": block(b"HTTP/1.1 200 OK\r\nA: b\r\n Server: a\r\nContent-Type: text/html\r\n\r\n" + BODY),
    "odd blanks": block(b"HTTP/1.1 200 OK\r\nServer: \x0b a\x0c\r\nContent-Type: text/html\x0b\r\n\r\n" + BODY),
    "blanks of Unicode": block("HTTP/1.1 200 OK\r\nServer: \xa0a\x85\r\nContent-Type: text/html\xa0\r\n\r\n<p>".encode()),
    "NUL": block(b"HTTP/1.1 200 OK\r\nServer: a\0b\r\nContent-Type: text/html\0\r\n\r\n" + BODY),
    "Latin-1": block(b"HTTP/1.1 200 OK\r\nServer: a\xe9\r\nContent-Type: text/html;\xe9\r\n\r\n" + BODY),
    "Content-Type in a URI": record("response", http([("Server", "a")], BODY), "http://x/?Content-Type: x", "application/http"),
    "two record types": record("response", http([("Server", "b")], BODY), "http://x/", "application/http", fields=(("content-type", "x/y"),)),
    "two record types turned": record("response", http([("Server", "b")], BODY), "http://x/", None, fields=(("content-Type", "x/y"), ("Content-Type", "application/http"))),
    "record type folded": record("response", http([("Server", "c")], BODY), "http://x/", "application/http;\r\n msgtype=response"),
    "record type empty and folded": record("response", http([("Server", "d")], BODY), "http://x/", "\r\n application/http"),
    "record type with a blank": record("response", http([("Server", "e")], BODY), "http://x/", None, fields=(("Content-Type ", "application/http"),)),
    "record type in capitals": block(http([("Server", "f")], BODY), content_type="APPLICATION/HTTPS"),
    "record type odd": block(http([("Server", "g")], BODY), content_type="\x0bapplication/http"),
    "record type with umlauts": record("response", http([("Server", "h")], BODY), "http://x/", "application/http; ü=\u0130"),
    "a line without a colon": record("response", http([("Server", "i")], BODY), "http://x/\r\nodd", "application/http"),
    "a revisit": block(http([("Server", "j")], BODY), kind="revisit"),
    "a resource": block(http([("Server", "k")], BODY), kind="resource"),
    "a text": conversion("http://x/", "Wörter und words_1 ΣΑΣ İstanbul 漢字"),
    "a plain text": conversion("http://x/", "a b, a-c don't A"),
    "no text": conversion("http://x/", ""),
    "bytes as a text": record("conversion", b"a\xff\xfeb \xc3 \xed\xa0\x80c", "http://x/", "text/plain"),
    "an HTTP conversion": record("conversion", http([("Server", "l")], b"one two"), "http://x/", "application/http"),
    "a WAT": wat('"Server":"a","X":"y"'),
    "a WAT without a server": wat('"X":"y"'),
    "a WAT with escapes": wat('"Server":"a\\u0041"'),
    "a WAT with a surrogate": wat('"Server":"a\\ud800"'),
    "a WAT with a number": wat('"Server":1'),
    "a broken WAT": wat('"Server'),
    "a WAT by another type": wat('"Server":"a"', "application/json; charset=utf-8"),
    "a WAT in capitals": wat('"Server":"a"', "Application/JSON"),
    "a WAT without a type": record("metadata", f"{WAT_HEAD}{WAT_TAIL}".encode(), "http://x/", None),
}  # fmt: skip
FIRST = {
    "warc": [warcinfo(), request("http://x/"), USUAL["a page"], metadata("http://x/")],
    "wet": [warcinfo(), conversion("http://x/", "first text")],
    "wat": [warcinfo(), wat('"Server":"first"')],
}
RECORDS = USUAL | ODD
OF = {"tags": ["warc"], "words": ["wet"], "servers": ["warc", "wat"]}
SHAPES = [(job, shape) for job, shapes in OF.items() for shape in shapes]


LONG_WAT = [
    record("metadata", f"{WAT_HEAD}{headers}{WAT_TAIL}".replace('{"Headers"', f'{{"X":"{"y" * 9000}","Headers"').encode(),
           "http://x/", "application/json")
    for headers in ('"Server":"long"', '"Server":"lo\\u006eg"', '"X":"y"')
]  # fmt: skip


@pytest.mark.parametrize(("job", "shape"), SHAPES)
@pytest.mark.parametrize("name", RECORDS)
def test_record_is_counted_the_same(file, job, shape, name):
    both(job, file, pack([*FIRST[shape], RECORDS[name], *FIRST[shape][1:]]))


@pytest.mark.parametrize("options", [ReadOptions(max_body=n) for n in (0, 10, 1600, 2000)] + [ReadOptions(verify=True)])
@pytest.mark.parametrize(("job", "shape"), SHAPES)
def test_all_records_are_counted_the_same_however_they_are_read(file, job, shape, options):
    _, row, _ = both(job, file, pack([*FIRST[shape], *RECORDS.values()]), options)
    assert row["lost"] or job == "words"


@pytest.mark.parametrize("shape", ["warc", "wat"])
@pytest.mark.parametrize("max_body", [3 << 10, 64 << 20])
def test_heads_are_counted_the_same(file, shape, max_body):
    options = ReadOptions(heads_only=True, max_body=max_body)
    members = [gzip_member(content) for content in LONG_WAT]
    damaged = [member[:-20] + bytes([member[-20] ^ 1]) + member[-19:] for member in members]
    damaged += [member[:-8] + b"\0\0\0\0" + member[-4:] for member in members]
    data = pack([*FIRST[shape], *RECORDS.values()]) + b"".join([*members, *damaged, *members])
    sums, row, _ = both("servers", file, data, options)
    assert row["records"] > len(RECORDS)
    assert sums.get("long") == ([4] if max_body > 9000 else None)


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(heads_only=True)])
def test_usual_responses_never_come_to_python(file, options):
    data = pack([*FIRST["warc"], *USUAL.values()])
    for job in ("tags", "servers"):
        sums, row, given = both(job, file, data, options)
        assert row["records"] == len(FIRST["warc"]) + len(USUAL)
        assert given <= 2  # the first of all is always read in Python; and a response that is no HTTP has odd headers
        assert sums


def test_usual_texts_and_wat_records_never_come_to_python(file):
    texts = pack(
        [*FIRST["wet"], *(conversion("http://x/", f"Wörter {n} und words_{n % 2}, 漢字 Да") for n in range(9))]
    )
    sums, row, given = both("words", file, texts)
    assert (sums["wörter"], row["records"], given) == ([9, 9], 11, 1)
    _, row, given = both("servers", file, pack([*FIRST["wat"], *(wat(f'"Server":"{n}"') for n in range(9))]))
    assert (row["records"], given) == (11, 1)


@pytest.mark.parametrize(
    "name", [*(label for labels in _LABELS.values() for label in labels.split()), "strange", "utf-16xx"]
)
def test_page_of_any_label_is_counted_the_same(file, name):
    texts = [BODY, "<p>x<b>".encode("utf-16-le"), "<p>x<b>".encode("utf-16-be"), JAPANESE]
    kinds = [f"text/html; charset={name}", f'text/html;Charset="{name.upper()}"']
    both("tags", file, pack([*FIRST["warc"], *(page(text, kind=kind) for text in texts for kind in kinds)]))


@pytest.mark.parametrize(
    "parameters",
    [
        "charset=utf-16le", "; charset", "; charset=", ";charset=;charset=utf-16le", "; xcharset=utf-16le", "; charset = utf-16le",
        ";charset=\tutf-16le", ';charset="utf-16le', ";charset='utf-16le'x", ';charset="utf-16le\'', ";charset=utf-16le'", ",charset=utf-16le",
        ";\tcharset=utf-16le", "; charset=utf-8/x; charset=utf-16le", '; charset=" utf-16le "', ";charset=utf-8;charset=utf-16le",
        "; charset=utf-16le,text/html", "; CHARſET=utf-16le", "; charset=\u212aoi8-r",
    ],
)  # fmt: skip
def test_charset_in_any_spelling_is_taken_the_same(file, parameters):
    text = "<p>x<b>".encode("utf-16-le")
    both(
        "tags",
        file,
        pack([*FIRST["warc"], page(text, kind=f"text/html{parameters}"), page(BODY, kind=f"text/html{parameters}")]),
    )


def test_counter_is_drained_while_usual_records_go_by(file, monkeypatch):
    monkeypatch.setattr(JOBS["words"], "most_keys", 100, raising=False)
    texts = [" ".join(f"w{n}x{k}" for k in range(150_000)) for n in range(14)]
    job = JOBS["words"]
    file.write_bytes(pack([*FIRST["wet"], *(conversion("http://x/", text) for text in texts)], level=1))
    monkeypatch.setenv("CRAWLMILL_CORE", "native")
    core.native.cache_clear()
    job.mapper_init()
    reading = Reading(
        Input("x", str(file)), Storage(), selection=Selection(frozenset(["wet"]), frozenset(["conversion"]))
    )
    drained = sum(1 for _ in job.read(reading))
    rest = sum(1 for _ in job.mapper_final())
    monkeypatch.undo()
    core.native.cache_clear()
    assert drained + rest == 14 * 150_000 + 2
    assert rest < 10 * 150_000


def test_job_with_a_count_of_its_own_gets_all_records(file, monkeypatch):
    class Own(type(JOBS["tags"])):
        def count(self, record, counter):
            counter.add(b"<own>")

    monkeypatch.setitem(JOBS, "own", Own(["-r", "inline"]))
    sums, _, given = both("own", file, pack([*FIRST["warc"], *USUAL.values()]))
    assert (sums, given) == ({"own": [1 + len(USUAL)]}, 1 + len(USUAL))


MEMBERS = [gzip_member(content) for content in RECORDS.values()]
SOUND = [gzip_member(content) for contents in FIRST.values() for content in contents]


@settings(derandomize=True, deadline=None, database=None, max_examples=500)
@given(
    st.sampled_from(SHAPES),
    st.lists(st.sampled_from([*MEMBERS, *SOUND * 5, *HOSTILE.values()]), max_size=8).map(b"".join),
    mutations,
    st.sampled_from(
        [ReadOptions(), ReadOptions(max_body=1700), ReadOptions(verify=True), ReadOptions(heads_only=True)]
    ),
)
def test_mutated_archive_is_counted_the_same(file, which, data, changes, options):
    job, shape = which
    if options.heads_only and job != "servers":
        options = ReadOptions()
    both(job, file, mutated(pack(FIRST[shape]) + data, changes), options)


@pytest.mark.parametrize(("job", "shape"), SHAPES)
def test_cut_and_flipped_archive_is_counted_the_same(file, job, shape):
    data = pack([*FIRST[shape], *(RECORDS[name] for name in ("a page", "gzip", "a text", "a WAT")), *FIRST[shape][1:]])
    chance = random.Random(20260121)
    for at in chance.sample(range(len(data)), 150):
        both(job, file, data[:at])
        flipped = bytearray(data)
        flipped[at] ^= 1 << chance.randrange(8)
        both(job, file, bytes(flipped))


def test_real_files_are_counted_the_same(file):
    for job, name in (("tags", "warc"), ("servers", "warc"), ("servers", "warc.wat"), ("words", "warc.wet")):
        both(job, file, shared(f"commoncrawl/whirlwind.{name}.gz").read_bytes())
