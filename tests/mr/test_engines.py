"""The launcher on an engine: its runner is a stand-in that does to pairs what Hadoop does, with the job's own methods."""

from __future__ import annotations

import io
import zipfile
import zlib
from itertools import groupby
from pathlib import Path

import pytest
from tests.mr.helpers import rows, run_here
from tests.mr.test_counting import HostCount, MapOnly

from crawlmill.mr.compat import StepFailedException


class Engine:
    """Runs each line of the task list as a map task, sorts, reduces in two partitions."""

    alias = "emr"
    OPT_NAMES = frozenset()
    fails = False
    job = None
    cleaned = 0

    def __init__(self, **settings):
        self.settings, self._extra_args = settings, settings["extra_args"]
        self._cloud_tmp_dir = str(Path(settings["input_paths"][0]).parent / "cloud")
        self.output = []

    def run(self):
        if self.fails:
            raise StepFailedException(step_num=0, num_steps=1)
        assert all(zipfile.is_zipfile(path) for path in self.settings["py_files"])
        lines = Path(self.settings["input_paths"][0]).read_bytes().splitlines(keepends=True)
        for number, step in enumerate(self.settings["steps"]):
            if number == 0:
                lines = [out for n, line in enumerate(lines) for out in self.task("mapper", number, [line], n)]
            if "reducer" in step:
                parts = [sorted(found) for _, found in groupby(sorted(lines, key=partition), partition)]
                lines = [out for n, part in enumerate(parts) for out in self.task("reducer", number, part, n)]
        self.output = lines

    def task(self, kind, step, lines, number):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("mapreduce_task_partition", str(number))
            made = self.job([f"--{kind}", f"--step-num={step}", *self._extra_args])
            made.sandbox(stdin=iter(lines), stdout=io.BytesIO())
            made.execute()
        return made.stdout.getvalue().splitlines(keepends=True)

    def cat_output(self):
        return self.output

    def counters(self):
        return [{"group": {"name": 2}}]

    def cleanup(self):
        type(self).cleaned += 1


def partition(line):
    return zlib.crc32(line.partition(b"\t")[0]) % 2


@pytest.fixture
def engine(monkeypatch):
    class Own(Engine):
        """An engine of this test's own."""

    monkeypatch.setattr("crawlmill.mr.engines.engine_runner", lambda alias: Own)
    return Own


@pytest.mark.parametrize(("job", "options"), [(HostCount, ()), (HostCount, ("--top", "2")), (MapOnly, ())])
def test_run_on_an_engine_gives_what_inline_gives_ledger_included(crawl, tmp_path, engine, job, options):
    lst = crawl.list(
        crawl.warc("b", "http://e.org/1", "http://bad/"), crawl.folder / "gone", crawl.warc("a", "http://f.org/")
    )
    engine.job = job
    ended = {}
    for runner in ("inline", "emr"):
        ended[runner] = run_here(job, "-r", runner, *options, "--ledger", tmp_path / runner, "--quiet", lst)
        assert ended[runner].code == 2, ended[runner].err
    assert sorted(ended["emr"].out.splitlines()) == sorted(ended["inline"].out.splitlines())
    assert (tmp_path / "emr").read_bytes() == (tmp_path / "inline").read_bytes()
    assert len(rows(tmp_path / "emr")) == 3
    assert engine.cleaned == 1


def test_failed_step_of_an_engine_fails_the_run_without_a_traceback(crawl, tmp_path, engine):
    engine.job, engine.fails = HostCount, True
    ended = run_here(HostCount, "-r", "emr", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a")))
    assert ended.code == 1
    assert ended.err.endswith("test_counting: Step 1 of 1 failed\n")
    assert "Traceback" not in ended.err
    assert not (tmp_path / "out").exists()


def test_keys_of_common_crawl_resolve_at_its_bucket_on_emr(crawl, engine, monkeypatch):
    seen = []
    monkeypatch.setattr(engine, "run", lambda self: seen.append(Path(self.settings["input_paths"][0]).read_text()))
    run_here(HostCount, "-r", "emr", crawl.list("crawl-data/CC-X/x.warc.gz"))
    assert '"s3://commoncrawl/crawl-data/CC-X/x.warc.gz"' in seen[0]


def test_counters_of_an_engine_are_shown_if_asked_for(crawl, engine):
    engine.job = HostCount
    ended = run_here(HostCount, "-r", "emr", "--verbose", crawl.list(crawl.warc("a")))
    assert "step 1, group: name = 2" in ended.err
