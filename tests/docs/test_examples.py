"""The jobs that a page shows, on records that no sample crawl has: each is accounted for, and no task fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.builders import pack, response
from tests.docs.pages import PROJECT, blocks

EXAMPLES = {
    block.file_name: block.text
    for block in blocks(PROJECT / "docs" / "writing-a-job.md")
    if block.file_name is not None
}
LD = '<script type="application/ld+json">'


def page(text: str) -> bytes:
    return f"<html>{text}</html>".encode()


@pytest.fixture
def run(tmp_path):
    """Runs an example on a WARC of these records: exit code, results, reasons of its ledger row."""

    def run(name, records):
        (tmp_path / name).write_text(EXAMPLES[name], encoding="utf-8")
        (tmp_path / "crawl.warc.gz").write_bytes(pack(records))
        (tmp_path / "list").write_text("crawl.warc.gz\n", encoding="utf-8")
        command = [sys.executable, name, "-r", "inline", "--no-conf", "--no-progress", "--ledger", "rows.jsonl", "list"]
        environment = {**os.environ, "PYTHONPATH": str(PROJECT / "lib"), "HOME": str(tmp_path)}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        results = dict(line.split("\t") for line in done.stdout.splitlines())
        (row,) = map(json.loads, (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines())
        return done.returncode, results, row["lost"]

    return run


def test_longest_pages_of_urls_that_are_none_have_no_host(run):
    urls = ["http://[foo/", "http://e.org/", "http://www.example.net]www", "not a URL", ""]
    code, results, lost = run("longest_pages.py", [response(url, page("x" * at)) for at, url in enumerate(urls)])
    assert (code, lost) == (0, {})
    assert {host: json.loads(longest) for host, longest in results.items()} == {
        "null": [16, "not a URL"],
        '"e.org"': [14, "http://e.org/"],
    }


def test_schema_types_of_json_that_cannot_be_read_are_lost_with_a_reason(run):
    texts = [
        '{"@type": "Product"}',
        "[" * 1_000_000,
        '{"@type": ' + "9" * 5000 + "}",
        '{"@type": NaN}',
        "{",
        '{"@type": ["A"]}',
    ]
    records = [response(f"http://e.org/{at}", page(f"{LD}{text}</script>")) for at, text in enumerate(texts)]
    code, results, lost = run("schema_types.py", [*records, response("http://e.org/last", page(LD * 50_000))])
    assert code == 2
    assert results == {'"Product"': "1"}
    assert lost == {"bad-json": 4}
