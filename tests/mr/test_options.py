"""The limit of bad inputs."""

from __future__ import annotations

import argparse

import pytest
from tests.mr.helpers import SCRIPTS, run
from tests.storage.faults import FaultServer, Thing

from crawlmill.mr.run.options import BadLimit


@pytest.mark.parametrize(
    ("text", "bad", "inputs", "exceeded"),
    [
        ("0", 0, 5, False),
        ("0", 1, 5, True),
        ("2", 2, 5, False),
        ("2", 3, 5, True),
        ("0%", 1, 1000, True),
        ("40%", 2, 5, False),
        ("40%", 3, 5, True),
        ("33.4%", 1, 3, False),
        ("33.3%", 1, 3, True),
        ("100%", 5, 5, False),
    ],
)
def test_limit_is_exceeded_by_more_than_it_says(text, bad, inputs, exceeded):
    assert BadLimit.parse(text).exceeded(bad, inputs) is exceeded


@pytest.mark.parametrize("text", ["", "%", "x", "-1", "-1%", "101%", "nan%", "inf%", "1.5", "5 %x"])
def test_limit_that_is_none_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="number or a percentage"):
        BadLimit.parse(text)


def test_where_s3_is_concerns_every_runner(crawl):
    given = ("--s3-endpoint", "http://127.0.0.1:9", "--s3-region", "eu-west-1")
    for runner in ("inline", "local"):
        ended = run(SCRIPTS / "mime_count.py", "-r", runner, *given, crawl.list(crawl.warc("a.warc.gz", "http://a/")))
        assert (ended.code, "s3_" in ended.err) == (0, False)


def test_tasks_of_one_process_share_connections(crawl):
    files = [crawl.warc(f"{name}.warc.gz", f"http://{name}/") for name in "abc"]
    things = {f"/{each.name}": Thing(each.read_bytes()) for each in files}
    with FaultServer(things) as web:
        given = crawl.list(*(f"{web.url}/{each.name}" for each in files))
        assert run(SCRIPTS / "mime_count.py", "-r", "inline", given).code == 0
    assert len({seen.connection for seen in web.seen}) == 1
