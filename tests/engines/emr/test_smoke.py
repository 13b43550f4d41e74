"""`make emr-smoke` from end to end, on the double, where it needs minutes less and no money: what it prints is what the
docs show.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests import builders
from tests.engines.emr.conftest import Emr
from tests.engines.emr.double import emr_double
from tests.engines.jobs import warc
from tests.mr.helpers import PROJECT, environment

SMOKE = PROJECT / "tools" / "emr_smoke.py"


@pytest.fixture
def streaming_emr(tmp_path: Path):
    with emr_double(tmp_path / "emr", streams=True) as double:
        yield Emr(double)


def lists_of(emr: Emr, folder: Path) -> Path:
    """The three lists that the smoke run reads, of three files each."""
    folder.mkdir()
    page = warc("http://e.org/1", "http://e.org/2")
    text = builders.pack([builders.warcinfo(), builders.conversion("http://e.org/1", "words and words")])
    for kind, content in (("warc", page), ("wat", page), ("wet", text)):
        lines = [emr.double.put(f"s3://mine/{kind}-{number}.gz", content) for number in range(3)]
        (folder / f"{kind}.paths").write_text("".join(f"{line}\n" for line in lines))
    return folder


def shown_in_docs() -> list[str]:
    """The report as docs/first-emr-run.md shows it; … stands for anything, and the bucket is ours."""
    page = (PROJECT / "docs" / "first-emr-run.md").read_text()
    (block,) = re.findall(r"^```text\n(word_count .*?)^```$", page, re.MULTILINE | re.DOTALL)
    return block.replace("YOUR-BUCKET", "mine").splitlines()


@pytest.mark.slow
def test_smoke_run_ends_well_says_so_and_what_it_cost(streaming_emr, tmp_path):
    emr = streaming_emr
    command = [
        sys.executable,
        str(SMOKE),
        "-c",
        str(PROJECT / "mrjob.conf"),
        "--lists",
        str(lists_of(emr, tmp_path / "lists")),
        "--every",
        "0.2",
        "--settle",
        "0",
        "--price",
        "1000",
        "--emr-price",
        "260",
        "mine",
    ]
    done = subprocess.run(
        command,
        cwd="/",
        env=environment(**emr.double.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.strip().splitlines()
    for line, shown in zip(lines, shown_in_docs(), strict=True):
        assert re.fullmatch(r"\s+".join(re.escape(word).replace("…", ".*") for word in shown.split()), line), line
    words = [line for line in lines if line.startswith("word_count")]
    assert re.search(r"  ok: 6 records, [\d,]+ bytes, ", words[0])
    seconds, dollars = re.search(r"^cost +(\d+) s  2 machines: ([\d.]+) dollars", done.stdout, re.MULTILINE).groups()
    assert float(dollars) == pytest.approx(int(seconds) / 3600 * 2 * 1260, rel=0.05, abs=0.4)
    (cluster,) = emr.double.clusters
    assert cluster.state == "TERMINATED"
    assert [step.state for step in cluster.steps] == [*["COMPLETED"] * 3, "CANCELLED", "COMPLETED", "COMPLETED"]
    folder = lines[-1].rpartition(" ")[2]
    names = {key.removeprefix(f"{folder}/") for key in emr.double.keys(folder)}
    assert {f"{run}/_SUCCESS" for run in ("word_count", "server_count", "tag_count", "collected")} <= names
    assert not {name for name in names if name.startswith("cancelled/")}
    assert emr.double.get(f"{folder}/collected/part-00000") == b'"and"\t3\n"words"\t6\n'


def test_part_that_fails_is_told_and_is_the_exit_code(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SMOKE.parent))
    smoke = importlib.import_module("emr_smoke")
    run = smoke.Smoke.__new__(smoke.Smoke)
    run.options, run.folder = SimpleNamespace(price=0.192, emr_price=0.048), "s3://b/x"
    run.results, run.began_s = [], time.time() - 1800
    for name in (*smoke.JOBS, "cancelled"):
        run.part(name, lambda: "ok: done")
    run.part("collected", lambda: smoke.check(False, "exit code 1:\n no"))
    assert run.report() == 1
    *_, last, cost, _ = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"collected +0 s  failed: exit code 1: no", last)
    assert cost.endswith("  2 machines: 0.24 dollars, and cents for disks and requests")
    run.results[-1] = ("collected", "ok: 3 inputs: 3 ok", 1.0)
    assert run.report() == 0
    del run.results[-1]  # the run has ended before its time
    assert run.report() == 1
