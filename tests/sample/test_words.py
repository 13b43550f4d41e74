"""The words that the generator declares, against Python's own `re` and `str.lower`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest

from crawlmill.sample.dice import Dice
from crawlmill.sample.text.prose import label, lexicon, passage, sentence
from crawlmill.sample.text.vocabulary import CAPITALS, COMMON, LANGUAGES

ALL = [language for _, language in LANGUAGES]
CHARSETS = [(language, charset) for language in ALL for charset in (*language.charsets, "UTF-16LE", "UTF-16BE")]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("language", ALL, ids=lambda language: language.code)
def test_vocabulary_words_count_as_declared(language):
    for plain in (*language.plain, *language.syllables):
        assert words(plain) == [plain]
        assert unicodedata.is_normalized("NFC", plain)
    for odd in (*language.odd, *COMMON):
        assert words(odd.written) == list(odd.counted), odd


def test_vocabulary_capitals_become_the_same_letters_again():
    assert all(capital.lower() == letter and capital != letter for letter, capital in CAPITALS.items())


def test_vocabulary_characters_are_older_than_every_supported_python():
    old = unicodedata.ucd_3_2_0
    letters = {character for language in ALL for text in language.plain for character in text}
    assert [character for character in letters if old.category(character) == "Cn"] == []


@pytest.mark.parametrize(("language", "charset"), CHARSETS, ids=lambda part: getattr(part, "code", part))
def test_prose_words_of_every_charset_count_as_declared(language, charset):
    known, dice = lexicon(language, charset), Dice("test", charset)
    for phrase in [make(known, dice) for make in (sentence, label, passage) for _ in range(25)]:
        assert words(phrase.text) == list(phrase.words)
        assert phrase.text.encode(known.codec).decode(known.codec) == phrase.text


def test_prose_iso_2022_jp_holds_no_bytes_that_look_like_markup():
    japanese = next(language for language in ALL if language.code == "ja")
    known, dice = lexicon(japanese, "ISO-2022-JP"), Dice("test")
    parts = [sentence(known, dice).text for _ in range(200)]
    two_byte = re.findall(rb"\x1b\$B(.*?)\x1b\(B", "\n".join(parts).encode("ISO-2022-JP"), re.DOTALL)
    assert two_byte
    assert not [text for text in two_byte if set(text) & set(b"<>&\"'")]


def test_prose_passages_have_always_something_new_and_mostly_something_old():
    known, dice = lexicon(ALL[0], "UTF-8"), Dice("test")
    counts: Counter[str] = Counter()
    distinct = []
    for _ in range(2):
        for _ in range(2000):
            counts.update(passage(known, dice).words)
        distinct.append(len(counts))
    # By Zipf's law with a million words, as many again bring a half to two thirds as many new words.
    assert 1.5 < distinct[1] / distinct[0] < 1.9
    assert counts["the"] > 20 * counts["free"] > 0
    assert sum(number for number in counts.values() if number > 9) > counts.total() / 3
