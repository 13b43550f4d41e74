"""An engine is added in one place: what names it, runs it, resolves lists for it and examines it finds it there."""

from __future__ import annotations

import json

import pytest
from tests.mr.helpers import run_here
from tests.mr.test_counting import HostCount

from crawlmill.cli import main
from crawlmill.errors import UsageError
from crawlmill.mr.engines.registry import ENGINES, Engine, engine_of, runner_class


@pytest.fixture
def toy(monkeypatch):
    toys = "tests.mr.engines.toy"
    engine = Engine(
        "toy",
        f"{toys}:ToyRunner",
        f"{toys}:toy_work",
        f"{toys}:examine_toy",
        here=True,
        default_base="file:///toys/",
        settings=("region",),
    )
    monkeypatch.setitem(ENGINES, "toy", engine)
    return engine


def test_job_runs_on_an_engine_that_was_added(crawl, tmp_path, toy):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"), "crawl-data/CC-X/x.warc.gz")
    out = {}
    for name in ("inline", "toy"):
        ended = run_here(
            HostCount, "-r", name, "--retries", "3", "--base-url", "file:///toys/", "--ledger", tmp_path / name, lst
        )
        assert ended.code == 2, ended.err
        out[name] = sorted(ended.out.splitlines())
    assert out["toy"] == out["inline"] != []
    assert (tmp_path / "toy").read_bytes() == (tmp_path / "inline").read_bytes()


def test_keys_resolve_where_the_engine_says(crawl, tmp_path, toy):
    ended = run_here(
        HostCount, "-r", "toy", "--retries", "3", "--ledger", tmp_path / "l", crawl.list("crawl-data/CC-X/x.warc.gz")
    )
    assert ended.code == 2, ended.err
    assert json.loads((tmp_path / "l").read_text())["location"] == "file:///toys/crawl-data/CC-X/x.warc.gz"


def test_help_names_it(toy, capsys):
    with pytest.raises(SystemExit):
        HostCount(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "where to run: local (default), inline, hadoop, emr, spark or toy;" in text


def test_doctor_examines_it(toy, capsys):
    assert main(["doctor", "toy", "--region", "eu"]) == 1
    out = capsys.readouterr().out
    assert "ok: the toy box in eu\nproblem: a toy is broken — mend it\n" in out
    assert main(["doctor", "toy", "--cluster-id", "x"]) == 1
    assert capsys.readouterr().err == "crawlmill: --cluster-id: only for emr, not for toy\n"


@pytest.mark.parametrize("name", list(ENGINES))
def test_what_the_registry_names_is_there(name):
    engine = engine_of(name)
    assert runner_class(name).alias == name
    assert engine.examine is None or list(engine.findings.__annotations__)


def test_name_that_no_engine_has_is_a_usage_error():
    with pytest.raises(UsageError, match="one of local, inline, hadoop, emr, spark"):
        engine_of("dataproc")
    assert engine_of(None).name == "local"
