"""`page_links` gives the same with either core: lines, ledger rows, problems; and usual pages never reach Python."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from tests.builders import pack, record, response, warcinfo
from tests.native.cores import using
from tests.urls.test_standard import CASES

from crawlmill.analysis.links.kinds import KINDS, NAMES
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.jobs.page_links import PageLinks
from crawlmill.mr.task.pairs import ENCODED, encode_pair
from crawlmill.storage import Storage

native = pytest.importorskip("crawlmill_native", reason="the native core is not installed")
JOB = PageLinks(["-r", "inline"])


def both(path, data):
    """The lines that Python gives, after they were compared, and how many records reached Python on the native core."""
    path.write_bytes(data)
    found = []
    for name in ("python", "native"):
        given = []

        class Noted(Reading):
            def __iter__(self, given=given):
                for each in super().__iter__():
                    given.append(each.offset)
                    yield each

        with using(name):
            reading = Noted(
                Input("x", str(path)), Storage(), ReadOptions(), Selection(frozenset(JOB.formats), frozenset(JOB.types))
            )
            pairs = list(JOB.read(reading))
        text = b"".join(value if key is ENCODED else encode_pair(key, value) + b"\n" for key, value in pairs)
        found.append((text, reading.row.to_json(), len(given)))
    (text, row, _), (native_text, native_row, given) = found
    assert native_text == text
    assert native_row == row
    return text, given


def wat(url, html, *, dumps=json.dumps, kind="response", more=""):
    about = dumps({"WARC-Type": kind, "WARC-Target-URI": url})
    block = (
        f'{{"Container":{{}},"Envelope":{{"Payload-Metadata":{{"HTTP-Response-Metadata":{{"HTML-Metadata":{html}{more}}}}}'
        f',"WARC-Header-Metadata":{about}}}}}'
    )
    return record("metadata", block.encode("utf-8", "surrogatepass"), "http://r.example/", "application/json")


def page(url, references, base=None, **options):
    head = {} if base is None else {"Base": base}
    links = [{"path": "A@/href", "url": each} for each in references]
    return wat(url, json.dumps({"Head": head, "Links": links}), **options)


FIRST = page("http://first.example/", ["x"])


def test_references_of_all_kinds_are_resolved_alike(tmp_path):
    parts = ["", "a", "/", "//b.example", "?c", "#d", ".", "..", "%2e", ":", "http://", "HTTPS://E.Example:443", "é", "'", "[",
             "\\", "`{", " ", "@", "1.2.3.4", "mailto:"]  # fmt: skip
    references = ["".join(each) for size in (1, 2, 3) for each in itertools.product(parts, repeat=size)]
    records = [warcinfo(), FIRST]
    for base in ("http://h.example/d/e?q#f", "https://H.example:8443", "http://h.example/a/../b/%2e/c"):
        records += [page(base, [each]) for each in references[::61]]
    records += [page(base, [reference]) for reference, base, _ in CASES if "\ud800" not in reference]
    both(tmp_path / "x.gz", pack(records, level=1))


def test_bases_of_all_kinds_count_alike(tmp_path):
    bases = ["", "/b/", "b", "?x", "#x", "//c.example", "https://d.example/e/f", "http://", "http://[x/", "data:,x", "mailto:x",
             "../..", "\\x", "ftp://f.example/", " /g/ "]  # fmt: skip
    records = [
        page(url, ["x", "/y", ""], base)
        for base in bases
        for url in ("http://h.example/d/e", "no url", "http://ü.example/")
    ]
    both(tmp_path / "x.gz", pack([warcinfo(), FIRST, *records]))


def test_odd_records_are_read_alike(tmp_path):
    url = "http://h.example/"
    link = '{"path":"A@/href","url":"x"}'
    shapes = [
        "{}", "[]", "null", '{"Links":{}}', '{"Links":[]}', f'{{"Links":{link}}}', f'{{"Links":[{link},1,null,[],"x"]}}',
        f'{{"Links":[{link}],"Links":[]}}', '{"Links":[{"path":"A@/href","url":1}]}', '{"Links":[{"path":"a@/href","url":"x"}]}',
        '{"Links":[{"path":"\\u0041@/href","url":"x"}]}', '{"Links":[{"p\\u0061th":"A@/href","url":"x"}]}',
        '{"Links":[{"path":"A@/href","url":"\\u00e9\\ud83d\\ude00\\/\\"\\\\"}]}', '{"Links":[{"path":"A@/href","url":"\\ud800"}]}',
        '{"Links":[{"path":"A@/href","url":"a","url":"b"}]}', f'{{"Head":[],"Links":[{link}]}}', f'{{"Head":{{"Link":{link}}}}}',
        f'{{"Head":{{"Base":null}},"Links":[{link}]}}', f'{{"Head":{{"Scripts":[{link}],"Link":[{link}]}},"x":1.5e3}}',
        f'{{"Links":[{link},]}}', f' {{ "Links" : [ {link} , {link} ] }} ', f'{{"Head":{{"Title":"\x01"}},"Links":[{link}]}}',
        f'{{"Links":[{link}]', f'{{"Links":[{link}],"x":{"[" * 100}{"]" * 100}}}',
    ]  # fmt: skip
    records = [wat(url, shape) for shape in shapes]
    records += [wat(url, f'{{"Links":[{link}]}}', kind=kind) for kind in ("request", "revisit", "metadata")]
    records += [
        wat(url, f'{{"Links":[{link}]}}', more=more) for more in (',"HTML-Metadata":{}', ',"Headers":{"a":["b"]}')
    ]
    records += [
        record("metadata", block, url, "application/json")
        for block in (b"", b"{}", b'{"HTML-Metadata":{}}', b'{"a":}}')
    ]
    records += [record("metadata", b"x: y", url, "application/warc-fields"), record("response", b"x", url, "text/dns")]
    both(tmp_path / "x.gz", pack([warcinfo(), FIRST, *records]))
    warc = [response(url, b"<a href=x>"), response(url, b"x", [("Content-Type", "image/png")]), response(url, b"x", [])]
    text, given = both(tmp_path / "y.gz", pack([warcinfo(), *warc]))
    assert (text.count(b"\n"), given) == (1, 1)


def html(body, url="http://h.example/d/e", content_type="text/html; charset=utf-8", more=()):
    return response(url, body, [("Content-Type", content_type), *more])


SOUP = (
    b"<a ", b"<A\n", b"<a/", b"<video ", b"<input\t", b"<base ", b"</a>", b"<svg>", b"</svg>", b"<math/>", b"<script>", b"</script>",
    b"<script ", b"<!--", b"-->", b"<title>", b"</title >", b"<plaintext>", b"<iframe ", b"<![CDATA[", b"<?x", b"</ b>", b"href", b"HREF",
    b"src", b"poster", b"formaction", b"=", b" = ", b"==", b"'", b'"', b">", b"/>", b"/", b" ", b"\n", b"\x0c", b"\0", b"x", b"../y", b"//c.example",
    b"https://d.example:443/", b"http://[x", b"mailto:a?b", b"&amp;", b"&amp", b"&copy=", b"&copy", b"&#38;", b"&#x26;", b"&#10;", b"&", b"&#",
    b"\\", b"\xc3\xa9", b"\xe9", b"\xff", b"%2e%2e", b"?a&b=c", b"#f", b"javascript:a('b')", b"data:,x", b"\t",
)  # fmt: skip
"""What pages are made of in the test below."""


def test_markup_soup_is_read_alike(tmp_path):
    dice = random.Random(5)
    types = (
        "text/html", "text/html; charset=utf-8", "text/html; charset=iso-8859-1", "application/xhtml+xml", "text/html; charset=gbk"
    )  # fmt: skip
    records = []
    for _ in range(3000):
        soup = b"".join(dice.choice(SOUP) for _ in range(dice.randint(3, 60)))
        links = [b"<a href=%b>" % dice.choice(SOUP) for _ in range(dice.randint(0, 3))]
        records.append(html(soup + b"".join(links), content_type=dice.choice(types)))
    text, given = both(tmp_path / "x.gz", pack([warcinfo(), html(b""), *records], level=1))
    assert text.count(b"\n") > 1000
    assert given < 1200


def test_encodings_of_pages_count_alike(tmp_path):
    link = "<a href='/é?ü'><base href=/b/>"
    heads = [
        "", "<meta charset=utf-8>", "<meta charset=latin1>", "<meta charset=utf-8", "<!-- charset=utf-8 --><meta charset=koi8-r>",
        "<meta http-equiv=content-type content='text/html; charset=UTF-8'>", "<?xml version='1.0' encoding='utf-8'?>",
        "<?xml version='1.0' encoding='koi8-r'?>", "<meta charset=utf-16>", "<meta charset=x-user-defined>", "charset charset=utf-8 ",
        "<meta charset = 'utf-8'>", "<meta charset='utf-8 '>", "<meta charset=&#117;tf-8>",
    ]  # fmt: skip
    types = [
        "text/html",
        "text/html; charset=utf8",
        "text/html; charset=latin1",
        "text/html; charset=nonsense",
        "text/html; charset=",
    ]
    bodies = [
        (head + link).encode(code)
        for head in heads
        for code in ("utf-8", "latin-1", "utf-16", "utf-16-be", "utf-8-sig")
    ]
    bodies += [
        link.encode() + b"\xc3",
        b"\r\n\xef\xbb\xbf" + link.encode("latin-1"),
        link.encode("utf-8") + b"\xff" * 9000,
    ]
    bodies += ["<a href='日本'>".encode("iso-2022-jp"), b"<a href=x>\x1b$B!!\x1b(B<a title='\x1b$B!!\x1b(B' href=y>"]
    types += [f"text/html; charset={name}" for name in ("utf-16", "utf-16be", "iso-2022-jp", "shift_jis")]
    records = [html(body, content_type=kind) for kind in types for body in bodies]
    records += [html(b"\r\n<a href=x>", more=[("Content-Length", str(length))]) for length in (10, 12, 14)]
    both(tmp_path / "x.gz", pack([warcinfo(), html(b""), *records], level=1))


def test_bases_and_urls_of_pages_count_alike(tmp_path):
    bases = [
        "",
        "/b/",
        "b",
        "?x",
        "//c.example",
        "https://d.example/e",
        "http://[x/",
        "data:,x",
        "&#x2f;b/",
        "/&amp;/",
        "\\x",
        "é",
    ]
    urls = [
        "http://h.example/d/e",
        "https://h.example",
        "no url",
        "http://ü.example/",
        'http://h.example/<"é',
        "HTTP://H.example:80/x y",
    ]
    body = "<link href=first><base target=x><base href='{}'><base href=/no/><a href=x><img src=/y><a href='javascript:x(\"\\\\\")'>"
    records = [html(body.format(base).encode(), url) for base in bases for url in urls]
    both(tmp_path / "x.gz", pack([warcinfo(), html(b""), *records]))


def test_mutated_pages_are_read_alike(tmp_path):
    dice = random.Random(7)
    page = b"<!DOCTYPE html><base href=/b/><title>t</title><a class=\"x\" href='../y?a=1&amp;b=2'>z</a><script src=s>if(a<b)</script><img src=i>"
    records = []
    for _ in range(1500):
        body = bytearray(page)
        for _ in range(dice.randint(1, 4)):
            body[dice.randrange(len(body))] = dice.choice(b"<>\"'=/! -a&;\0\n\xe9")
        records.append(html(bytes(body)))
    text, given = both(tmp_path / "x.gz", pack([warcinfo(), html(b""), *records], level=1))
    assert text.count(b"\n") > 2500
    assert given < 300


def test_every_kind_of_link_is_found_alike(tmp_path):
    tags = [
        f"<{name} {attribute}=/{attribute} other=x></{name}>"
        for name, attributes in NAMES.items()
        for attribute in attributes
    ]
    records = [html("".join(tags).upper().encode()), html("".join(reversed(tags)).encode())]
    text, given = both(tmp_path / "x.gz", pack([warcinfo(), html(b""), *records]))
    assert {line.split(b'"')[-2].decode() for line in text.splitlines()} == KINDS
    assert given == 1


def test_mutated_records_are_read_alike(tmp_path):
    dice = random.Random(3)
    whole = page("http://h.example/d", ["x", "../y", "http://a.example/z?q", "é"], "/b/")
    records = []
    for _ in range(400):
        block = bytearray(whole[whole.index(b'{"Container"') : -4])
        for _ in range(dice.randint(1, 3)):
            block[dice.randrange(len(block))] = dice.choice(b'"{}[]:,\\x/ \x80')
        records.append(record("metadata", bytes(block), "http://r.example/", "application/json"))
    both(tmp_path / "x.gz", pack([warcinfo(), FIRST, *records], level=1))


def test_usual_pages_do_not_reach_python(tmp_path):
    references = [
        "x",
        "/y?a=b&c",
        "//c.example",
        "http://D.example:80/%7Ee",
        "#f",
        "javascript:g('h')",
        "../i j",
        "ü",
        "http://192.0.2.1",
    ]
    text, given = both(
        tmp_path / "x.gz", pack([warcinfo(), *(page(f"http://h.example/{n}", references) for n in range(50))])
    )
    assert text.count(b"\n") == 50 * len(references)
    assert given == 1  # the record by which the format is known
