"""Sentences and labels of the sample crawl, each with the words to count.

A `Lexicon` is the part of a language that a charset can represent. Words are joined by separators that certainly end a
word (blanks and punctuation), so the words of a phrase are those of its parts, one list after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawlmill.sample.dice import Dice
from crawlmill.sample.text.vocabulary import CAPITALS, COMMON, Language, Word

__all__ = ["Lexicon", "Phrase", "codec_of", "label", "lexicon", "passage", "sentence"]

# UTF-16 pages have a byte order mark of their own.
_CODECS = {"UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be", "TIS-620": "iso8859-11"}

_RANKS = 1_000_000
_IDENTIFIERS = 1 / 20  # share of the words of a passage
_NUMBERS = 10_000_000


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text and its words to count, in order."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of a language for pages in a charset."""

    language: Language
    charset: str
    codec: str
    plain: tuple[str, ...]
    odd: tuple[Word, ...]
    syllables: tuple[str, ...]
    gap: str
    pauses: tuple[str, ...]
    stops: tuple[str, ...]


def codec_of(charset: str) -> str:
    """Python's name of a charset."""
    return _CODECS.get(charset, charset)


def lexicon(language: Language, charset: str) -> Lexicon:
    """The part of the language that the charset can represent."""
    codec = codec_of(charset)

    def writable(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if _is_writable(text, codec))

    return Lexicon(
        language,
        charset,
        codec,
        writable(language.plain),
        tuple(word for word in (*language.odd, *COMMON) if _is_writable(word.written, codec)),
        writable(language.syllables),
        language.gap if _is_writable(language.gap, codec) else " ",
        writable(language.pauses),
        writable(language.stops),
    )


def _is_writable(text: str, codec: str) -> bool:
    try:
        written = text.encode(codec)
    except UnicodeEncodeError:
        return False
    # In ISO-2022-JP two-byte characters consist of ASCII bytes. Characters that look like markup are excluded, so that
    # the same tags are found whether or not such pages are decoded first.
    return codec != "ISO-2022-JP" or text.isascii() or not set(b"<>&\"'") & set(written)


def sentence(lexicon: Lexicon, dice: Dice, *, fresh: float = 0.15) -> Phrase:
    """A sentence of 6 to 22 words, a share `fresh` of which is composed of syllables and rarely repeated."""
    written: list[str] = []
    words: list[str] = []
    for place in range(dice.between(6, 22)):
        if place:
            written.append(dice.pick(lexicon.pauses) if dice.random() < 0.1 else lexicon.gap)
        drawn = dice.random()
        if drawn < fresh:
            word = "".join(dice.pick(lexicon.syllables) for _ in range(dice.between(2, 4)))
        elif drawn < fresh + 0.05:
            odd = dice.pick(lexicon.odd)
            written.append(odd.written)
            words += odd.counted
            continue
        else:
            word = dice.pick_early(lexicon.plain)
        words.append(word)
        written.append(word if place else CAPITALS.get(word[0], word[0]) + word[1:])
    return Phrase("".join(written) + dice.pick(lexicon.stops), tuple(words))


def passage(lexicon: Lexicon, dice: Dice) -> Phrase:
    """Sentences of 12 to 36 words in total, whose words are drawn by Zipf's law.

    The word of rank n occurs 1/n times as often as the first, as in real text, and some are identifiers and numbers
    that rarely repeat. So however long the text, there are always new words.
    """
    ranked = [_any_word(lexicon, dice) for _ in range(dice.between(12, 36))]
    written: list[str] = []
    for place, word in enumerate(ranked):
        begins = place % 12 == 0
        if place:
            written.append(lexicon.stops[0] + " " if begins else lexicon.gap)
        written.append(CAPITALS.get(word[0], word[0]) + word[1:] if begins else word)
    return Phrase("".join(written) + lexicon.stops[0], tuple(ranked))


def _any_word(lexicon: Lexicon, dice: Dice) -> str:
    if dice.chance(_IDENTIFIERS):
        return dice.token() if dice.chance(0.5) else str(dice.below(_NUMBERS))
    return _word_of_rank(lexicon, int(_RANKS ** dice.random()) - 1)


def _word_of_rank(lexicon: Lexicon, rank: int) -> str:
    """The plain words of the language first, then numbers (one in ten) and numbers spelled in syllables."""
    beyond = rank - len(lexicon.plain)
    if beyond < 0:
        return lexicon.plain[rank]
    if beyond % 10 == 0:
        return str(beyond)
    base, spelled = len(lexicon.syllables), ""
    while beyond:
        beyond, syllable = divmod(beyond, base)
        spelled += lexicon.syllables[syllable]
    return spelled


def label(lexicon: Lexicon, dice: Dice) -> Phrase:
    """One to three plain words, as on links and buttons."""
    words = tuple(dice.pick(lexicon.plain) for _ in range(dice.between(1, 3)))
    return Phrase(" ".join(words), words)
