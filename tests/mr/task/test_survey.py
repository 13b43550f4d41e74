"""A survey: every input is looked at before any is processed, and tasks know what was found."""

from __future__ import annotations

import pytest
from tests.mr.helpers import SCRIPTS, rows, run
from tests.mr.scripts.fair_shares import FairShares

from crawlmill.mr.task.survey import SURVEY

SCRIPT = SCRIPTS / "fair_shares.py"
URIS = [f"http://e.org/{n:03}" for n in range(30)]


@pytest.fixture
def lst(crawl):
    """A giant that comes last among dwarfs."""
    return crawl.list(crawl.warc("a", URIS[28]), crawl.warc("b", URIS[29]), crawl.warc("c", *URIS[:28]))


@pytest.mark.parametrize("options", [("-r", "inline"), ("-r", "local"), ("-r", "local", "--num-cores", "3")])
def test_work_is_cut_by_what_is_in_all_inputs(tmp_path, lst, options):
    ended = run(SCRIPT, *options, "--ledger", tmp_path / "ledger", lst)
    assert ended.code == 0, ended.err
    assert ended.pairs == {"0": 10, "1": 10, "2": 10}
    assert [row["records"] for row in rows(tmp_path / "ledger").values()] == [2, 2, 29]
    assert "3 inputs: 3 ok; 33 records" in ended.err


def test_what_is_lost_is_accounted_for_once(tmp_path, crawl):
    good, cut = crawl.warc("a", *URIS), crawl.write("b", (tmp_path / "a").read_bytes()[:-10])
    ended = run(SCRIPT, "-r", "local", "--ledger", tmp_path / "ledger", crawl.list(good, cut))
    assert ended.code == 2
    assert sum(ended.pairs.values()) == 30 + 29
    assert [row["lost"] for row in rows(tmp_path / "ledger").values()] == [{}, {"truncated": 1}]


def test_checkpoint_holds_only_for_the_same_findings(tmp_path, crawl):
    first = crawl.warc("a", *URIS[:15])
    for number, more in enumerate((URIS[15:], ["http://e.org/000/x"] * 60)):
        lst = crawl.list(first, crawl.warc(f"more{number}", *more))
        ended = run(SCRIPT, "-r", "local", "--checkpoint", tmp_path / "kept", lst)
        assert ended.code == 0, ended.err
        plain = run(SCRIPT, "-r", "inline", lst)
        assert ended.pairs == plain.pairs


def test_findings_are_where_the_task_is_told(tmp_path, monkeypatch):
    (tmp_path / "part").write_bytes(b'1\t"x"\n2\t"y"\n')
    monkeypatch.setenv(SURVEY, str(tmp_path / "part"))
    assert FairShares(["--mapper", "--step-num=1"]).findings == [(1, "x"), (2, "y")]
