"""What a report shows of a command line."""

from __future__ import annotations

import json

import pytest
from tests.mr.helpers import run
from tests.mr.test_local import FRAGILE

from crawlmill.ledger.run_json import without_secrets
from crawlmill.mr.run.ending import RunInfo

COMMAND_LINES = [
    (["-D", "fs.s3a.secret.key=topsecret"], ["-D", "fs.s3a.secret.key=…"]),
    (["-Dfs.s3a.access.key=topsecret"], ["-Dfs.s3a.access.key=…"]),
    (["--jobconf=fs.azure.account.key.me.blob=topsecret"], ["--jobconf=fs.azure.account.key.me.blob=…"]),
    (["--cmdenv", "AWS_SECRET_ACCESS_KEY=topsecret"], ["--cmdenv", "AWS_SECRET_ACCESS_KEY=…"]),
    (["--cmdenv=PLACE=a=topsecret"], ["--cmdenv=PLACE=…"]),
    (["--cmdenv", "PLACE=topsecret of a & b"], ["--cmdenv", "PLACE=…"]),
    (["-D", "db.Password=topsecret; = & topsecret"], ["-D", "db.Password=…"]),
    (["--api-token", "topsecret", "x.paths"], ["--api-token", "…", "x.paths"]),
    (["--api-token=topsecret", "x.paths"], ["--api-token=…", "x.paths"]),
    (["--setup", "export LANG=C GITHUB_TOKEN=topsecret"], ["--setup", "export LANG=C GITHUB_TOKEN=…"]),
    (["--base-url=https://u:topsecret@h/x?Signature=topsecret"], ["--base-url=https://…@h/x?Signature=…"]),
    (["https://topsecret@h/x.paths"], ["https://…@h/x.paths"]),
    (["-D", "mapreduce.job.reduces=3", "-r", "local", "-"], ["-D", "mapreduce.job.reduces=3", "-r", "local", "-"]),
]


@pytest.mark.parametrize(("given", "shown"), COMMAND_LINES)
def test_secrets_of_a_command_line_are_not_shown(given, shown):
    assert without_secrets(given) == shown
    assert RunInfo("x", "emr", given, 0.0).recorded().arguments == shown


def test_secrets_of_a_command_line_are_not_in_what_a_run_leaves(crawl, tmp_path):
    out = tmp_path / "out"
    lst = crawl.list(crawl.warc("a", "http://fine/"))
    options = ("-D", "fs.s3a.secret.key=topsecret", "--cmdenv", "SOMETHING=topsecret", "--verbose", "--label", "x")
    ended = run(FRAGILE, "-r", "local", "--num-cores", "1", "--output-dir", out, *options, lst)
    assert ended.code == 0, ended.err
    assert "topsecret" not in ended.out + ended.err + "".join(path.read_text() for path in out.iterdir())
    assert "SOMETHING=…" in json.loads((out / "_run.json").read_text())["arguments"]
