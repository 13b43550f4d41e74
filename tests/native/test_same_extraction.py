"""Both cores parse the same lists, prove the same of ranges, and write the same copies of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run
from tests.native.cores import using

from crawlmill import core
from crawlmill.errors import UsageError
from crawlmill.extraction.listed import listed_of
from crawlmill.extraction.members import prove
from crawlmill.inputs.list_lines import read_entries
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ReadOptions
from crawlmill.storage import Storage
from crawlmill.urls.surt import urlkey

pytestmark = pytest.mark.skipif(core.native() is None, reason="the native core is not installed")

_PAGE = builders.response("http://example.org/a", b"<html>page</html>" * 300)
_MEMBER = builders.gzip_member(_PAGE)
_LINE = (
    'org,example)/a 20260105100000 {"url": "http://example.org/a", "charset": "UTF-8", "languages": "eng,nor",'
    ' "more": "x", "filename": "x.warc.gz", "offset": "7", "length": "9"}'
)


def seen(data: bytes, given: str) -> tuple[Any, ...]:
    """All that is found of a range."""
    item = Input(given, "x.warc.gz", 7, len(data))
    listed = listed_of(item)
    with Storage() as storage:
        found = prove(item, listed, data, storage, ReadOptions())
    lines = [line.text(listed, "out.warc.gz", 5, 8) for member in found.members for line in member.lines]
    places = [(member.start, member.length, member.closing, member.is_arc) for member in found.members]
    return found.row, found.first, found.url, places, lines


@pytest.mark.parametrize("given", [_LINE, f"x.warc.gz\t7\t{len(_MEMBER)}", '{"url": "http://example.org/b"}'])
@pytest.mark.parametrize(
    "data",
    [
        _MEMBER,
        builders.gzip_member(_PAGE.replace(b"example.org/a", b"EXAMPLE.org:80/\xc3\xa4 b")),
        builders.gzip_member(_PAGE.replace(b"WARC-Type: response", b"WARC-Type: revisit")),
        builders.gzip_member(_PAGE.replace(b"WARC-Type: ", b"warc-type:")),
        builders.gzip_member(_PAGE.replace(b"WARC-Target-URI: ", b"X-Target: ")),
        builders.gzip_member(_PAGE.replace(b"WARC-Date: ", b"WARC-Date: x")),
        builders.gzip_member(_PAGE + b"\r\n"),
        builders.gzip_member(_PAGE[:-1]),
        builders.gzip_member(builders.request("http://example.org/a")),
        builders.gzip_member(builders.metadata("http://example.org/a")),
        builders.gzip_member(builders.warcinfo()),
        builders.gzip_member(b"no record"),
        _MEMBER + _MEMBER,
        _MEMBER[:-1],
        _PAGE,
        b"",
    ],
)
def test_what_is_proven_of_a_range_is_that_of_python(data, given):
    with using("native"):
        native = seen(data, given)
    with using("python"):
        assert native == seen(data, given)


def test_flipped_bits_are_found_on_both_cores():
    for at in range(0, len(_MEMBER), 3):
        flipped = _MEMBER[:at] + bytes([_MEMBER[at] ^ 1 << at % 8]) + _MEMBER[at + 1 :]
        with using("native"):
            native = seen(flipped, _LINE)
        with using("python"):
            assert native == seen(flipped, _LINE), at


def test_a_usual_page_is_proven_without_a_copy_of_its_content():
    kind, head, key, timestamp, front, _, url = core.native().member_capture(_MEMBER)
    assert (kind, key, timestamp, url) == ("response", "org,example)/a", "20260105100000", "http://example.org/a")
    assert head == _PAGE[: len(head)]
    assert head.endswith(b"\r\n\r\n")
    assert front.startswith('{"url": "http://example.org/a"')
    assert core.native().member_capture(_MEMBER[:-1]) is None
    assert core.native().member_capture(b"") is None


_CDXJ = (
    'org,example)/a 20260105100000 {"url": "http://example.org/a", "mime": "text/html", "offset": "7", "length": "9", '
    '"filename": "x y.warc.gz", "languages": "eng,nor"}'
)
_LINES = [
    _CDXJ,
    "x.warc.gz\t0\t12",
    "/data/n\u00e4h.warc.gz\t0\t12",
    "x.warc.gz",
    "",
    "  ",
    "# a comment {",
    "#)/ " + _CDXJ.split(" ", 1)[1],
    " " + _CDXJ,
    _CDXJ + " ",
    _CDXJ + "\r",
    _CDXJ.replace("{", "{ "),
    _CDXJ.replace("http", "h\\u0074tp"),
    _CDXJ.replace("x y", "x\\u0020y"),
    _CDXJ.replace("x y", "x\x7fy"),
    _CDXJ.replace("org,example", "org,\u00e9"),
    _CDXJ.replace("org,example", "org,\x1cexample"),
    _CDXJ.replace("20260105100000", "2026"),
    _CDXJ.replace('"7"', "7"),
    _CDXJ.replace('"7"', '"007"'),
    _CDXJ.replace('"mime": "text/html"', '"offset": "8"'),
    _CDXJ.replace('"mime"', '"filename"'),
    _CDXJ.split(" ", 2)[2],
    "x{y}\t0\t12",
    "x.warc.gz\t0\t12\r",
    "x\u3000.warc.gz\t1\t2",
    "warc_filename,warc_record_offset\t1\t2",
]
_MISTAKES = [
    _CDXJ.replace('"7"', '""'),
    _CDXJ.replace('"7"', '"-7"'),
    _CDXJ.replace('"7"', '"1234567890123456789"'),
    _CDXJ.replace('"offset": "7", ', ""),
    _CDXJ.replace("x y.warc.gz", ""),
    _CDXJ.replace('"filename"', '"file"'),
    "x.warc.gz\t0",
    "x.warc.gz\t0\t12\t3",
    "x.warc.gz\t\u0661\t2",
]


def entries(core_name, text, size):
    """The entries of a list that comes in chunks of this size, and the error that ends it."""
    data = text.encode("utf-8", "surrogateescape")
    found = []
    with using(core_name):
        try:
            for entry in read_entries([data[at : at + size] for at in range(0, len(data), size)], "x.cdxj"):
                found.append(entry)
        except UsageError as error:
            return found, str(error)
    return found, None


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_lists_are_parsed_as_in_python(size):
    text = "".join(f"{_CDXJ}\n{line}\nz.warc.gz\t5\t6\n" for line in [*_LINES, "caf\udce9\t1\t2"])
    native = entries("native", text, size)
    assert native == entries("python", text, size)
    assert len(native[0]) == 3 * (len(_LINES) + 1) - 4  # blank lines and comments
    assert native[0][-1].line == 3 * (len(_LINES) + 1)
    for line in _MISTAKES:
        found, error = entries("native", f"{_CDXJ}\n{_CDXJ}\n\n{line}\n", size)
        assert (found, error) == entries("python", f"{_CDXJ}\n{_CDXJ}\n\n{line}\n", size)
        assert (len(found), error.startswith("x.cdxj, line 4: ")) == (2, True)


def test_usual_lines_do_not_reach_python():
    text = f"{_CDXJ}\r\nx.warc.gz\t0\t12\n".encode()
    found, end = core.native().listed_lines(text + b"# and so on\n", 0)
    assert found == [(_CDXJ, "x y.warc.gz", 7, 9), ("x.warc.gz\t0\t12", "x.warc.gz", 0, 12)]
    assert end == len(text)


def line_for(url, **more):
    return f"{urlkey(url)} 20260105100000 {json.dumps({'url': url, **more})}"


def crawl_of_all_kinds(folder):
    """An archive, and a list of its ranges, of which each second one is a usual page."""
    usual = "http://example.org/usual"
    odd = [
        (builders.gzip_member(_PAGE.replace(b"example.org/a", b"example.org/x?sid=" + b"0a" * 16)), None),
        (_MEMBER, "https://www.example.org/A"),
        (_MEMBER, "http://example.org/other"),
        (_MEMBER[:-9] + b"?" + _MEMBER[-8:], None),
        (_MEMBER + _MEMBER, "http://example.org/a"),
        (_PAGE, "http://example.org/a"),
        (builders.gzip_member(builders.request("http://example.org/a")), "http://example.org/a"),
        (builders.gzip_member(_PAGE.replace(b"Type: response", b"Type: revisit")), "http://example.org/a"),
        (builders.gzip_member(builders.response("http://example.org/empty", b"")), None),
    ]
    page = builders.gzip_member(builders.response(usual, b"<p>" * 99))
    data, lines = b"", []
    for number, (member, url) in enumerate(odd):
        for each, of, more in (
            (
                page,
                usual,
                {"charset": "UTF-8", "languages": "eng,nor"} if number % 2 else {"note": "x", "encoding": "y"},
            ),
            (member, url, {"mime": "-"}),
        ):
            place = {"offset": str(len(data)), "length": str(len(each)), "filename": "all.warc.gz"}
            lines.append(line_for(of, **more, **place) if of else "\t".join(("all.warc.gz", *list(place.values())[:2])))
            data += each
    (folder / "all.warc.gz").write_bytes(data)
    (folder / "list.cdxj").write_text("".join(f"{line}\n" for line in lines))
    return len(odd)


def test_copies_of_ranges_of_all_kinds_are_those_of_python(tmp_path):
    count = crawl_of_all_kinds(tmp_path)
    found = {}
    for name in ("native", "python"):
        out = tmp_path / name
        ended = run(
            PROJECT / "jobs/extract_records.py",
            "-r",
            "inline",
            "--no-progress",
            "--output-dir",
            out,
            tmp_path / "list.cdxj",
            SOURCE_DATE_EPOCH="1700000000",
            CRAWLMILL_CORE=name,
        )
        assert ended.code == 2, ended.err
        found[name] = {path.name: path.read_bytes() for path in out.glob("*[0-9r].*") if path.name != "_run.json"}
    assert found["native"] == found["python"]
    assert set(found["native"]) == {"records-00000.warc.gz", "records-00000.cdxj", "_ledger.jsonl"}
    assert found["native"]["_ledger.jsonl"].count(b'"outcome":"ok"') == 2 * count - 2
    assert found["native"]["records-00000.cdxj"].count(b'"url": "http://example.org/usual"') == count


def test_usual_ranges_are_copied_without_python():
    given = 'org,example)/a 20260105100000 {"url": "http://example.org/a", "charset": "x", "note": "y", "filename": "f", "offset": "0", "length": "1"}'
    usual = (0, Input(given, "f", 0, len(_MEMBER)), _MEMBER)
    for odd in (
        (1, usual[1], _MEMBER[:-1]),
        (1, usual[1], None),
        (1, usual[1]._replace(given=given.replace("/a", "/b")), _MEMBER),
        (1, usual[1]._replace(given=given.replace("note", "charset")), _MEMBER[:-1] + b"x"),
        (1, usual[1]._replace(length=9), _MEMBER),
    ):
        end, lines = core.native().copied_lines([odd, usual, usual, odd], 1, b'"out"', 100, urlkey)
        assert (end, lines.count(b"\n")) == (3, 2)
    first, second = (json.loads(line.split(b" ", 2)[2]) for line in lines.splitlines())
    assert (first["offset"], second["offset"], second["length"]) == ("100", str(100 + len(_MEMBER)), str(len(_MEMBER)))
    assert (first["filename"], first["charset"], list(first)[-1]) == ("out", "x", "note")
