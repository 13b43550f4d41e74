"""CDXJ as input of an index job: lines of generated captures, as long and as varied as Common Crawl's.

    python -m bench.captures FOLDER LINES FILES

Each file is gzipped and contains the captures of its share of archives, not sorted by key, like the output of
`crawlmill index`: hosts follow a Zipf distribution (most captures are of few hosts), digests are random, names of
archives are long.
"""

from __future__ import annotations

import base64
import gzip
import random
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

__all__ = ["ARC_2012", "make_captures", "make_collection"]

_SEED = 20260105
_HOSTS = 40_000
_AT_ONCE = 1_000
_ARCHIVE = (
    "crawl-data/CC-MAIN-2026-04/segments/17680000{0:02}.{0:02}/warc/"
    "CC-MAIN-20260117133302-20260117163302-{1:05}.warc.gz"
)
ARC_2012 = "common-crawl/parse-output/segment/13468238466{0:02}/1346864{1:05}0_{1}.arc.gz"
"""Names of archives of the crawl of 2012, with the places of two numbers."""

_WORDS = (
    "news",
    "item",
    "archive",
    "2024",
    "about",
    "product",
    "blog",
    "en",
    "de",
    "index.html",
    "view.php",
    "p",
    "tag",
    "a-b-c",
)


def make_captures(folder: Path, lines: int, files: int, archive: str = _ARCHIVE) -> list[Path]:
    """Write the files, whose captures have archives with such names; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(files):
        path = folder / f"captures-{number:02}.cdxj.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.writelines(_lines(number, lines // files, archive))
        paths.append(path)
    return paths


def _lines(file: int, count: int, archive: str) -> Iterator[bytes]:
    dice = random.Random(_SEED + file)
    names = random.Random(_SEED)
    domains = ["com", "org", "net", "de", "example", "co.uk", "io"]
    hosts = [f"{names.choice(_WORDS[:6])}{names.randrange(10**5)}.{names.choice(domains)}" for _ in range(_HOSTS)]
    weights = list(accumulate(1 / (rank + 20) for rank in range(_HOSTS)))
    for begin in range(0, count, _AT_ONCE):
        number = min(_AT_ONCE, count - begin)
        for host in dice.choices(hosts, cum_weights=weights, k=number):
            first, second, third = dice.choices(_WORDS, k=3)
            path = f"/{first}/{second}/{third}-{dice.randrange(10**6)}"
            key = ",".join(reversed(host.split(".")))
            digest = base64.b32encode(dice.randbytes(20)).decode()
            place = archive.format(file, dice.randrange(900))
            clock = "".join(f"{dice.randrange(most):02}" for most in (24, 60, 60))
            time = f"202601{17 + dice.randrange(10)}{clock}"
            yield (
                f"{key}){path} {time} "
                f'{{"url": "https://{host}{path}", "mime": "text/html", "mime-detected": "text/html", "status": "200", '
                f'"digest": "{digest}", "length": "{dice.randrange(500, 60000)}", "offset": "{dice.randrange(10**9)}", '
                f'"filename": "{place}", "charset": "UTF-8", "languages": "eng"}}\n'
            ).encode("ascii")


def make_collection(folder: Path) -> None:
    """Write to FOLDER/server what pywb wants to know of the cluster FOLDER/cluster."""
    loc = (folder / "cluster/cluster.loc").read_text().splitlines()
    shards = [line.split("\t")[0] for line in loc]
    (folder / "server").mkdir()
    (folder / "server/cluster.loc").write_text("".join(f"{each}\t{folder}/cluster/{each}\n" for each in shards))
    (folder / "server/config.yaml").write_text(
        "collections:\n  crawl:\n    index:\n      type: zipnum\n"
        f"      path: {folder}/cluster/cluster.idx\n      loc: {folder}/server/cluster.loc\n"
    )


if __name__ == "__main__":
    make_captures(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
