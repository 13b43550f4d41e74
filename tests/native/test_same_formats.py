"""Both cores expect the same formats of structured data in a page."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.native.cores import using

from crawlmill import core
from crawlmill.analysis.structured.markup import FORMATS, formats_in

pytestmark = pytest.mark.skipif(core.native() is None, reason="the native core is not installed")

_PIECES = [
    *(
        b"class",
        b"CLASS",
        b"itemprop",
        b"ItemType",
        b"property",
        b"TYPEOF",
        b"vocab",
        b"rel",
        b"REV",
        b"type",
        b"xtype",
    ),
    *(b"=", b"=", b'="', b"='", b" = ", b"\t=\n", b'"', b"'", b" ", b"\n", b"\x0c", b"/", b">", b"<a", b"\0", b"\xe9"),
    *(b"h-card", b"H-1", b"h-", b"vcard", b"Geo", b"hreview-aggregate", b"hreview-x", b"nav-item", b"row have"),
    *(b"&", b"&#", b"ld+json", b"LD+JSON", b":", b"license", b"stylesheet", b"pe", b"el", b"ss"),
]


def both(page: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The formats on the native core, and in Python."""
    wanted = frozenset(FORMATS)
    with using("native"):
        native = formats_in(page, wanted)
    with using("python"):
        return native, formats_in(page, wanted)


@settings(max_examples=1500, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=30).map(b"".join))
def test_formats_in_soup_of_attributes_are_those_of_python(page):
    native, python = both(page)
    assert native == python


def test_formats_at_every_place_of_a_page_are_those_of_python():
    chance, found = random.Random(7), set()
    attributes = [b" itemprop=", b"/TypeOf\t=", b'"type="ld+json"', b" rel='a:b'", b' class="a h-x"', b" class=nothing"]
    for length in [*range(8), *range(1000, 1050), *range(2030, 2060)]:
        filler = b"".join(chance.choices([b"<p class=x>", b"a=b ", b"text "], k=length))[:length]
        page = filler + chance.choice(attributes) + filler
        native, python = both(page)
        assert native == python, page
        found.update(native)
    assert found == set(FORMATS)
