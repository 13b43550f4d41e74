from __future__ import annotations

from collections import Counter

import pytest

from crawlmill.analysis.tags import TagCounter, count_tags


def test_count_tags_of_a_page_folds_case():
    assert count_tags(b"<P>one<p>two</P><DIV CLASS='x'>") == {"p": 2, "div": 1}
    assert type(count_tags(b"")) is Counter
    assert count_tags(b"no <3 tags") == {}


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (b"My-Element", "my-element"),
        ("aÉÖb".encode(), "aÉÖb"),  # only A-Z have a lower case in HTML
        ("a\u0130\u212a".encode(), "a\u0130\u212a"),  # str.lower() would make an i and a k of them
        (b"a\0B", "a\ufffdb"),
        (b"a\xe9B", "a\ufffdb"),  # Latin-1
        (b"a\xe2\x82B", "a\ufffdb"),  # one character cut short is one U+FFFD (Unicode 3.9, maximal subparts)
        (b"a\xff\xffb", "a\ufffd\ufffdb"),
    ],
)
def test_name_is_folded_and_decoded_as_the_tokenizer_would(spelling, name):
    assert count_tags(b"<" + spelling + b">") == {name: 1}


def test_drain_adds_the_spellings_of_a_name_and_empties_the_counter():
    counter = TagCounter()
    for page in (b"<DIV><Div><div>", b"<div><a\0><a\xef\xbf\xbd><a\xff>", b""):
        counter.add(page)
    assert len(counter) >= 2
    assert sorted(counter.drain()) == [("a\ufffd", 3), ("div", 4)]
    assert len(counter) == 0
    assert list(counter.drain()) == []


def test_drain_empties_at_once_and_what_is_added_meanwhile_is_kept():
    counter = TagCounter()
    counter.add(b"<a><b>")
    drained = counter.drain()
    assert len(counter) == 0
    counter.add(b"<c>")
    assert dict(drained) == {"a": 1, "b": 1}
    assert dict(counter.drain()) == {"c": 1}


def test_pages_do_not_run_into_each_other():
    counter = TagCounter()
    for page in (b"<script>", b"<b>", b"<!--", b"<i>", b"<u ", b"><s>", b"<svg>", b"<title/><q></title>"):
        counter.add(page)
    assert dict(counter.drain()) == {"script": 1, "b": 1, "i": 1, "s": 1, "svg": 1, "title": 1}
