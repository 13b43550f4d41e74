"""Measures the limit of copying records: reads each range of a list and inflates it once, as Crawlmill does.

    python inflate_ranges.py LIST       prints {"keys": ranges, "total": bytes}

LIST has PATH, OFFSET and LENGTH in each line, separated by tabs, in the order in which to read them. Each range is one
gzip member, whose content is dropped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from crawlmill.codecs.inflate import inflate_whole


def sizes(ranges: Path) -> Iterator[int]:
    present = ""
    with ranges.open(encoding="utf-8") as lines, ExitStack() as opened:
        for line in lines:
            path, offset, length = line.split("\t")
            if path != present:
                opened.close()
                stream, present = opened.enter_context(Path(path).open("rb", buffering=0)), path
            stream.seek(int(offset))
            content = inflate_whole(stream.read(int(length)))
            if content is None:
                sys.exit(f"not one whole member: {line}")
            yield len(content)


found = list(sizes(Path(sys.argv[1])))
print(json.dumps({"keys": len(found), "total": sum(found)}))
