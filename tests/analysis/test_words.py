from __future__ import annotations

import re
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data import shared

from crawlmill.analysis import words
from crawlmill.analysis.words import WordCounter, count_words

EVERYTHING = [chr(code) for code in range(sys.maxunicode + 1)]


# Counted by hand: \w is a letter, digit or number of any script, or the underscore; a mark is none.
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        (" \t\r\n", ""),
        ("Hello hello, WORLD!", "hello hello world"),
        ("snake_case __ 2024 don't a-b a.b", "snake_case __ 2024 don t a b a b"),
        ("x\u00a0y x\u200dy x\u00ady \u2028z\u2029z\u0085z\x1fz", "x y x y x y z z z z"),
        ("漢字かな交じり文 東京。東京", "漢字かな交じり文 東京 東京"),
        ("한국어 Ελλάδα Привет", "한국어 ελλάδα привет"),
        ("ΟΔΟΣ ΟΔΟΣ. Σ ΣΑ", "οδος οδος σ σα"),  # a sigma is final where the word ends
        ("ΟΔΟΣ'Α ΟΔΟΣ\u00adΑ", "οδοσ α οδοσ α"),  # not before an apostrophe or soft hyphen and a letter
        ("cafe\u0301 CAFÉ", "cafe café"),  # a combining mark ends a word
        ("İstanbul IŞIK", "i stanbul işik"),  # str.lower() of İ is i and a combining dot
        ("Straße STRASSE ẞ", "straße strasse ß"),
        ("½ ² ٠١٢ Ⅳ ㈠ €5 ª", "½ ² ٠١٢ ⅳ ㈠ 5 ª"),  # numbers of every kind are \w
        ("“quoted” – dash… © naïve", "quoted dash naïve"),
        ("हिन्दी", "ह न द"),  # vowel signs and virama are marks
        ("a\ud800b c\udfff", "a b c"),  # half surrogates, as surrogateescape leaves them
        ("\U0001f600x𝒳\U0001f600y", "x𝒳 y"),
    ],
)
def test_words_of_hand_counted_text_are_found(text, found):
    wanted = Counter(found.split(" ")) if found else Counter()
    assert count_words(text) == wanted
    assert count_words(" ." * 400 + text) == wanted  # mostly ASCII: read another way


def test_a_word_character_is_alphanumeric_or_underscore_in_all_of_unicode():
    assert [c for c in EVERYTHING if re.match(r"\w", c)] == [c for c in EVERYTHING if c.isalnum() or c == "_"]
    assert not [c for c in EVERYTHING if c.isalnum() and c.isspace()]


def test_every_character_of_unicode_in_mostly_ascii_text_is_read_as_the_expression_reads_it():
    # The planes with words and marks in them; that the two readings agree on the rest follows from the test above.
    for start in range(0x80, 0x20000, 30):
        batch = EVERYTHING[start : start + 30]
        text = "".join(f"Some ascii{c}text, of some more length, as it is{c} written\n" for c in batch)
        assert words._without_strange(text.lower()) is not None
        assert count_words(text) == Counter(re.findall(r"\w+", text.lower()))


mostly_ascii = st.lists(st.one_of(st.text("abcXYZ09_ .,-'<\n\x1c", max_size=30), st.text(max_size=2))).map("".join)


@settings(derandomize=True, deadline=None, database=None, max_examples=500)
@given(st.one_of(st.text(), mostly_ascii, st.text("aΣσ'\u00ad. Əİıſß“”\u00a0_é")))
def test_words_of_any_text_are_those_of_the_expression(text):
    assert count_words(text) == Counter(re.findall(r"\w+", text.lower()))


def test_text_with_many_strange_characters_takes_one_pass():
    text = "".join(f"word{chr(0x2190 + n)} and some more ascii text " for n in range(1000))
    assert words._without_strange(text) is None
    assert count_words(text) == Counter(re.findall(r"\w+", text))


@pytest.mark.parametrize("document_frequency", [False, True])
def test_very_long_text_is_counted_the_same(monkeypatch, document_frequency):
    def count():
        counter = WordCounter(document_frequency)
        counter.add("One two, TWO – three " * 3)
        counter.add("two")
        return dict(counter.drain())

    at_once = count()
    monkeypatch.setattr(words, "_AT_ONCE_CHARACTERS", 10)
    assert count() == at_once
    assert at_once["two"] == ([7, 2] if document_frequency else 7)


def test_document_frequency_counts_a_word_once_per_document():
    counter = WordCounter(document_frequency=True)
    for text in ("a b a", "A c", "", "b"):
        counter.add(text)
    assert len(counter) == 3
    assert dict(counter.drain()) == {"a": [3, 2], "b": [2, 2], "c": [1, 1]}
    assert len(counter) == 0
    counter.add("a")
    assert list(counter.drain()) == [("a", [1, 1])]


@pytest.mark.parametrize("document_frequency", [False, True])
def test_drain_empties_at_once_and_what_is_added_meanwhile_is_kept(document_frequency):
    counter = WordCounter(document_frequency)
    counter.add("a b")
    drained = counter.drain()
    assert len(counter) == 0
    counter.add("c")
    assert sorted(word for word, _ in drained) == ["a", "b"]
    assert [word for word, _ in counter.drain()] == ["c"]


def test_words_of_a_real_wet_file_are_those_of_the_expression():
    fastwarc = pytest.importorskip("fastwarc")
    with shared("commoncrawl/whirlwind.warc.wet.gz").open("rb") as stream:
        records = fastwarc.ArchiveIterator(stream, record_types=fastwarc.WarcRecordType.conversion)
        texts = [record.reader.read().decode() for record in records]
    assert texts
    for text in texts:
        assert count_words(text) == Counter(re.findall(r"\w+", text.lower()))
