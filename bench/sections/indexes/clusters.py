"""Building a cluster from CDXJ lines, and looking up captures in it.

The job is compared with a shell pipeline: `gzip -dc`, `sort` on two threads in 512 MB, `gzip` in two processes, without
a second level. Exact look-ups are compared with pywb's CDX server, over one connection, and the look-up of a domain
with inflating and writing all blocks of the cluster.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.captures import make_captures, make_collection
from bench.harness import Answer, AtLeast, Comparison, Contender, Goal, json_answer
from bench.lab import LOOPS, NATIVE, Lab, local_job, ours
from bench.peers import environment

__all__ = ["measure"]

_LINES = {"full": 10_000_000, "medium": 1_000_000, "small": 100_000}
_LOOK_UPS = {"full": 10_000, "medium": 10_000, "small": 200}
_FILES = 16
_SHARDS = "2"


def measure(lab: Lab) -> Iterator[Comparison]:
    """The three tables."""
    scale = lab.corpus.scale.name
    lines, look_ups = _LINES[scale], _LOOK_UPS[scale]
    folder = lab.folder(
        f"captures-{lines}", f"{lines:,} lines of CDXJ", lambda folder: _prepare(folder, lines, look_ups)
    )
    yield _building(lab, folder)
    yield _exact(lab, folder)
    yield _whole(lab, folder)


def _prepare(folder: Path, lines: int, look_ups: int) -> None:
    """Captures, a list of them, their cluster with what pywb wants of it, and URLs to look up."""
    paths = make_captures(folder / "captures", lines, _FILES)
    (folder / "captures.paths").write_text("".join(f"{path}\n" for path in paths))
    subprocess.run(_job(folder, str(folder / "cluster")), check=True)
    make_collection(folder)
    wanted = set(random.Random(1).sample(range(lines // _FILES * _FILES), look_ups))
    with subprocess.Popen(["gzip", "-dc", *paths], stdout=subprocess.PIPE, encoding="ascii") as inflating:
        texts = (line for number, line in enumerate(inflating.stdout or ()) if number in wanted)
        urls = [line.split('"url": "', 1)[1].split('"', 1)[0] for line in texts]
    random.Random(2).shuffle(urls)
    (folder / "urls.txt").write_text("".join(f"{url}\n" for url in urls))


def _job(folder: Path, output: str) -> list[str]:
    options = ["--quiet", "--shards", _SHARDS, "--output-dir", output]
    return local_job("url_index.py", *options, str(folder / "captures.paths"))


def _building(lab: Lab, folder: Path) -> Comparison:
    shell = (
        f"gzip -dc {folder}/captures/*.gz | LC_ALL=C sort --parallel=2 -S 512M -T . "
        f"| split -n r/{_SHARDS} --filter='gzip -6 > $FILE.gz'"
    )
    contenders = [*lab.each_core(_job(folder, "out")), Contender("gzip, sort, gzip", ["bash", "-c", shell])]
    goals: list[Goal] = [
        AtLeast(name, "gzip, sort, gzip", "wall", 1 / 1.3 if name == NATIVE else 1 / 3) for name in ours()
    ]
    return lab.compare("clusters", f"url_index of {_count(folder)} lines, two cores", contenders, None, goals=goals)


def _exact(lab: Lab, folder: Path) -> Comparison:
    urls = folder / "urls.txt"
    command = [sys.executable, "-m", "crawlmill", "lookup", "--index", str(folder / "cluster"), *_urls(urls)]
    python = environment(lab.venvs, "pywb")
    contenders = [
        *lab.each_core(command, _lines),
        Contender(
            "pywb",
            [str(python), str(LOOPS / "cdx_server_loop.py"), str(folder / "server"), str(urls)],
            answer=json_answer,
        ),
    ]
    goals = [AtLeast(name, "pywb", "cpu", 15 if name == NATIVE else 6) for name in ours()]
    return lab.compare("clusters", f"{len(_urls(urls)):,} exact look-ups", contenders, None, goals=goals)


def _whole(lab: Lab, folder: Path) -> Comparison:
    idx = folder / "cluster/cluster.idx"
    keys = ["com", "org", "net", "de", "example", "uk", "io"]
    command = [
        sys.executable,
        "-m",
        "crawlmill",
        "lookup",
        "--index",
        str(folder / "cluster"),
        "--match",
        "domain",
        *keys,
    ]
    inflating = "inflating and writing its blocks"
    contenders = [
        *lab.each_core(command, _lines),
        Contender(inflating, [str(lab.readers), str(LOOPS / "inflate_blocks.py"), str(idx)], answer=_lines),
    ]
    goals: list[Goal] = [AtLeast(name, inflating, "cpu", 0.6 if name == NATIVE else 0.2) for name in ours()]
    return lab.compare("clusters", "all captures of all domains, to a file", contenders, None, goals=goals)


def _urls(file: Path) -> list[str]:
    return file.read_text().split()


def _count(folder: Path) -> str:
    return f"{int(folder.name.rpartition('-')[2]):,}"


def _lines(scratch: Path) -> Answer:
    """The number of lines it printed."""
    size = os.stat(scratch / "stdout").st_size  # noqa: PTH116
    with (scratch / "stdout").open("rb") as lines:
        number = sum(1 for _ in lines)
    return Answer(number, number if size else 0)
