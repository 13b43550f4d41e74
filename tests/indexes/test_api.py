"""`crawlmill.lookup`: objects, as the command prints them; what is lost is a warning."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.indexes.captures import expected, make_cluster, make_lines, text

import crawlmill
from crawlmill.errors import UsageError

LINES = make_lines(600, seed=2)


def flat(line):
    key, time, fields = line.split(" ", 2)
    return {"urlkey": key, "timestamp": time, **json.loads(fields)}


def test_captures_are_objects(tmp_path):
    (tmp_path / "a.cdxj").write_bytes(text(LINES))
    options = {"newest": True, "limit": 5}
    found = crawlmill.lookup(
        "*.example.com", "example.org", index=str(tmp_path / "a.cdxj"), filter="=status:200", to="2020", **options
    )
    wanted = [
        flat(line)
        for pattern in ("*.example.com", "example.org")
        for line in expected(LINES, pattern, filters=["=status:200"], end="2020", **options)
    ]
    assert list(found) == wanted


@pytest.mark.parametrize("fields", [["urlkey", "encoding"], "urlkey,encoding"])
def test_fields_are_chosen(tmp_path, fields):
    (tmp_path / "a.cdxj").write_bytes(text(LINES))
    found = crawlmill.lookup("*.org", index=[str(tmp_path / "a.cdxj")], fields=fields)
    wanted = [flat(line) for line in expected(LINES, "*.org")]
    assert list(found) == [
        {"urlkey": each["urlkey"], **({"encoding": each["charset"]} if "charset" in each else {})} for each in wanted
    ]


def test_what_is_lost_is_a_warning(tmp_path):
    make_cluster(tmp_path / "c", LINES, per=10, shards=3)
    (tmp_path / "c/cdx-00001.gz").unlink()
    with pytest.warns(crawlmill.LossWarning, match=r"^not-found: the shard cdx-00001.gz"):
        found = list(crawlmill.lookup("com", match="domain", index=str(tmp_path / "c")))
    assert found == [flat(line) for line in expected(LINES, "com", match="domain") if line not in LINES[200:400]]


@pytest.mark.parametrize(
    "options", [{"match": "some"}, {"from_": "x"}, {"filter": ["~url:("]}, {"sort": "up"}, {"limit": -1}, {"index": []}]
)
def test_mistakes_are_raised_by_the_call(tmp_path, options):
    (tmp_path / "a.cdxj").write_bytes(text(LINES))
    with pytest.raises(UsageError):
        crawlmill.lookup("a.com", **{"index": str(tmp_path / "a.cdxj"), **options})


def test_importing_the_package_loads_nothing():
    code = "import sys, crawlmill; print(*[name for name in sys.modules if name.startswith('crawlmill.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
