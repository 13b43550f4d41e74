"""Parses lines of results: `key TAB value`, both JSON in UTF-8; and splits any text into lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from json.scanner import make_scanner
from typing import Any, Final, NoReturn

__all__ = ["decode_pair", "from_json", "lines_of"]


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"expected JSON, got {name}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(f"{text[:20]}, which is beyond all numbers")
    return number


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
_scan: Final = make_scanner(_DECODER)  # type: ignore[arg-type]  # typeshed confuses its argument with its result

from_json: Final = _DECODER.decode
"""The value of a text. Other than Python's own reader of JSON it refuses NaN and infinite numbers.

Raises:
    ValueError: This is no JSON.
"""


def decode_pair(line: bytes) -> tuple[Any, Any]:
    """Parse the key and value of a line, with or without its line end.

    Raises:
        ValueError: It is not a pair.
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
    """Yield the lines of a text given in chunks, without line feeds."""
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
