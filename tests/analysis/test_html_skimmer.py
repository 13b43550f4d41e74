"""Skimming a page gives the names that reading it tag by tag gives."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.test_html_tokenizer import FOREIGN, FOREIGN_FRAGMENTS, FRAGMENTS, HOSTILE, PAGES

from crawlmill.analysis import html_skimmer
from crawlmill.analysis.html_skimmer import skim_tag_names
from crawlmill.analysis.html_tokenizer import _walk

PLAIN = [
    b"<p>",
    b"</p>",
    b"<a href='x' title=\"y\">",
    b"text ",
    b"a = b ",
    b'="<',
    b"='>",
    b"= 'x>",
    b'<i b="c>',
    b"<br/>",
]


@pytest.mark.parametrize(("page", "names"), [pytest.param(*case[1:], id=case[0]) for case in PAGES + FOREIGN])
def test_names_of_hand_counted_page_are_found(page, names):
    assert Counter(name.decode() for name in skim_tag_names(page)) == Counter(names.split(" ") if names else [])


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(FRAGMENTS + FOREIGN_FRAGMENTS + PLAIN), max_size=50).map(b"".join))
def test_names_in_markup_soup_are_those_of_the_tokenizer(page):
    assert Counter(skim_tag_names(page)) == Counter(_walk(page))


@settings(max_examples=500)
@given(st.text("<>/!-=\"' ax\n", max_size=60).map(str.encode))
def test_names_in_letters_of_markup_are_those_of_the_tokenizer(page):
    assert Counter(skim_tag_names(page)) == Counter(_walk(page))


def test_page_too_long_for_a_list_of_its_tags_is_read_tag_by_tag(monkeypatch):
    page = b"<svg><title/>" + b"<b a='>'>" * 100
    expected = Counter(skim_tag_names(page))
    monkeypatch.setattr(html_skimmer, "AT_ONCE_BYTES", 10)
    assert not isinstance(skim_tag_names(page), list)
    assert Counter(skim_tag_names(page)) == expected == Counter({b"b": 100, b"svg": 1, b"title": 1})


def test_hostile_pages_take_linear_time():
    code = HOSTILE.replace("_walk, start_tag_names", "start_tag_names")
    code = code.replace("(start_tag_names, _walk)", "(skim_tag_names,)").replace("100_000", "400_000")
    code = "from crawlmill.analysis.html_skimmer import skim_tag_names\n" + code
    more = "units = [b'=\"x>', b\"='x>\", b'=\"<', b'= ', b'<a b=\"c>\">', b'<script/>'] + units[:4]"
    code = code.replace("leads = [", f"{more}\nleads = [b'<a ' + b'x' * 200_000 + b'>', ")
    # A reader that goes back for each "=" or "<" takes hours. The limit is a hang guard.
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
