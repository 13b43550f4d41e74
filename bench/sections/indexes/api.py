"""Asking a CDX API for a thousand pages: `crawlmill lookup`, cdx-index-client and cdx_toolkit, without pauses.

The API is pywb's, on this machine; its own CPU is not measured. It answers one question after another, so in the first
table it is what all wait for. In the second table its answers were recorded, and come at once.

cdx-index-client (github.com/ikreymer/cdx-index-client) is run unchanged from a folder that the user names. It asks over
four connections here, as many as Crawlmill, and writes a file for each page. cdx_toolkit asks over one, and makes an
object of each capture.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.captures import make_captures, make_collection
from bench.harness import Answer, AtLeast, Comparison, Contender, Goal, json_answer, lines_answer, run_once
from bench.lab import LOOPS, NATIVE, Lab, local_job
from bench.peers import environment
from bench.replaying import replaying

__all__ = ["measure"]

_LINES = {"full": 2_100_000, "medium": 700_000, "small": 20_000}
_BLOCK_LINES = "270"  # a page is a block, and of `full` there are a thousand
_FILES = 4
_PATTERN = "*.com"
_CONNECTIONS = "4"
_CLIENT = "cdx-index-client"


def measure(lab: Lab) -> Iterator[Comparison]:
    """Both tables."""
    lines = _LINES[lab.corpus.scale.name]
    folder = lab.folder(f"api-{lines}", f"a cluster of {lines:,} captures", lambda folder: _prepare(folder, lines))
    blocks = (folder / "cluster/cluster.idx").read_text().splitlines()
    pages = sum(line.startswith("com,") for line in blocks)
    with _pywb(lab, folder) as port, replaying(port, "/crawl/cdx") as front:
        direct = _contenders(lab, f"http://127.0.0.1:{port}/crawl/cdx", f"{front}/direct/")
        recorded = _contenders(lab, f"{front}/recorded/cdx", f"{front}/recorded/")
        for each in recorded:
            lab.tell(f"  recording what {each.name} is answered")
            with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
                run_once(each, Path(scratch))
        for title, contenders in (("", direct), (", recorded", recorded)):
            goals: list[Goal] = [AtLeast(NATIVE, _CLIENT, "wall", 2), AtLeast(NATIVE, _CLIENT, "cpu", 4)]
            yield lab.compare("api", f"{pages:,} pages of a CDX API{title}", contenders, None, goals=goals)


def _prepare(folder: Path, lines: int) -> None:
    """Captures, their cluster, and a server's configuration."""
    paths = make_captures(folder / "captures", lines, _FILES)
    (folder / "captures.paths").write_text("".join(f"{path}\n" for path in paths))
    options = ["--quiet", "--shards", "1", "--lines", _BLOCK_LINES, "--output-dir", str(folder / "cluster")]
    subprocess.run(local_job("url_index.py", *options, str(folder / "captures.paths")), check=True)
    make_collection(folder)


def _contenders(lab: Lab, api: str, listing: str) -> list[Contender]:
    command = [
        sys.executable,
        "-m",
        "crawlmill",
        "lookup",
        _PATTERN,
        "--index",
        f"api:{api}",
        "--page-size",
        "1",
        "--max-requests-per-second",
        "100000",
        "--max-connections-per-host",
        _CONNECTIONS,
    ]
    python = environment(lab.venvs, "cdx-clients")
    found = lab.each_core(command, lines_answer)
    if lab.cdx_index_client is not None:
        script = str(lab.cdx_index_client / "cdx-index-client.py")
        client = [
            str(python),
            script,
            _PATTERN,
            "--cdx-server-url",
            listing,
            "--page-size",
            "1",
            "-p",
            _CONNECTIONS,
            "-d",
            "pages",
        ]
        found.append(Contender(_CLIENT, client, answer=_lines_of_pages))
    toolkit = [str(python), str(LOOPS / "cdx_toolkit_loop.py"), api, _PATTERN]
    return [*found, Contender("cdx_toolkit", toolkit, answer=json_answer)]


def _lines_of_pages(scratch: Path) -> Answer:
    number = sum(path.read_bytes().count(b"\n") for path in (scratch / "work/pages").iterdir())
    return Answer(number, number)


@contextmanager
def _pywb(lab: Lab, folder: Path) -> Iterator[int]:
    """pywb's server, as it comes; its port."""
    program = environment(lab.venvs, "pywb").with_name("wayback")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with subprocess.Popen(
        [program, "-p", str(port), "-b", "127.0.0.1"],
        cwd=folder / "server",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield port
        finally:
            server.terminate()
