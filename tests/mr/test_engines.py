"""The launcher on an engine: which is a stand-in that does to pairs what Hadoop does, with the job's own methods."""

from __future__ import annotations

import io
import zlib
from dataclasses import replace
from itertools import groupby

import pytest
from tests.mr.helpers import rows, run_here
from tests.mr.test_counting import HostCount, MapOnly

from crawlmill.mr.engines.run_folder import listed_files, rows_apart
from crawlmill.mr.task.failures import TaskError
from crawlmill.storage import Storage


class Engine:
    """Runs each line of the task list as a map task, sorts, reduces in two partitions."""

    fails = False
    seen = None
    closed = 0

    def __init__(self, setup):
        self.job, self.scratch = type(setup.job), setup.scratch
        self.settings = {**setup.job._runner_kwargs(), "cmdenv": setup.options.cmdenv}
        self.for_tasks = setup.settings
        self.parts, self.rows, self.files = [], [], []

    def write_to(self, output):
        pass

    def warm_up(self):
        pass

    def limit_tasks(self, most, settings):
        self.for_tasks = settings

    def set_reducers(self, number):
        type(self).reducers.append(number)

    def run(self):
        if self.fails:
            raise TaskError("Step 1 of 1 failed")
        lines = (self.scratch / "tasks.jsonl").read_bytes().splitlines(keepends=True)
        if self.seen is not None:
            self.seen.append((self.settings, b"".join(lines).decode()))
            return
        for number, step in enumerate(self.settings["steps"]):
            if number == 0:
                lines = [out for n, line in enumerate(lines) for out in self.task("mapper", number, [line], n)]
            if "reducer" in step:
                parts = [sorted(found) for _, found in groupby(sorted(lines, key=partition), partition)]
                lines = [out for n, part in enumerate(parts) for out in self.task("reducer", number, part, n)]
        (self.scratch / "part").write_bytes(b"".join(lines))
        self.parts = [self.scratch / "part"]
        storage = Storage()
        self.rows, self.files = rows_apart(storage, listed_files(storage, f"{self.scratch}/cloud"), self.scratch)

    def task(self, kind, step, lines, number):
        settings = replace(self.for_tasks, files_folder=f"{self.scratch}/cloud")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("mapreduce_task_partition", str(number))
            patch.setenv("mapreduce_task_ismap", str(kind == "mapper").lower())
            patch.setenv("mapreduce_task_attempt_id", f"attempt_1_{step:04}_{kind[0]}_{number:06}_0")
            made = self.job([f"--{kind}", f"--step-num={step}", *self.settings["extra_args"], settings.argument()])
            made.sandbox(stdin=iter(lines), stdout=io.BytesIO())
            made.execute()
        return made.stdout.getvalue().splitlines(keepends=True)

    def counters(self):
        return [{"group: name": 2}]

    def close(self):
        type(self).closed += 1


def partition(line):
    return zlib.crc32(line.partition(b"\t")[0]) % 2


@pytest.fixture
def engine(monkeypatch):
    class Own(Engine):
        """An engine of this test's own."""

    monkeypatch.setattr("crawlmill.mr.engines.emr.work.EmrWork", Own)
    return Own


@pytest.mark.parametrize(("job", "options"), [(HostCount, ()), (HostCount, ("--top", "2")), (MapOnly, ())])
def test_run_on_an_engine_gives_what_inline_gives_ledger_included(crawl, tmp_path, engine, job, options):
    lst = crawl.list(
        crawl.warc("b", "http://e.org/1", "http://bad/"), crawl.folder / "gone", crawl.warc("a", "http://f.org/")
    )
    ended = {}
    for runner in ("inline", "emr"):
        ended[runner] = run_here(job, "-r", runner, *options, "--ledger", tmp_path / runner, "--quiet", lst)
        assert ended[runner].code == 2, ended[runner].err
    assert sorted(ended["emr"].out.splitlines()) == sorted(ended["inline"].out.splitlines())
    assert (tmp_path / "emr").read_bytes() == (tmp_path / "inline").read_bytes()
    assert len(rows(tmp_path / "emr")) == 3
    assert engine.closed == 1


def test_failed_step_of_an_engine_fails_the_run_without_a_traceback(crawl, tmp_path, engine):
    engine.fails = True
    ended = run_here(HostCount, "-r", "emr", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a")))
    assert ended.code == 1
    assert ended.err.endswith("test_counting: Step 1 of 1 failed\n")
    assert "Traceback" not in ended.err
    assert not (tmp_path / "out").exists()


def test_keys_of_common_crawl_resolve_at_its_bucket_on_emr(crawl, engine):
    engine.seen = []
    run_here(HostCount, "-r", "emr", crawl.list("crawl-data/CC-X/x.warc.gz"))
    assert '"s3://commoncrawl/crawl-data/CC-X/x.warc.gz"' in engine.seen[0][1]


@pytest.mark.parametrize(
    ("chosen", "options", "wanted"),
    [
        (None, (), None),
        ("python", (), {"CRAWLMILL_CORE": "python"}),
        ("python", ("--cmdenv", "CRAWLMILL_CORE=native"), {"CRAWLMILL_CORE": "native"}),
        ("python", ("--cmdenv", "A=b"), {"CRAWLMILL_CORE": "python", "A": "b"}),
    ],
)
def test_core_that_the_user_has_chosen_is_that_of_the_tasks(crawl, engine, monkeypatch, chosen, options, wanted):
    monkeypatch.delenv("CRAWLMILL_CORE", raising=False)
    if chosen:
        monkeypatch.setenv("CRAWLMILL_CORE", chosen)
    engine.seen = []
    run_here(HostCount, "-r", "emr", *options, crawl.list(crawl.warc("a")))
    assert (engine.seen[0][0].get("cmdenv") or None) == wanted


def test_counters_of_an_engine_are_shown_if_asked_for(crawl, engine):
    ended = run_here(HostCount, "-r", "emr", "--verbose", crawl.list(crawl.warc("a")))
    assert "step 1, group: name = 2" in ended.err


def test_runner_that_is_not_there_is_one_line(crawl):
    ended = run_here(HostCount, "-r", "dataproc", crawl.list(crawl.warc("a")))
    assert (ended.code, ended.err.count("\n")) == (1, 1), ended.err


@pytest.mark.parametrize(("most", "wanted"), [(None, []), (16, [2]), (1, [1])])
def test_job_whose_files_do_not_depend_on_it_has_no_more_reducers_than_map_tasks(
    crawl, engine, monkeypatch, most, wanted
):
    monkeypatch.setattr(HostCount, "most_reducers", most)
    engine.reducers = []
    run_here(HostCount, "-r", "emr", crawl.list(crawl.warc("a"), crawl.warc("b")))
    assert engine.reducers == wanted
