"""The index of the sample crawl, which it writes without reading an archive, against what its archives say."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib

import pytest

from crawlmill.cli.main import main
from crawlmill.sample import write_sample

INDEX = "cc-index/collections/CC-SAMPLE-2026-01/indexes"
PAGES, FILES = 230, 3


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample") / "crawl"
    write_sample(folder, pages=PAGES, files=FILES, seed=3, formats=("warc", "index"))
    return folder


def lines_of(folder):
    return b"".join(gzip.decompress(shard.read_bytes()) for shard in sorted((folder / INDEX).glob("cdx-*.gz")))


@pytest.mark.parametrize("core", ["native", "python"])
def test_captures_are_those_of_the_archives(crawl, core):
    if core == "native":
        pytest.importorskip("crawlmill_native")
    archives = sorted(crawl.rglob("*.warc.gz"))
    assert len(archives) == FILES
    command = [sys.executable, "-m", "crawlmill", "index", *archives]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "CRAWLMILL_CORE": core})
    lines = lines_of(crawl).splitlines(keepends=True)
    assert lines == sorted(done.stdout.splitlines(keepends=True))
    assert len(lines) == PAGES


def test_it_is_laid_out_as_common_crawls(crawl):
    wanted = []
    for shard in sorted((crawl / INDEX).glob("cdx-*.gz")):
        data, at = shard.read_bytes(), 0
        while at < len(data):
            inflate = zlib.decompressobj(31)
            start = b" ".join(inflate.decompress(data[at:]).split(b" ")[:2]).decode()
            length = len(data) - at - len(inflate.unused_data)
            wanted.append(f"{start}\t{shard.name}\t{at}\t{length}\t{len(wanted) + 1}")
            at += length
    assert (crawl / INDEX / "cluster.idx").read_text().splitlines() == wanted
    assert len(wanted) > FILES
    listed = gzip.decompress((crawl / "crawl-data/CC-SAMPLE-2026-01/cc-index.paths.gz").read_bytes()).decode().split()
    assert listed == [
        *(f"{INDEX}/cdx-{number:05}.gz" for number in range(FILES)),
        f"{INDEX}/cluster.idx",
        "cc-index/collections/CC-SAMPLE-2026-01/metadata.yaml",
    ]
    assert sorted(listed) == sorted(str(file.relative_to(crawl)) for file in crawl.glob("cc-index/**/*.*"))
    assert f"cdxLinesTotal: {PAGES}\n" in (crawl / listed[-1]).read_text()
    assert main(["check", str(crawl / INDEX)]) == 0


def test_it_is_the_same_with_and_without_the_archives(crawl, tmp_path):
    write_sample(tmp_path / "x", pages=PAGES, files=FILES, seed=3, formats=("index",))
    assert lines_of(tmp_path / "x") == lines_of(crawl)
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == ["answers.json", "cc-index", "crawl-data"]


def test_captures_are_looked_up_by_the_name_of_the_crawl(crawl, capfd):
    command = ["lookup", "*.test", "--index", "CC-SAMPLE-2026-01", "--base-url", str(crawl)]
    assert main([*command, "--count"]) == 0
    found = [line for line in lines_of(crawl).splitlines() if line.startswith(b"test,")]
    assert int(capfd.readouterr().out) == len(found) > 0


def test_the_command_says_what_to_do_with_an_index_alone(tmp_path, capfd):
    assert main(["sample", "--pages", "3", "--formats", "index", str(tmp_path / "x")]) == 0
    *_, following = capfd.readouterr().err.splitlines()
    assert following.startswith("next: crawlmill lookup ")
