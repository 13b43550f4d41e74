"""Sorts the lines of a file with `sort_lines`, in BYTES of memory, into the file `sorted` in the current folder.

python sort_loop.py FILE BYTES
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from crawlmill.sorting import sort_lines


def main() -> None:
    path, memory = sys.argv[1], int(sys.argv[2])
    with open(path, "rb", 0) as source, open("sorted", "wb", 0) as target:  # noqa: PTH123
        pieces = iter(partial(source.read, 1 << 20), b"")
        with sort_lines(pieces, Path.cwd(), memory) as lines:
            target.writelines(lines.chunks())


if __name__ == "__main__":
    main()
