"""Counts words and the texts that contain them, file by file as map tasks do, and runs the counts through the shuffle.

    python shuffle_loop.py count FILE…      only counts
    python shuffle_loop.py whole FILE…      counts, drains, spills, merges, sums, and writes the file `result`
    python shuffle_loop.py drain FILE…      counts, and writes the pairs of all files, as they are drained, to stdout

The first two print {"keys": different words, "total": pairs}; `count` only knows the pairs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from crawlmill.analysis.words import WordCounter
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.mr.task.shuffle import Partitioner, SortedRun, merge
from crawlmill.mr.task.sums import Choice, sum_lines
from crawlmill.storage import Storage

_PARTITIONS = 2
_MEMORY = 256 << 20


def counters(paths: list[str]) -> Iterator[WordCounter]:
    for path in paths:
        counter = WordCounter(document_frequency=True)
        reading = Reading(Input(path, path), Storage(), selection=Selection(types=frozenset(["conversion"])))
        reading.counter = counter.native
        for record in reading:
            counter.add_utf8(record.body())
        if reading.row.lost:
            sys.exit(f"{path}: {reading.row.problems[0].message}")
        yield counter


def whole(paths: list[str]) -> dict[str, int]:
    parts: list[list[SortedRun]] = [[] for _ in range(_PARTITIONS)]
    pairs = keys = 0
    for number, counter in enumerate(counters(paths)):
        pairs += len(counter)
        folder = Path(f"task-{number}")
        folder.mkdir()
        partitioner = Partitioner(folder, _PARTITIONS, memory=_MEMORY)
        partitioner.writelines(counter.drain_lines())
        for spill in partitioner.spills:
            for part, run in zip(parts, spill.runs(folder), strict=True):
                part.append(run)
    with open("result", "wb", 1 << 18) as result:  # noqa: PTH123
        for part in parts:
            with merge(part, Path.cwd(), memory=_MEMORY) as lines:
                for text in sum_lines(lines.chunks(), Choice()):
                    keys += text.count(b"\n")
                    result.write(text)
    return {"keys": keys, "total": pairs}


def main() -> None:
    work, *paths = sys.argv[1:]
    if work == "drain":
        for counter in counters(paths):
            sys.stdout.buffer.writelines(counter.drain_lines())
    elif work == "count":
        print(json.dumps({"keys": 0, "total": sum(map(len, counters(paths)))}))
    else:
        print(json.dumps(whole(paths)))


if __name__ == "__main__":
    main()
