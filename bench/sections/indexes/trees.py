"""Building the URL index of 2012, a prefix B-tree, and looking up captures in it.

No other program reads or writes such trees today, so the goals are times. The memory of building is that of all
processes.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.captures import ARC_2012, make_captures
from bench.harness import AtMost, Comparison, Contender, Goal, lines_answer
from bench.lab import NATIVE, Lab, local_job, ours

__all__ = ["measure"]

_LINES = {"full": 5_000_000, "medium": 1_000_000, "small": 20_000}
_LOOK_UPS = {"full": 20_000, "medium": 20_000, "small": 1_000}
_FILES = 10
_A_SECOND = {NATIVE: 20_000}
_A_SECOND_IN_PYTHON = 5_000


def measure(lab: Lab) -> Iterator[Comparison]:
    """The two tables."""
    scale = lab.corpus.scale.name
    lines, look_ups = _LINES[scale], _LOOK_UPS[scale]
    folder = lab.folder(
        f"captures-of-2012-{lines}", f"{lines:,} captures of 2012", lambda folder: _prepare(folder, lines, look_ups)
    )
    tenth = [str(folder / "captures/captures-00.cdxj.gz")]
    every = [str(folder / "captures.paths")]
    contenders = [
        Contender(f"{each.name}, {what}", [*each.command, *inputs], each.env)
        for each in lab.each_core(_job("out"))
        for what, inputs in (("a tenth", tenth), ("all", every))
    ]
    yield lab.compare("trees", f"prefix_tree of {lines:,} captures, two cores", contenders, None)
    yield _looking_up(lab, folder, look_ups)


def _prepare(folder: Path, lines: int, look_ups: int) -> None:
    """Captures, a list of them, their tree, and URLs to look up."""
    paths = make_captures(folder / "captures", lines, _FILES, ARC_2012)
    (folder / "captures.paths").write_text("".join(f"{path}\n" for path in paths))
    subprocess.run([*_job(str(folder / "tree")), str(folder / "captures.paths")], check=True)
    with subprocess.Popen(["gzip", "-dc", paths[0]], stdout=subprocess.PIPE, encoding="ascii") as inflating:
        urls = [line.split('"url": "', 1)[1].split('"', 1)[0] for line in inflating.stdout or ()]
    chosen = random.Random(1).sample(urls, look_ups)
    (folder / "urls.txt").write_text("".join(f"{url}\n" for url in chosen))
    (folder / "url.txt").write_text(f"{chosen[0]}\n")


def _job(output: str) -> list[str]:
    return local_job("prefix_tree.py", "--quiet", "--output-dir", output)


def _looking_up(lab: Lab, folder: Path, look_ups: int) -> Comparison:
    """Many look-ups, and a single one, which shows the cost of starting."""
    tree = folder / "tree/url-index.pbtree"
    contenders = [
        Contender(
            f"{each.name}{what}", ["sh", "-c", f"{' '.join(each.command)} < {folder}/{file}"], each.env, lines_answer
        )
        for each in lab.each_core([sys.executable, "-m", "crawlmill", "lookup", "-", "--index", str(tree)])
        for what, file in (("", "urls.txt"), (", one", "url.txt"))
    ]
    goals: list[Goal] = [
        AtMost(name, f"{name}, one", "cpu", look_ups / _A_SECOND.get(name, _A_SECOND_IN_PYTHON)) for name in ours()
    ]
    return lab.compare("trees", f"{look_ups:,} exact look-ups", contenders, None, goals=goals)
