"""`page_links`: links by construction, the same from WARC, ARC and WAT, and from metadata of 2012."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests import builders
from tests.formats.sequencefiles import block_file
from tests.mr.helpers import rows, run_here

from crawlmill.analysis.html_tokenizer import attributes_in, start_tag_names, tag_reader
from crawlmill.analysis.links.character_references import unescape
from crawlmill.analysis.links.html import base_in, references_in
from crawlmill.analysis.links.kinds import NAMES

URL = "http://p.example/d/page.html"


def references(page, decode=bytes.decode):
    return list(references_in(page, decode))


def linked(ended):
    """The lines of a run: (source, target, kind) with their number."""
    found = Counter()
    for line in filter(None, ended.out.split("\n")):
        source, _, value = line.partition("\t")
        found[(json.loads(source), *json.loads(value))] += 1
    return found


def html(body, url=URL, content_type="text/html; charset=utf-8", *more):
    return builders.response(url, body, [("Content-Type", content_type), *more])


def wat(url, html_metadata, kind="response", **header):
    response = {"HTTP-Response-Metadata": {"HTML-Metadata": html_metadata}}
    warc = {"WARC-Type": kind, "WARC-Target-URI": url, **header}
    block = json.dumps({"Envelope": {"Payload-Metadata": response, "WARC-Header-Metadata": warc}}).encode()
    return builders.record("metadata", block, url, "application/json")


def run_on(job, crawl, *records, options=()):
    lst = crawl.list(crawl.write("a", builders.pack([builders.warcinfo(), *records])))
    return run_here(job.PageLinks, "-r", "inline", *options, lst)


def test_every_attribute_of_the_table_is_a_link():
    page = b"".join(b"<%s %s=x>" % (e.upper().encode(), n.encode()) for e, names in NAMES.items() for n in names)
    page = page.replace(b"<SCRIPT src=x>", b"<SCRIPT src=x></SCRIPT>").replace(
        b"<IFRAME src=x>", b"<IFRAME src=x></IFRAME>"
    )
    assert references(page) == [(f"{e.upper()}@/{n}", "x") for e, names in NAMES.items() for n in names]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<a href=1><A HREF = '2' ><a\nhref\n=\n\"3\"/><a/href=4/>", ["1", "2", "3", "4/"]),
        (b"<a title='<a href=no>' href=1 href=no><a hrefs=no><a x=href><ahref=no>", ["1"]),
        (b"<!-- <a href=no> --><!x><a href=1><?<a href=2>", ["1"]),
        (b"<script src=1><a href=no></script><title><a href=no></title><noscript><a href=2></noscript>", ["1", "2"]),
        (b"<iframe src=1><a href=no></iframe><svg><title/><a href=2></svg><title/><a href=no></title>", ["1", "2"]),
        (b"<a href><a href=><a href=''><a =href=no><b=\"x><a href=1>\">", ["", "", "", "1"]),
        (b"<a href=1><a href=no", ["1"]),
        (
            b"<a href='?a&amp;b&copy=1&copy;&copyx&#38;&#x26&nosuch;&notit;'>",
            ["?a&b&copy=1\u00a9&copyx&&&nosuch;&notit;"],
        ),
        ("<a href='é\0'>".encode(), ["é\ufffd"]),
        (b"<video src=1 poster=2><input formaction=1 src=2>", ["1", "2", "1", "2"]),
        (b"<plaintext><a href=no>", []),
        (b"<", []),
        (b"</", []),
    ],
)
def test_what_is_a_link_in_a_page(page, expected):
    assert [value for _, value in references(page)] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("&#0;&#x110000;&#xD800;&#99999999999999999999;", "\ufffd" * 4),
        ("&#128;&#x81;&#10;&#x1;", "\u20ac\x81\n\x01"),
        ("&amp&ampx&amp=&amp;=", "&&ampx&amp=&="),
        ("&NotEqualTilde;&;&#;&#x;&", "\u2242\u0338&;&#;&#x;&"),
    ],
)
def test_character_references_are_read_as_in_attributes(value, expected):
    assert unescape(value) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<a href=x><base target=y><BASE HREF=' 1 '><base href=2>", " 1 "),
        (b"<!-- <base href=no> --><script><base href=no></script>", None),
        (b"<p>base href=no", None),
        (b"<base href>", ""),
    ],
)
def test_first_base_counts(page, expected):
    assert base_in(page, bytes.decode) == expected


def test_reader_of_tags_finds_what_the_tokenizer_finds():
    pieces = [b"<a", b"<b", b"</a>", b"<script", b"</script>", b"<svg", b"</svg>", b"<title", b"</title>", b"<!--", b"-->",
              b">", b"/>", b"=", b"'", b'"', b" x=", b"<!", b"<math/>", b" "]  # fmt: skip
    read = tag_reader([b"a", b"script"])
    for number in range(6000):
        page = b"".join(pieces[number * step % 997 % len(pieces)] for step in range(1, 2 + number % 17))
        expected = [name.lower() for name in start_tag_names(page) if name.lower() in (b"a", b"script")]
        assert [name for name, _ in read(page)] == expected, page


def test_attributes_of_a_tag():
    assert list(attributes_in(b" A=1/ b='2\n' c=\"\" / d e = f =g=h")) == [
        (b"a", b"1/"), (b"b", b"2\n"), (b"c", b""), (b"d", b""), (b"e", b"f"), (b"=g", b"h"),
    ]  # fmt: skip


def test_pages_of_very_many_links_and_hostile_ones_take_linear_time():
    assert sum(1 for _ in references_in(b"<a href=b>" * 100_000, bytes.decode)) == 100_000
    for page in (
        b"<a " * 300_000,
        b"<" * 1_000_000,
        b"<!--" * 300_000,
        b"<svg><title/>" * 20_000,
        b"<a b='" * 300_000,
    ):
        assert references(page) == []


BODY = (
    "<base href='../b/'><a href=x>1</a><a href=x>2</a><a href='ü?ö'></a><img src='//c.example'>"
    "<a href='javascript:a(\"\\\\\")'><a href='http://[x'><a href='data:,x'><q cite='#f'>"
)
EXPECTED = {
    (URL, "http://p.example/b/x", "A@/href"): 2,
    (URL, "http://p.example/b/%C3%BC?%C3%B6", "A@/href"): 1,
    (URL, "http://c.example/", "IMG@/src"): 1,
    (URL, 'javascript:a("\\\\")', "A@/href"): 1,
    (URL, "data:,x", "A@/href"): 1,
    (URL, "http://p.example/b/#f", "Q@/cite"): 1,
}


def test_links_of_warc_and_arc_in_any_encoding(job, crawl):
    for body, content_type in [
        (BODY.encode(), "text/html; charset=utf-8"),
        (BODY.encode("latin-1"), "application/xhtml+xml; charset=latin1"),
        (b"<meta charset=windows-1252>" + BODY.encode("latin-1"), "text/html"),
        (BODY.encode("latin-1"), "text/html"),
        (BODY.encode("utf-16"), "text/html"),
    ]:
        ended = run_on(job, crawl, html(body, URL, content_type), html(b"<a href=x>", URL, "text/plain"))
        assert (ended.code, linked(ended)) == (0, EXPECTED), ended.err
    arc = builders.arc([(URL, builders.http([("Content-Type", "text/html")], BODY.encode()))])
    ended = run_here(job.PageLinks, "-r", "inline", crawl.list(crawl.write("b", arc)))
    assert (ended.code, linked(ended)) == (0, EXPECTED), ended.err


def test_links_of_wat(job, crawl):
    links = [("A@/href", "x"), ("A@/href", "x"), ("A@/href", "ü?ö"), ("IMG@/src", "//c.example"),
             ("A@/href", 'javascript:a("\\\\")'), ("A@/href", "http://[x"), ("A@/href", "data:,x"), ("Q@/cite", "#f")]  # fmt: skip
    entries = [{"path": path, "url": url} for path, url in links]
    odd = [
        {"path": "STYLE/#text", "href": "s"},
        {"path": "A@/href"},
        {"path": "A@/href", "url": 1},
        {"path": ["A"], "url": "x"},
        7,
        None,
    ]
    metadata = {"Head": {"Base": "../b/"}, "Links": [*entries, *odd]}
    ended = run_on(job, crawl, wat(URL, metadata), wat(URL, metadata, "request"))
    assert (ended.code, linked(ended)) == (0, EXPECTED), ended.err


def test_head_of_wat_and_odd_shapes(job, crawl, tmp_path):
    head = {"Link": [{"path": "LINK@/href", "url": "s"}], "Scripts": {"path": "SCRIPT@/src", "url": "t"}, "Base": 7}
    records = [wat(URL, shape) for shape in ({"Head": head}, {"Head": [], "Links": "x"}, [], {}, {"Links": {}})]
    records.append(builders.record("metadata", b'{"HTML-Metadata":', URL, "application/json"))
    ended = run_on(job, crawl, *records, options=("--ledger", tmp_path / "l"))
    assert linked(ended) == {
        (URL, "http://p.example/d/s", "LINK@/href"): 1,
        (URL, "http://p.example/d/t", "SCRIPT@/src"): 1,
    }
    assert [row["lost"] for row in rows(tmp_path / "l").values()] == [{"bad-json": 1}]


def test_links_of_metadata_of_2012(job, crawl):
    links = [{"type": "a", "href": "http://b.example/", "text": "x"}, {"type": "img", "href": "http://c.example/i"},
             {"type": "text/css", "rel": "stylesheet", "href": "http://d.example/s"}]  # fmt: skip
    value = {"attempt_time": 1, "disposition": "SUCCESS", "content": {"type": "html-doc", "links": links}}
    data = block_file([(URL.encode(), json.dumps(value).encode())])
    ended = run_here(job.PageLinks, "-r", "inline", crawl.list(crawl.write("m", data)))
    kinds = [("http://b.example/", "A@/href"), ("http://c.example/i", "IMG@/src"), ("http://d.example/s", "LINK@/href")]
    assert (ended.code, linked(ended)) == (0, {(URL, *kind): 1 for kind in kinds}), ended.err
