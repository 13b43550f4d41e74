"""Tasks whose Python knows another Unicode than the launcher's: said in the end, and in the report."""

from __future__ import annotations

import json
import unicodedata

import pytest
from tests.mr.helpers import run, run_here
from tests.mr.test_counting import HostCount, MapOnly

from crawlmill import core
from crawlmill.ledger.run_json import core_warning
from crawlmill.ledger.summary import Summary

HERE = unicodedata.unidata_version
FORGED = b"""
import sys
from crawlmill.mr import CrawlJob, summing
from crawlmill.mr.task import rows

if any(arg.startswith("--worker") for arg in sys.argv):
    rows.unidata_version = "1.1.5"

class Kinds(CrawlJob):
    '''Count kinds of records.'''
    def process(self, record):
        yield record.type, 1
    reducer = summing

if __name__ == "__main__":
    Kinds.run()
"""


def report(folder):
    return json.loads((folder / "_run.json").read_text())["versions"]


def test_tasks_of_another_unicode_version_are_told_of_and_the_ledger_is_as_ever(crawl, tmp_path):
    script = crawl.write("kinds.py", FORGED)
    lst = crawl.list(crawl.warc("a", "http://e.org/1"), crawl.folder / "gone")
    out = tmp_path / "out"
    ended = run(script, "-r", "local", "--output-dir", out, lst)
    assert ended.code == 2
    assert ended.err.splitlines()[2] == (
        f"warning: tasks had Unicode 1.1.5, this Python has {HERE}: words may be cut and lowered in another way"
    )
    assert report(out)["unicode_of_tasks"] == ["1.1.5"]
    assert report(out)["unicode"] == HERE
    run(script, "-r", "inline", "--ledger", tmp_path / "ledger", lst)
    assert (out / "_ledger.jsonl").read_bytes() == (tmp_path / "ledger").read_bytes()


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        ({"python"}, "native", "tasks had no native core"),
        ({"python", "native"}, "native", "some tasks had no native core"),
        ({"python"}, "python", None),
        ({"native"}, "python", None),
        (set(), "native", None),
    ],
)
def test_tasks_without_the_native_core_that_the_launcher_has_are_told_of(monkeypatch, there, here, said):
    monkeypatch.setattr("crawlmill.core.name", lambda: here)
    warning = core_warning(Summary(cores=there))
    assert (warning is None) if said is None else warning.startswith(f"warning: {said}, ")


@pytest.mark.parametrize("job", [HostCount, MapOnly])
def test_tasks_of_the_same_unicode_version_are_not(crawl, tmp_path, job):
    ended = run_here(job, "-r", "inline", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a")))
    assert (ended.code, "warning" in ended.err) == (0, False)
    assert report(tmp_path / "out")["unicode_of_tasks"] == [HERE]
    assert json.loads((tmp_path / "out" / "_run.json").read_text())["core_of_tasks"] == [core.name()]


def test_tasks_kept_by_another_python_keep_their_version(crawl, tmp_path, monkeypatch):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    options = ("-r", "inline", "--checkpoint", tmp_path / "kept", lst)
    with monkeypatch.context() as patch:
        patch.setattr("crawlmill.mr.task.rows.unidata_version", "1.1.5")
        run_here(HostCount, *options)
    assert "tasks had Unicode 1.1.5, this" in run_here(HostCount, *options).err
