"""The similarity hash of 2012 on pages of several sizes, as ratios.

    .venv/bin/python bench/simhash.py [FILE…]

Straightforward: the definition as a loop over distinct windows, bytes (through a table of 256 words) and bits. CPU per
page, best of several. Goal: with numpy at least 20 x as fast as that on pages of 2 kB to 100 kB. Pages are made up;
FILE names real ones (UTF-8) to be measured too.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawlmill.analysis import simhash

POLYNOMIAL = 0xD74307D3FD3382DB


def table() -> list[int]:
    """What eight steps make of each byte."""
    words = []
    for byte in range(256):
        word = byte
        for _ in range(8):
            word = word >> 1 ^ (POLYNOMIAL if word & 1 else 0)
        words.append(word)
    return words


TABLE = table()


def straightforward(text: str) -> int:
    """As anybody would write it."""
    data = text.encode("utf-16-be", "surrogatepass")
    sums = [0] * 64
    for window in {data[i : i + 8] for i in range(0, len(data) - 7, 2)}:
        word = POLYNOMIAL
        for byte in window:
            word ^= byte
            word = word >> 8 ^ TABLE[word & 255]
        for bit in range(64):
            sums[bit] += 1 if word >> bit & 1 else -1
    number = sum(1 << bit for bit in range(64) if sums[bit] > 0)
    return number - (1 << 64) if number >> 63 else number


def page(characters: int) -> str:
    """HTML-like text: repeated markup, words as unevenly used as those of a language."""
    dice = random.Random(characters)
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    words = ["".join(dice.choices(syllables, k=dice.randint(1, 5))) for _ in range(3000)]
    weights = [1 / (n + 3) for n in range(len(words))]
    parts: list[str] = []
    while sum(map(len, parts)) < characters:
        text = " ".join(dice.choices(words, weights, k=dice.randint(3, 40)))
        parts.append(
            f'<div class="row"><a href="/{dice.choice(words)}/{dice.randrange(10**5)}.html">{text}</a></div>\n'
        )
    return "".join(parts)[:characters]


def milliseconds(run: Callable[[str], Any], text: str) -> float:
    """CPU milliseconds of a call, best of as many as fit in half a second, and of three at least."""
    found: list[float] = []
    while len(found) < 3 or sum(found) < 500:
        start = time.process_time()
        run(text)
        found.append((time.process_time() - start) * 1000)
    return min(found)


def without_numpy(text: str) -> int:
    """Our hash where numpy is not installed."""
    number = simhash._hash_in_tables(text.encode(simhash._UTF_16, "surrogatepass"))  # noqa: SLF001
    return number - (1 << 64) if number >> 63 else number


def main() -> None:
    """Print the table."""
    pages = {f"{size:,} characters": page(size) for size in (200, 2_000, 10_000, 50_000, 100_000)}
    pages |= {name: Path(name).read_text("utf-8", "replace") for name in sys.argv[1:]}
    numpy = simhash._numpy()  # noqa: SLF001
    print(f"python {sys.version.split()[0]}, numpy {numpy.__version__ if numpy else 'not installed'}")
    print(f"{'page':<24}{'windows':>9}{'loop':>12}{'tables':>20}{'text_simhash':>20}")
    for name, text in pages.items():
        units = text.encode("utf-16-be", "surrogatepass")
        windows = len({units[i : i + 8] for i in range(0, len(units) - 7, 2)})
        if not straightforward(text) == simhash.text_simhash(text) == without_numpy(text):
            raise SystemExit(f"hashes differ: {name}")
        plain, ours, tables = (
            milliseconds(run, text) for run in (straightforward, simhash.text_simhash, without_numpy)
        )
        met = "" if not numpy or len(text) < 2000 else " met" if plain >= 20 * ours else " MISSED"
        shown = "".join(f"{each:10.3f} ms{plain / each:5.0f} x" for each in (tables, ours))
        print(f"{name[-24:]:<24}{windows:9,}{plain:9.2f} ms{shown}{met}")


if __name__ == "__main__":
    main()
