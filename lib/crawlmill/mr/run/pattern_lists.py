"""Lists of patterns: one per line, optionally followed by a tab and a match; blank lines and comments are skipped."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.indexes.query import Queries, Query
from crawlmill.storage import Storage, redact
from crawlmill.urls.patterns import MATCHES, Pattern, keys_of_urls, parse_pattern

__all__ = ["Asked", "query_of_line", "read_pattern_lists", "single_keys"]

_GZIP: Final = b"\x1f\x8b"
_MAX_BYTES: Final = 4 << 30
_BINARY: Final = b"\0"


class Asked:
    """The distinct lines of lists, in order, and what they ask for."""

    def __init__(self, like: Query) -> None:
        self._like = like
        self._found: dict[str, Pattern | bytes] = {}  # as in `Queries`

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, line: str) -> bool:
        return line in self._found

    def add(self, line: str, pattern: Pattern | bytes) -> None:
        """Add a line with its pattern, or the single key that it selects."""
        self._found[line] = pattern

    def low(self, line: str) -> bytes:
        """Where the ranges of a line's pattern begin; queries are in the order of these."""
        found = self._found[line]
        return found + b" " if isinstance(found, bytes) else found.ranges[0].low

    def queries(self, lines: Sequence[str]) -> Queries:
        """The queries of some of the lines."""
        return Queries(self._like, lines, [self._found[line] for line in lines])


def read_pattern_lists(
    lists: list[str], storage: Storage, stdin: BinaryIO | None, like: Query, *, is_key: bool, match: str | None
) -> tuple[Asked, int]:
    """What the lists ask for, and the number of repeated lines.

    Args:
        lists: Locations, plain or gzip; `-` is stdin.
        storage: Opens them.
        stdin: The stream read for `-`.
        like: A query with all options, for any pattern.
        is_key: Whether patterns are urlkeys.
        match: The match of lines that do not state one.

    Raises:
        UsageError: A list cannot be read, a line is invalid (with its number), or there is no pattern at all.
    """
    if not lists:
        raise UsageError("no list of patterns given: name a file with one URL per line, or `-` for stdin")
    found = Asked(like)
    lines = 0
    for name in lists:
        numbered = _lines(name, storage, stdin)
        lines += len(numbered)
        keys = single_keys([line for _, line in numbered], is_key=is_key, match=match) or [None] * len(numbered)
        for (number, line), key in zip(numbered, keys, strict=True):
            if line in found:
                continue
            try:
                found.add(line, key or _pattern_of(line, is_key=is_key, match=match))
            except UsageError as error:
                raise UsageError(f"{redact(name)}, line {number}: {error}") from None
    if not found:
        raise UsageError(f"no pattern in {' '.join(map(redact, lists))}: the list is empty")
    return found, lines - len(found)


def single_keys(lines: Sequence[str], *, is_key: bool, match: str | None) -> list[bytes | None] | None:
    """The keys of lines that are ordinary URLs and select only that key; None if lines cannot be read this way."""
    return None if is_key or match not in (None, "exact") else keys_of_urls(lines)


def query_of_line(line: str, like: Query, *, is_key: bool, match: str | None) -> Query:
    """The query of a line, `PATTERN` or `PATTERN<TAB>MATCH`, with the options of `like`. Raises: UsageError."""
    return like.of(_pattern_of(line, is_key=is_key, match=match))


def _pattern_of(line: str, *, is_key: bool, match: str | None) -> Pattern:
    text, tab, word = line.partition("\t")
    if tab and word.strip() not in MATCHES:
        raise UsageError("a match", expected=", ".join(MATCHES), actual=repr(word[:40]))
    return parse_pattern(text, word.strip() if tab else match, is_key=is_key)


def _lines(name: str, storage: Storage, stdin: BinaryIO | None) -> list[tuple[int, str]]:
    try:
        if name == "-":
            if stdin is None:
                raise UsageError("no standard input to read patterns from")
            data = stdin.read()
        else:
            data = storage.read_all(name, limit=_MAX_BYTES)
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except SourceError as error:
        raise UsageError(f"cannot read the list of patterns {redact(name)}: {error}") from error
    except (EOFError, OSError, zlib.error) as error:
        raise UsageError(f"the list of patterns {redact(name)} is damaged: {error}") from error
    if _BINARY in data[:4096] or data.startswith((b"WARC/", b"filedesc://", b"SEQ")):
        raise UsageError(f"{redact(name)} is not a list of patterns: it is a crawl file, or binary")
    lines = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").split("\n")
    if b"\r" in data:
        lines = [line.rstrip("\r") for line in lines]
    return [(number, line) for number, line in enumerate(lines, 1) if line and line[0] != "#" and not line.isspace()]
