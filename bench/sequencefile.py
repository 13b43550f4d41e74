"""Reading a block-compressed SequenceFile (GzipCodec, 100,000 Text/Text records, about 80 MB inflated), as ratios.

    .venv/bin/python bench/sequencefile.py [RECORDS]

Limit: inflating the same buffers with isal, the output dropped. Straightforward: zlib, and a call for each vint.
CPU seconds, best of five, each way in an interpreter of its own: what malloc has learnt from another way moves a time
by a third. Goals: at most 1.4 x the limit, and at least 1.8 x as fast as the straightforward reader.
"""

from __future__ import annotations

import collections
import io
import random
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from isal import isal_zlib

from crawlmill.formats.sequencefile.reader import read_sequencefile
from crawlmill.formats.sequencefile.writer import SequenceFileWriter

GZIP = "org.apache.hadoop.io.compress.GzipCodec"
BODY = 118  # the header's length


def corpus(records: int) -> bytes:
    """URLs of 40 to 200 bytes and texts of up to 2 kB, the words as unevenly used as those of a language."""
    dice = random.Random(2012)
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    words = ["".join(dice.choices(syllables, k=dice.randint(1, 5))) for _ in range(200_000)]
    weights = list(accumulate(1 / (n + 3) ** 0.6 for n in range(len(words))))
    target = io.BytesIO()
    with SequenceFileWriter(target, compression="block", codec=GZIP, sync=bytes(range(16))) as writer:
        for number in range(records):
            path = "-".join(dice.choices(words, cum_weights=weights, k=dice.choice((1, 2, 3, 4, 14))))
            text = " ".join(dice.choices(words, cum_weights=weights, k=dice.choice((8, 40, 80, 150, 300))))
            writer.append(f"http://www.{words[number % 997]}.example/{number}/{path}".encode(), text.encode())
    return target.getvalue()


def vint(data: bytes, at: int) -> tuple[int, int]:
    """A number of at least 0, and the position behind it."""
    first = data[at]
    if first < 128:
        return first, at + 1
    return int.from_bytes(data[at + 1 : at + 145 - first], "big"), at + 145 - first


def blocks(data: bytes, at: int) -> Iterator[tuple[int, list[bytes]]]:
    """(records, compressed buffers) of each block."""
    while at < len(data):
        records, at = vint(data, at + 20)
        buffers = []
        for _ in range(4):
            size, at = vint(data, at)
            buffers.append(data[at : at + size])
            at += size
        yield records, buffers


def straightforward(data: bytes, at: int) -> Iterator[tuple[bytes, bytes]]:
    """As anybody would write it, without a check."""
    for records, packed in blocks(data, at):
        parts = [zlib.decompress(buffer, 31) for buffer in packed]
        places = [0, 0, 0, 0]
        for _ in range(records):
            pair = []
            for lengths, content in ((0, 1), (2, 3)):
                size, places[lengths] = vint(parts[lengths], places[lengths])
                begin = vint(parts[content], places[content])[1]
                places[content] += size
                pair.append(parts[content][begin : places[content]])
            yield pair[0], pair[1]


def inflated(data: bytes, inflate: Callable[[bytes, int], bytes]) -> Iterator[int]:
    """The sizes of all buffers."""
    for _, buffers in blocks(data, BODY):
        for buffer in buffers:
            yield len(inflate(buffer, 31))


def read(data: bytes) -> Iterable[Any]:
    """The records as the project reads them; any problem ends the benchmark."""

    def fail(error: Exception) -> None:
        raise error

    return read_sequencefile(io.BytesIO(data), len(data), on_problem=fail)


WAYS: dict[str, Callable[[bytes], Iterable[Any]]] = {
    "limit: inflate with isal": lambda data: inflated(data, isal_zlib.decompress),
    "inflate with zlib": lambda data: inflated(data, zlib.decompress),
    "straightforward, zlib": lambda data: straightforward(data, BODY),
    "crawlmill": read,
}


def seconds(way: str, path: str) -> float:
    """CPU seconds of exhausting a way, best of five."""
    data, found = Path(path).read_bytes(), []
    for _ in range(5):
        start = time.process_time()
        collections.deque(WAYS[way](data), 0)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print the table."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "corpus.seq")
        file.write_bytes(data := corpus(records))
        print(f"{records:,} records, {len(data) / 1e6:.1f} MB -> {sum(inflated(data, zlib.decompress)) / 1e6:.1f} MB")
        taken = {}
        for way in WAYS:
            command = [sys.executable, __file__, "--one", way, str(file)]
            taken[way] = float(subprocess.run(command, check=True, capture_output=True).stdout)
    limit, plain = taken["limit: inflate with isal"], taken["straightforward, zlib"]
    for way, each in taken.items():
        speed, ratios = len(data) / 1e6 / each, f"{each / limit:6.2f} x limit{plain / each:6.2f} x as fast"
        print(f"{way:<26}{each:7.3f} s{speed:7.0f} MB/s{ratios}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(seconds(*sys.argv[2:]))
    else:
        main()
