r"""Counts the words of documents, for `word_count`.

A word is a maximal run of characters that Python's `re` matches with `\w` in the text after `str.lower()`: those for
which `str.isalnum()` is true, and "_". Combining marks, joiners and apostrophes are not among them, so they end a word.
There is no stemming and no segmentation: a Chinese sentence between two punctuation marks is one word.

Which characters these are depends on the interpreter's Unicode version (`unicodedata.unidata_version`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from crawlmill import core

__all__ = ["WordCounter", "count_words"]

_WORD = re.compile(r"\w+")

# Longer texts are not held as a list of their words.
_AT_ONCE_CHARACTERS = 4 << 20

_LINES_AT_ONCE = 4096

# If there are more different characters than this, one pass over the text for each is not worth it.
_MANY = 32

_ASCII = bytes(range(0x80))
_ASCII_TO_WORDS = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(0x100)
)


class WordCounter:
    """Counts over many documents, held until drained.

    `len()` is the number of distinct words held. `native` is the corresponding counter of the native core, which can
    also count the texts of an archive while they are read; None in Python.
    """

    __slots__ = ("_counter", "native")

    def __init__(self, document_frequency: bool = False) -> None:
        native = core.native()
        self.native: Any | None = None if native is None else native.WordCounter(document_frequency)
        self._counter = _PythonCounter(document_frequency) if self.native is None else self.native

    def add(self, text: str) -> None:
        """Count one document."""
        self._counter.add(text)

    def add_utf8(self, text: bytes) -> None:
        """Count one document in UTF-8; invalid bytes count as U+FFFD. Faster than `add` with the native core."""
        self._counter.add_utf8(text)

    def __len__(self) -> int:
        return len(self._counter)

    def drain(self) -> Iterator[tuple[str, int | list[int]]]:
        """Yield each word once with its count, or with [count, documents with it]; in no particular order.

        The counter is empty as soon as this is called.
        """
        return iter(self._counter.drain())

    def drain_lines(self) -> Iterable[bytes]:
        """The same as lines of JSON, `key TAB value`, several in each item. The counter is then empty."""
        return self._counter.drain_lines()


class _PythonCounter:
    """The number of texts that contain each word, and how often words were repeated within a text.

    Most words occur once in a text, so nearly all of them are looked up in one large dictionary instead of two.
    """

    __slots__ = ("_document_frequency", "_repeated", "_words")

    def __init__(self, document_frequency: bool) -> None:
        self._document_frequency = document_frequency
        self._words: Counter[str] = Counter()  # with `document_frequency`, each word counts once per text
        self._repeated: dict[str, int] = {}

    def add_utf8(self, text: bytes) -> None:
        self.add(text.decode("utf-8", "replace"))

    def add(self, text: str) -> None:
        words = _words_of(text)
        if not self._document_frequency:
            self._words.update(words)
            return
        here = Counter(words)
        self._words.update(here.keys())
        repeated = self._repeated
        before = repeated.get
        for word, count in here.items():
            if count > 1:
                repeated[word] = before(word, 0) + count - 1

    def __len__(self) -> int:
        return len(self._words)

    def drain(self) -> Iterator[tuple[str, int | list[int]]]:
        words, repeated = self._emptied()
        if not self._document_frequency:
            return iter(words.items())
        more = repeated.get
        return ((word, [documents + more(word, 0), documents]) for word, documents in words.items())

    def drain_lines(self) -> Iterator[bytes]:
        # The characters of words need no escapes in JSON.
        words, repeated = self._emptied()
        if self._document_frequency:
            more = repeated.get
            lines = (f'"{word}"\t[{number + more(word, 0)},{number}]\n' for word, number in words.items())
        else:
            lines = (f'"{word}"\t{number}\n' for word, number in words.items())
        while some := "".join(islice(lines, _LINES_AT_ONCE)):
            yield some.encode()

    def _emptied(self) -> tuple[Counter[str], dict[str, int]]:
        """Return what was held, and empty the counter."""
        held = self._words, self._repeated
        self._words, self._repeated = Counter(), {}
        return held


def count_words(text: str) -> Counter[str]:
    """The words of one text.

    >>> count_words("Don't panic: DON")
    Counter({'don': 2, 't': 1, 'panic': 1})
    """
    counter = WordCounter()
    counter.add(text)
    return Counter(dict(counter.drain()))


def _words_of(text: str) -> Iterable[str]:
    """The words in order; a list unless the text is very long."""
    text = text.lower()
    if len(text) > _AT_ONCE_CHARACTERS:
        return (word[0] for word in _WORD.finditer(text))
    usual = _without_strange(text)
    if usual is None:
        return _WORD.findall(text)
    # Characters outside words are now blanks or ASCII, and a table replaces the latter by blanks: the same words as
    # by the expression, at twice its speed.
    return _utf8(usual).translate(_ASCII_TO_WORDS).decode("utf-8", "surrogatepass").split()


def _without_strange(text: str) -> str | None:
    """The text with blanks for characters that are neither ASCII nor in a word; None if this would not save time."""
    if text.isascii():
        return text
    encoded = _utf8(text)
    if len(encoded) - len(text) > len(text) // 8:
        return None
    others = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    strange = [character for character in others if not character.isalnum()]
    if len(strange) > _MANY:
        return None
    for character in strange:
        text = text.replace(character, " ")
    return text


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
