"""`crawlmill.read_results`: pairs of any format, and what is known to be missing."""

from __future__ import annotations

import json
import warnings

import pytest
from tests import builders
from tests.mr.helpers import run_here

import crawlmill
from crawlmill.jobs.server_count import ServerCount


@pytest.fixture
def out(tmp_path):
    """Runs `server_count` over two pages, one of them with a server."""

    def run(*options, cut=0, missing=False):
        records = [
            builders.warcinfo(),
            builders.response("http://e.org/1", b"", [("Server", "a,b")]),
            builders.response("http://e.org/2", b"", [("X", "y")]),
        ]
        data = builders.pack(records)
        (tmp_path / "a.warc.gz").write_bytes(data[: len(data) - cut])
        (tmp_path / "x.paths").write_text("a.warc.gz\n" + "nowhere\n" * missing)
        folder = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        run_here(ServerCount, "-r", "inline", "--output-dir", folder, *options, tmp_path / "x.paths")
        return folder

    return run


@pytest.mark.parametrize("kind", ["pairs", "jsonl", "csv", "tsv", "parquet"])
def test_pairs_are_the_same_in_every_format(out, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = crawlmill.read_results(out("--output-format", kind))
        for _ in range(2):
            assert dict(results) == {"a,b": 1, None: 1}
    assert (results.run["job"], results.finished) == (ServerCount.name(), True)
    assert [(row["outcome"], row["records"]) for row in results.ledger] == [("ok", 3)]


@pytest.mark.parametrize("kind", ["pairs", "csv"])
def test_a_part_that_is_missing_is_warned_of(out, kind):
    folder = out("--output-format", kind)
    run = json.loads((folder / "_run.json").read_text())
    assert run["parts"] == len(list(folder.glob("part-*"))) > 0
    next(folder.glob("part-*")).unlink()
    with pytest.warns(crawlmill.LossWarning, match=f"1 of {run['parts']} parts is missing"):
        crawlmill.read_results(folder)


def test_losses_and_unfinished_runs_are_warned_of_at_the_line_of_the_caller(out):
    folder = out(cut=9, missing=True)
    with pytest.warns(crawlmill.LossWarning) as caught:
        crawlmill.read_results(folder)
    assert [(str(each.message), each.filename) for each in caught] == [
        (f"{folder}: 1 partial, 1 failed of 2 inputs", __file__)
    ]
    (folder / "_SUCCESS").unlink()
    with pytest.warns(crawlmill.LossWarning) as caught:
        results = crawlmill.read_results(str(folder))
    assert [str(each.message).rpartition(": ")[2] for each in caught] == [
        "1 partial, 1 failed of 2 inputs",
        "there is no _SUCCESS",
    ]
    assert dict(results) == {"a,b": 1}


def test_a_ledger_that_is_elsewhere_is_missed_by_nobody(out, tmp_path):
    folder = out("--ledger", tmp_path / "ledger.jsonl", missing=True)
    with pytest.warns(crawlmill.LossWarning, match="1 failed of 2 inputs"):
        results = crawlmill.read_results(folder)
    assert results.ledger == []


def test_what_is_broken_is_an_error_that_names_it(out, tmp_path):
    folder = out("--output-format", "csv")
    part = folder / "part-00000.csv"
    part.write_bytes(part.read_bytes() + b'"x"y,1\r\n')
    with pytest.raises(crawlmill.FormatError, match=r"part-00000\.csv, line 4"):
        list(crawlmill.read_results(folder))
    with pytest.raises(crawlmill.SourceError) as error:
        crawlmill.read_results(tmp_path / "nowhere")
    assert error.value.reason == "not-found"
    ledger = folder / "_ledger.jsonl"
    ledger.write_text(json.dumps({"input": "x"}) + "\n")
    with pytest.raises(crawlmill.FormatError, match=r"_ledger\.jsonl, line 1"):
        crawlmill.read_results(folder)
