"""Lines of CDX APIs become lines of CDXJ, whichever server has written them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.errors import FormatError
from crawlmill.indexes.cdx_api.answer import read_page
from crawlmill.indexes.cdx_api.lines import canonical_lines

HEAD = 'com,a)/{x 20240101000000 {"url": "http://a.com/{x", "mime": "text/html", "status": "200", "digest": "D", "length": "1", "offset": "2", "filename": "f"'
LINES = {
    "as on disk": (HEAD + ', "charset": "UTF-8", "languages": "eng", "redirect": "r"}', HEAD + ', "charset": "UTF-8", "languages": "eng", "redirect": "r"}'),
    "pywb": (HEAD + ', "source": "c", "source-coll": "c:x"}', HEAD + "}"),
    "pywb without source": (HEAD + ', "charset": "x", "source-coll": "c"}', HEAD + ', "charset": "x"}'),
    "Common Crawl": (HEAD + ', "languages": "eng", "encoding": "UTF-8"}', HEAD + ', "charset": "UTF-8", "languages": "eng"}'),
    "Common Crawl, truncated": (HEAD + ', "languages": "eng", "encoding": "U", "truncated": "length"}', HEAD + ', "charset": "U", "languages": "eng", "truncated": "length"}'),
    "absent": (HEAD.replace('"200"', '"-"') + ', "redirect": "-"}', HEAD.replace('"status": "200", ', "") + "}"),
    "other order": ('a)/ 20240101000000 {"status": "200", "url": "u"}', 'a)/ 20240101000000 {"url": "u", "status": "200"}'),
    "unknown keys": ('a)/ 20240101000000 {"new": "1", "url": "u", "recordid": "2"}', 'a)/ 20240101000000 {"url": "u", "new": "1", "recordid": "2"}'),
    "narrow JSON": ('a)/ 20240101000000 {"url":"u","mime":"m"}', 'a)/ 20240101000000 {"url": "u", "mime": "m"}'),
    "escapes": ('a)/ 20240101000000 {"url": "u\\"\\/\\u00e9", "source": "x"}', 'a)/ 20240101000000 {"url": "u\\"/\\u00e9"}'),
    "raw UTF-8": ('a)/ 20240101000000 {"url": "é"}', 'a)/ 20240101000000 {"url": "\\u00e9"}'),
    "names in a value": ('a)/ 20240101000000 {"url": "x, \\"source\\": \\"y\\"", "encoding": "z"}', 'a)/ 20240101000000 {"url": "x, \\"source\\": \\"y\\"", "charset": "z"}'),
    "object": ('{"urlkey": "a)/", "timestamp": "20240101000000", "original": "u", "statuscode": "200"}', 'a)/ 20240101000000 {"url": "u", "status": "200"}'),
    "Wayback": ("a)/ 20240101000000 http://a/ text/html - D 9", 'a)/ 20240101000000 {"url": "http://a/", "mime": "text/html", "digest": "D", "length": "9"}'),
    "CDX 11": ("a)/ 20240101000000 http://a/ m 200 D - - 9 8 f.gz", 'a)/ 20240101000000 {"url": "http://a/", "mime": "m", "status": "200", "digest": "D", "length": "9", "offset": "8", "filename": "f.gz"}'),
    "fuzzy": ('a)/ 20240101000000 {"url": "u", "is_fuzzy": "1"}', None),
}  # fmt: skip


@pytest.mark.parametrize("kind", LINES)
def test_a_line_of_each_kind(kind):
    given_line, wanted = LINES[kind]
    assert canonical_lines(f"{given_line}\n".encode()) == (f"{wanted}\n".encode() if wanted else b"")


@given(st.lists(st.sampled_from(sorted(LINES)), max_size=12))
def test_lines_of_all_kinds_in_one_page_keep_their_order(kinds):
    text = "".join(f"{LINES[kind][0]}\n" for kind in kinds)
    wanted = "".join(f"{LINES[kind][1]}\n" for kind in kinds if LINES[kind][1])
    assert canonical_lines(text.encode()) == wanted.encode()


VALUES = st.text(st.characters(codec="ascii") | st.sampled_from('\\"é,:{}'), max_size=12).filter(
    lambda text: text != "-"
)
NAMES = ["url", "mime", "status", "languages", "encoding", "charset", "source", "source-coll", "other", "redirect"]


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1), st.booleans())
def test_any_fields_keep_their_values(fields, ascii_only):
    fields.pop("charset" if "encoding" in fields else "", None)
    line = f"a)/ 20240101000000 {json.dumps(fields, ensure_ascii=ascii_only)}\n".encode()
    found = canonical_lines(line).decode().split(" ", 2)[2]
    wanted = {
        ("charset" if name == "encoding" else name): value
        for name, value in fields.items()
        if not name.startswith("source")
    }
    assert json.loads(found) == wanted
    assert found == json.dumps(json.loads(found)) + "\n"
    assert canonical_lines(canonical_lines(line)) == canonical_lines(line)


@pytest.mark.parametrize("line", ["a", "a)/ 2024 {}", 'a)/ 20240101000000 {"url": "u"', '{"url": "u"}', "<html>", 'a)/ 20240101000000 {"url": "u"} x'])  # fmt: skip
def test_what_is_no_capture_is_an_error(line):
    with pytest.raises(FormatError):
        canonical_lines(f'a)/ 20240101000000 {{"url": "u"}}\n{line}\n'.encode())


def test_a_page_that_comes_line_by_line_is_not_copied_again_for_each():
    """As pywb sends it: each line a chunk of its own."""
    copied = 0

    class Piece(bytes):
        def __radd__(self, before):
            nonlocal copied
            copied += len(before)
            return before + bytes(self)

    lines = [f'com,a)/{n:06} 20240101000000 {{"url": "http://a.com/{n:06}"}}\n'.encode() for n in range(20_000)]
    page = read_page(SimpleNamespace(status=200, pieces=lambda: map(Piece, lines)))
    assert b"".join(page.chunks()) == b"".join(lines)
    assert not page.is_empty
    assert copied < 20 * sum(map(len, lines))
