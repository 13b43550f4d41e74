"""Lists of patterns: one per line, optionally followed by a tab and a match; blank lines and comments are skipped."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.indexes.query import Query
from crawlmill.storage import Storage, redact
from crawlmill.urls.patterns import MATCHES, Pattern, keys_of_urls, parse_pattern, pattern_of_key

__all__ = ["query_of_line", "read_pattern_lists", "single_keys"]

_GZIP: Final = b"\x1f\x8b"
_MAX_BYTES: Final = 4 << 30
_BINARY: Final = b"\0"


def read_pattern_lists(
    lists: list[str], storage: Storage, stdin: BinaryIO | None, like: Query, *, is_key: bool, match: str | None
) -> tuple[dict[str, Query], int]:
    """The queries of the distinct lines of the lists, in order, and the number of repeated lines.

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
    found: dict[str, Query] = {}
    lines = 0
    for name in lists:
        numbered = list(_lines(name, storage, stdin))
        lines += len(numbered)
        keys = single_keys([line for _, line in numbered], is_key=is_key, match=match) or [None] * len(numbered)
        for (number, line), key in zip(numbered, keys, strict=True):
            if line in found:
                continue
            try:
                pattern = None if key is None else pattern_of_key(line, key)
                found[line] = query_of_line(line, like, is_key=is_key, match=match, pattern=pattern)
            except UsageError as error:
                raise UsageError(f"{redact(name)}, line {number}: {error}") from None
    if not found:
        raise UsageError(f"no pattern in {' '.join(map(redact, lists))}: the list is empty")
    return found, lines - len(found)


def single_keys(lines: Sequence[str], *, is_key: bool, match: str | None) -> list[bytes | None] | None:
    """The keys of lines that are ordinary URLs and select only that key; None if lines cannot be read this way."""
    return None if is_key or match not in (None, "exact") else keys_of_urls(lines)


def query_of_line(line: str, like: Query, *, is_key: bool, match: str | None, pattern: Pattern | None = None) -> Query:
    """The query of a line, `PATTERN` or `PATTERN<TAB>MATCH`, with the options of `like`. Raises: UsageError."""
    if pattern is None:
        text, tab, word = line.partition("\t")
        if tab and word.strip() not in MATCHES:
            raise UsageError("a match", expected=", ".join(MATCHES), actual=repr(word[:40]))
        pattern = parse_pattern(text, word.strip() if tab else match, is_key=is_key)
    return Query(
        pattern, like.start, like.end, like.filters, like.newest, like.distinct, like.sort, like.closest, like.limit
    )


def _lines(name: str, storage: Storage, stdin: BinaryIO | None) -> Iterator[tuple[int, str]]:
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
    for number, raw in enumerate(io.BytesIO(data.removeprefix(codecs.BOM_UTF8)), 1):
        line = raw.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
        if line.strip() and not line.startswith("#"):
            yield number, line
