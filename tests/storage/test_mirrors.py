"""Several base URLs: what the first one lacks is read from the next, and the ledger says where it came from."""

from __future__ import annotations

import os

import pytest

from crawlmill.errors import SourceError
from crawlmill.jobs.tag_count import TagCount
from crawlmill.storage import Storage, StorageOptions
from crawlmill.storage.mirrors import split_bases
from tests import builders
from tests.mr.conftest import Crawl
from tests.mr.helpers import rows, run_here
from tests.storage.faults import FaultServer, Thing


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("s3://commoncrawl/", ["s3://commoncrawl/"]),
        ("https://a/,hf://buckets/o/n,/local", ["https://a/", "hf://buckets/o/n", "/local"]),
        ("/a,b", ["/a,b"]),
        ("a,b,c,http://h/x,y", ["a,b,c", "http://h/x,y"]),
    ],
)
def test_commas_before_absolute_locations_part_bases(text, bases):
    assert split_bases(text) == bases


@pytest.fixture
def servers():
    with FaultServer() as first, FaultServer() as second:
        yield first, second


def warc(tag: str) -> bytes:
    return builders.pack([builders.warcinfo(), builders.response("http://e.org/", f"<{tag}>".encode())])


def storage(*bases: str) -> Storage:
    return Storage(StorageOptions(bases=bases, retries=0))


def test_what_is_not_there_is_found_below_the_next_base_and_not_asked_for_twice(servers):
    first, second = servers
    second.things["/m/a%20b/c"] = Thing(b"0123456789")
    with storage(f"{first.url}/base/", f"{second.url}/m") as opened:
        location = f"{first.url}/base/a%20b/c"
        assert opened.found_at(location) == location
        assert opened.read_range(location, 2, 3) == b"234"
        assert opened.read_range(location, 5, 2) == b"56"
        assert opened.size_of(location) == 10
        assert opened.found_at(location) == f"{second.url}/m/a%20b/c"
    assert len(first.seen) == 1


def test_names_are_percent_encoded_in_urls_alone(servers, tmp_path):
    first, _ = servers
    (tmp_path / "a b").write_bytes(b"here")
    first.things["/c%20d"] = Thing(b"there")
    with storage(first.url, str(tmp_path)) as opened:
        assert opened.read_all(f"{first.url}/a%20b", limit=9) == b"here"
    with storage(f"{tmp_path}//", first.url) as opened:
        assert opened.read_all(f"{tmp_path}/c d", limit=9) == b"there"


def test_what_is_nowhere_is_not_found_and_what_is_refused_is_not_looked_for_elsewhere(servers):
    first, second = servers
    first.things["/denied"] = Thing(every=(403, {}))
    second.things["/denied"] = second.things["/other"] = Thing(b"x")
    with storage(first.url, second.url) as opened:
        with pytest.raises(SourceError, match="at none of 2 base URLs") as nowhere:
            opened.open_stream(f"{first.url}/gone")
        assert nowhere.value.reason == "not-found"
        with pytest.raises(SourceError) as denied:
            opened.open_stream(f"{first.url}/denied")
        assert denied.value.reason == "denied"
        with pytest.raises(SourceError):
            opened.open_stream(f"{second.url}/nothing")
    assert [seen.path for seen in second.seen] == ["/gone", "/nothing"]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_ledger_says_which_mirror_an_input_came_from(servers, tmp_path, runner):
    first, second = servers
    first.things["/crawl-data/a.warc.gz"] = Thing(warc("a"))
    second.things["/m/crawl-data/a.warc.gz"] = Thing(warc("another"))
    second.things["/m/crawl-data/b.warc.gz"] = Thing(warc("b")[:-4])
    names = [f"crawl-data/{name}.warc.gz" for name in "abc"]
    lst = Crawl(tmp_path).list(*names)
    ledger = tmp_path / "ledger"
    bases = f"{first.url},{second.url}/m/"
    ended = run_here(TagCount, "-r", runner, "--base-url", bases, "--ledger", ledger, lst)
    assert ended.code == 2, ended.err
    assert ended.out == '"a"\t1\n'
    found = rows(ledger)
    assert {name: row["location"] for name, row in found.items()} == {
        names[0]: f"{first.url}/crawl-data/a.warc.gz",
        names[1]: f"{second.url}/m/crawl-data/b.warc.gz",
        names[2]: f"{first.url}/crawl-data/c.warc.gz",
    }
    assert f"in {second.url}/m/crawl-data/b.warc.gz" in found[names[1]]["problems"][0]["message"]
    assert "at none of 2 base URLs" in found[names[2]]["problems"][0]["message"]


def test_relative_base_is_below_the_working_folder(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name / "crawl-data").mkdir(parents=True)
    (tmp_path / "two/crawl-data/a.warc.gz").write_bytes(warc("a"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/x.paths").write_text("crawl-data/a.warc.gz\n")
    ended = run_here(TagCount, "-r", "inline", "--base-url", f"one,{os.fspath(tmp_path / 'two')}", "lists/x.paths")
    assert (ended.code, ended.out) == (0, '"a"\t1\n'), ended.err
