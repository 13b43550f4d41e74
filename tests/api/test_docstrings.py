"""What docstrings of the interface show is what happens, and the interface is what the package says it is."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest
from tests import builders
from tests.mr.helpers import run_here

import crawlmill
from crawlmill.api import archive, lookup, results
from crawlmill.jobs.tag_count import TagCount

HTML = [("Content-Type", "text/html")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the docstrings name."""
    monkeypatch.chdir(tmp_path)
    first = builders.response("http://example.com/", b"<a>", HTML)
    second = builders.response("http://example.com/a", b"<p>", HTML)
    members = [builders.pack([each]) for each in (builders.warcinfo(), first, second)]
    (tmp_path / "pages.warc.gz").write_bytes(b"".join(members))
    line = 'com,example){} 20240102030405 {{"url": "http://example.com{}", "status": "200", "length": "{}", "offset": "{}", "filename": "pages.warc.gz"}}\n'
    at = len(members[0])
    rows = [
        line.format(path, path, len(member), offset)
        for path, member, offset in (("/", members[1], at), ("/a", members[2], at + len(members[1])))
    ]
    (tmp_path / "captures.cdxj").write_text("".join(rows))
    tags = builders.pack([builders.warcinfo(), builders.response("http://e.org/", b"<a><p><p>", HTML)])
    (tmp_path / "tags.warc.gz").write_bytes(tags)
    (tmp_path / "x.paths").write_text("tags.warc.gz\n")
    run_here(TagCount, "-r", "inline", "--output-dir", "out", "x.paths")


@pytest.mark.parametrize("module", [archive, lookup, results], ids=lambda module: module.__name__)
def test_examples_are_true(folder, module):
    ran = doctest.testmod(module, extraglobs={"crawlmill": crawlmill})
    assert (ran.failed, ran.attempted > 0) == (0, True)


def test_every_public_name_is_there_and_described():
    for name in crawlmill.__all__:
        assert name == "__version__" or getattr(crawlmill, name).__doc__
    assert set(crawlmill.__all__) <= set(dir(crawlmill))
    with pytest.raises(AttributeError):
        _ = crawlmill.nothing


def test_importing_the_interface_loads_no_heavy_package():
    heavy = ["mrjob", "boto3", "botocore", "pyarrow", "duckdb", "pandas", "numpy"]
    code = (
        "import sys; from crawlmill import lookup, open_archive, read_results\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
