"""A whole job gives the same with either core, and where the native one is hidden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import conversion, pack, pages, response

PROJECT = Path(__file__).parents[2]
SOUND = pack([*pages(5), response("http://example.org/", "<H1>Ü<x-y a='>'></x-y><script><b></script>".encode())])
TEXTS = pack([conversion(f"http://example.org/{n}", f"Wörter ΣΑΣ İ {n} und words_{n % 2}\n" * 9) for n in range(6)])


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawl")
    (folder / "sound.warc.gz").write_bytes(SOUND)
    (folder / "flipped.warc.gz").write_bytes(SOUND[:900] + b"\0\0\0" + SOUND[903:])
    (folder / "cut.warc.gz").write_bytes(SOUND[:-30])
    (folder / "texts.warc.wet.gz").write_bytes(TEXTS)
    (folder / "warc.paths").write_text("sound.warc.gz\nflipped.warc.gz\ncut.warc.gz\n")
    (folder / "wet.paths").write_text("texts.warc.wet.gz\n")
    hidden = folder / "hidden"
    hidden.mkdir()
    (hidden / "crawlmill_native.py").write_text("raise ImportError('hidden')\n")
    return folder


def run(job, paths, crawl, *options, core=None):
    """(sorted lines, ledger, core in use) of a run; core None hides the native one."""
    environment = {name: value for name, value in os.environ.items() if name != "CRAWLMILL_CORE"}
    if core is None:
        python_path = [str(crawl / "hidden"), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(python_path)
    else:
        environment["CRAWLMILL_CORE"] = core
    output = crawl / f"{job}-{core}-{len(options)}"
    command = [
        sys.executable,
        PROJECT / "jobs" / f"{job}.py",
        "--no-conf",
        "--quiet",
        "--num-cores=1",
        *options,
        "--output-dir",
        output,
        crawl / paths,
    ]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 2), ended.stderr
    lines = sorted(line for part in output.glob("part*") for line in part.read_bytes().splitlines())
    return lines, (output / "_ledger.jsonl").read_text(), json.loads((output / "_run.json").read_text())["core"]


@pytest.mark.parametrize(
    ("job", "paths", "options"),
    [
        ("tag_count", "warc.paths", ()),
        ("server_count", "warc.paths", ("--heads-only",)),
        ("word_count", "wet.paths", ("--document-frequency",)),
    ],
)
def test_job_gives_the_same_with_either_core_and_without(crawl, job, paths, options):
    lines, ledger, core = run(job, paths, crawl, *options, core="python")
    assert core == "python"
    assert lines
    assert run(job, paths, crawl, *options, core=None) == (lines, ledger, "python")
    pytest.importorskip("crawlmill_native", reason="the native core is not installed")
    assert run(job, paths, crawl, *options, core="native") == (lines, ledger, "native")
