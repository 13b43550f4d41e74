"""Compare two files of crawl statistics, line by line: ours with published ones, or with another program's.

    python tools/compare_statistics.py OURS PUBLISHED

OURS and PUBLISHED are files of lines `[metric, item, crawl]<TAB>numbers`, plain or gzip, or folders of such files. For
each metric prints how many lines are equal, in how many only the number of pages is (what follows it, of URLs, hosts
and domains, is not), how many differ, and how many only one of the two has; then the first lines that are not equal.
Sketches (`size_estimate`) are equal if their registers are. Exit code 0 if all lines are equal, else 2.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_SHOWN = 10


def main(arguments: list[str] | None = None) -> int:
    """Compare; gives the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ours", type=Path)
    parser.add_argument("published", type=Path)
    options = parser.parse_args(arguments)
    ours, theirs = (dict(_lines(path)) for path in (options.ours, options.published))
    crawls = {json.loads(key)[2] for key in theirs} & {json.loads(key)[2] for key in ours}
    counts: dict[str, Counter[str]] = {}
    different: list[str] = []
    for key in sorted(ours.keys() | theirs.keys()):
        metric, *rest = json.loads(key)
        if not crawls & set(map(str, rest)):
            continue
        verdict = _verdict(ours.get(key), theirs.get(key))
        counts.setdefault(_metric(metric, rest), Counter())[verdict] += 1
        if verdict != "equal":
            different.append(f"{key}\t{_shown(ours.get(key))}\t{_shown(theirs.get(key))}")
    _print(counts, different)
    return 2 if different else 0


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    files = sorted(path.glob("[!_.]*")) if path.is_dir() else [path]
    for file in files:
        data = file.read_bytes()
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        for line in text.decode("utf-8").split("\n"):
            key, tab, value = line.partition("\t")
            if tab:
                yield json.dumps(json.loads(key)), json.loads(value)


def _metric(metric: str, rest: list[Any]) -> str:
    return f"{metric} {rest[0]}" if metric in ("histogram", "size", "size_estimate", "new_items") else metric


def _verdict(ours: Any, theirs: Any) -> str:
    if ours is None or theirs is None:
        return "only ours" if theirs is None else "only theirs"
    if isinstance(ours, dict) and isinstance(theirs, dict) and "M" in ours:
        return "equal" if ours["M"] == theirs.get("M") else "different"
    if _numbers(ours) == _numbers(theirs):
        return "equal"
    return "pages equal" if _pages(ours) == _pages(theirs) else "different"


def _numbers(value: Any) -> Any:
    """Numbers of pages, URLs, hosts, domains: one that is repeated to the end may be left out."""
    if not isinstance(value, list):
        return value
    while len(value) > 1 and value[-1] == value[-2]:
        value = value[:-1]
    return value[0] if len(value) == 1 else value


def _pages(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value)[:60]


def _print(counts: dict[str, Counter[str]], different: Iterable[str]) -> None:
    verdicts = ("equal", "pages equal", "different", "only ours", "only theirs")
    sys.stdout.write("".join(f"{verdict:>12}" for verdict in verdicts) + "  metric\n")
    for metric, found in sorted(counts.items()):
        sys.stdout.write("".join(f"{found[verdict]:12,}" for verdict in verdicts) + f"  {metric}\n")
    lines = list(different)
    if lines:
        sys.stdout.write("\nline\tours\tpublished\n" + "".join(f"{line}\n" for line in lines[:_SHOWN]))


if __name__ == "__main__":
    sys.exit(main())
