"""Lines of CDX APIs become the same lines of CDXJ on both cores."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.cores import using

from crawlmill.indexes.cdx_api.lines import canonical_lines, usual_lines

native = pytest.importorskip("crawlmill_native")

PLAIN = st.text(st.sampled_from("a-/:{}, =~\x7f"), max_size=4)
ODD = st.text(st.sampled_from('a-\\"é\n'), max_size=3)
NAMES = st.sampled_from(
    [
        *("url", "mime", "mime-detected", "status", "digest", "length", "offset", "filename", "languages", "charset"),
        *("encoding", "source", "source-coll", "truncated", "redirect", "recordid", "new", "original", "is_fuzzy"),
    ]
)
PAIRS = st.lists(st.tuples(NAMES, PLAIN | ODD), max_size=9)
KEYS = st.sampled_from(["a)/", "com,a)/{x", "é)/"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"])


def line_of(key: str, pairs: list[tuple[str, str]], end: str) -> str:
    inner = ", ".join(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in pairs)
    return f'{key} 20240101000000 {{"url": "u", {inner}}}{end}' if pairs else f"{key} 20240101000000 {{}}{end}"


@given(st.lists(st.builds(line_of, KEYS, PAIRS, ENDS), min_size=1, max_size=3))
def test_usual_lines_are_what_the_exact_rules_make_of_them(lines):
    text = "".join(lines).encode()
    with using("python"):
        ours, usual = canonical_lines(text), usual_lines(text)
    assert native.api_lines(text) in (None, ours)
    assert usual in (None, ours)


@pytest.mark.parametrize("name", ["python", "native"])
@pytest.mark.parametrize(
    "more",
    ["", ', "source": "c"', ', "source": "c", "source-coll": "c:x"', ', "languages": "eng", "encoding": "UTF-8"'],
)
def test_lines_of_the_usual_servers_are_usual(name, more):
    text = f'com,a)/ 20240101000000 {{"url": "http://a.com/", "mime": "text/html"{more}}}\n'.encode() * 3
    with using(name):
        assert usual_lines(text) == canonical_lines(text)
        assert usual_lines(b"".join(text.replace(b'"c"', b'"%d"' % n) for n in range(9))) is not None
