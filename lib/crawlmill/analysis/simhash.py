"""The 64-bit similarity hash published by Common Crawl in 2012 (`text_simhash`), and that of the package `simhash`.

    >>> text_simhash("abcde")
    2748145790002434242

Texts that differ little have hashes that differ in few bits: a small edit changes two to six, unrelated texts differ in
25 to 40. `text_simhash` is defined over UTF-16 code units ("characters" in Java), without normalisation, including a
byte order mark:

1. Take the text's distinct windows of four units; with fewer than four units the hash is 0.
2. Each window, as 8 big-endian bytes, has a Rabin fingerprint: its remainder modulo x^64 plus the polynomial
   `0xD74307D3FD3382DB`, whose highest bit is the lowest power. The initial state is not 0 but the polynomial.
3. A bit of the hash is 1 if it is 1 in more than half of the fingerprints. The hash is a signed number.

A fingerprint is linear: it is the fingerprint of eight zero bytes, xor a word for each position and value of a byte. So
all windows of a text are looked up in tables, position by position: with numpy if it is installed, else with
`bytes.translate`; the hashes are the same. Memory grows with the number of distinct windows, far below the length of a
long text.

Spec: only the program (`SimHash`, `FPGenerator.std64`); the tests contain its results. Charikar, "Similarity
Estimation Techniques from Rounding Algorithms" (2002); Rabin, "Fingerprinting by Random Polynomials" (1981).
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from functools import cache
from typing import Any, Final

from crawlmill.errors import MissingDependency

__all__ = ["package_simhash", "text_simhash"]

_POLYNOMIAL: Final = 0xD74307D3FD3382DB
_UTF_16: Final = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"

_SEEN_BY_PACKAGE: Final = re.compile(r"[\w\u4e00-\u9fcc]+")

# Windows are collected from this many units at a time, which limits the memory besides the distinct ones.
_PIECE_UNITS: Final = 1 << 20

_SPREADING: Final = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: Fibonacci hashing

# For fewer units numpy takes longer to start than to compute.
_FEW_UNITS: Final = 200


def text_simhash(text: str) -> int:
    """The hash of a text as computed by Common Crawl: signed, 64 bits; 0 if there is nothing to hash."""
    units = text.encode(_UTF_16, "surrogatepass")
    count = len(units) // 2
    if count < 4:
        return 0
    numpy = _numpy() if count > _FEW_UNITS else None
    number = _hash_in_tables(units) if numpy is None else _hash_in_arrays(units, numpy)
    return number - (1 << 64) if number >> 63 else number


def package_simhash(text: str) -> int:
    """The hash of a text by the defaults of the package `simhash`: unsigned, 64 bits.

    It uses the letters, digits and underscores of the text in lower case, in windows of four that count as often as
    they occur; their hash is MD5. A text without any of these has one window, the empty one.

    Raises:
        MissingDependency: The package is not installed.

    """
    try:
        from simhash import Simhash  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingDependency(
            "hashing as the package simhash does needs it installed: pip install simhash"
        ) from error
    seen = "".join(_SEEN_BY_PACKAGE.findall(text.lower()))
    windows = Counter(seen[start : start + 4] for start in range(max(len(seen) - 3, 1)))
    # With numpy 2 or later, the package (2.1.2) counts in bytes, and fails at a window that occurs more than 255 times.
    # It also accepts weights that are not integers, and counts these in doubles.
    weights = {window: number if number <= 255 else float(number) for window, number in windows.items()}
    value: int = Simhash(weights).value
    return value


def _hash_in_arrays(units: bytes, np: Any) -> int:
    """The hash with numpy."""
    all_units = np.frombuffer(units, np.uint16)
    windows = np.empty(0, np.uint64)
    for start in range(0, len(all_units) - 3, _PIECE_UNITS):
        piece = all_units[start : start + _PIECE_UNITS + 3].astype(np.uint64)
        found = piece[:-3] << np.uint64(48) | piece[1:-2] << np.uint64(32) | piece[2:-1] << np.uint64(16) | piece[3:]
        windows = _distinct(np.concatenate((windows, found)), np)
    places = windows.astype(">u8").view(np.uint8).reshape(-1, 8)
    table, bits = _array_tables(np)
    prints = table[0].take(places[:, 0])
    for place in range(1, 8):
        prints ^= table[place].take(places[:, place])
    columns = prints.astype("<u8").view(np.uint8).reshape(-1, 8)
    ones = np.concatenate([np.bincount(columns[:, place], minlength=256) @ bits for place in range(8)])
    return int.from_bytes(np.packbits(2 * ones > len(windows), bitorder="little").tobytes(), "little")


def _distinct(windows: Any, np: Any) -> Any:
    """Each window once. Most duplicates are found by their slot in a table, so that few need slow sorting."""
    slots = (windows * np.uint64(_SPREADING) >> np.uint64(48)).astype(np.intp)
    owners, owned = np.zeros(1 << 16, np.uint64), np.zeros(1 << 16, np.bool_)
    owners[slots], owned[slots] = windows, True
    return np.concatenate((owners[owned], np.unique(windows[owners[slots] != windows])))


def _hash_in_tables(units: bytes) -> int:
    """The hash without numpy."""
    windows: set[int] = set()
    for start in range(0, len(units) - 6, 2 * _PIECE_UNITS):
        piece = memoryview(units)[start : start + 2 * _PIECE_UNITS + 6]
        for shift in range(0, 8, 2):
            windows.update(piece[shift : shift + (len(piece) - shift) // 8 * 8].cast("Q"))
    packed = array("Q", windows).tobytes()
    # The windows are in memory in the machine's byte order, so each pair of bytes is swapped if that is little-endian.
    turned = 1 if sys.byteorder == "little" else 0
    places = [packed[place ^ turned :: 8] for place in range(8)]
    number = 0
    for low_bit in range(0, 64, 8):
        column = 0
        for place, table in zip(places, _byte_tables(low_bit), strict=True):
            column ^= int.from_bytes(place.translate(table), "little")
        prints = column.to_bytes(len(windows), "little")
        for bit in range(8):
            ones = prints.translate(_BIT_OF_BYTE[bit]).count(1)
            number |= (2 * ones > len(windows)) << (low_bit + bit)
    return number


_BIT_OF_BYTE: Final = [bytes(byte >> bit & 1 for byte in range(256)) for bit in range(8)]


@cache
def _fingerprint_tables() -> list[list[int]]:
    """What each value of each of the eight bytes adds to a fingerprint; the first includes that of zero bytes."""
    tables, zeros = [[*map(_times_x8, range(256))]], _times_x8(_POLYNOMIAL)
    for _ in range(7):
        tables.append([*map(_times_x8, tables[-1])])
        zeros = _times_x8(zeros)
    return [[word ^ zeros for word in tables[7]], *tables[6::-1]]


def _times_x8(word: int) -> int:
    """A remainder times x^8: the effect of one more zero byte."""
    for _ in range(8):
        word = word >> 1 ^ (_POLYNOMIAL if word & 1 else 0)
    return word


@cache
def _byte_tables(low_bit: int) -> list[bytes]:
    """The tables for the eight bits from `low_bit` on."""
    return [bytes(word >> low_bit & 255 for word in table) for table in _fingerprint_tables()]


@cache
def _array_tables(np: Any) -> tuple[Any, Any]:
    """The tables, and the bits of each byte, as arrays."""
    return np.array(_fingerprint_tables(), np.uint64), np.arange(256)[:, None] >> np.arange(8) & 1


@cache
def _numpy() -> Any:
    """The module numpy, or None if it is not installed."""
    try:
        import numpy as np  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return np
