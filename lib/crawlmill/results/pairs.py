"""Reading the lines of results: `key TAB value`, both JSON in UTF-8; and lines of any text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from json.scanner import make_scanner
from typing import Any, Final

__all__ = ["decode_pair", "lines_of"]

_scan: Final = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]  # typeshed takes its argument for its result


def decode_pair(line: bytes) -> tuple[Any, Any]:
    """Key and value of a line, which may have its line end.

    Raises:
        ValueError: This is no pair.
    """
    try:
        name, _, text = line.decode().rstrip("\r\n").partition("\t")
        key, key_end = _scan(name, 0)
        value, value_end = _scan(text, 0)
        if key_end == len(name) and value_end == len(text):
            return key, value
    except (StopIteration, ValueError):
        pass
    raise ValueError(f"expected key TAB value in JSON, got {line[:80]!r}")


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text that comes in chunks, without the line feeds at which they are cut."""
    rest: list[bytes] = []
    for chunk in chunks:
        first, *lines = chunk.split(b"\n")
        rest.append(first)
        if lines:
            yield b"".join(rest)
            yield from lines[:-1]
            rest = [lines[-1]]
    if last := b"".join(rest):
        yield last
