"""Ledgers at places where they cannot be written: found out before the work, and no loss of results after it."""

from __future__ import annotations

import os
import tempfile

import pytest
from tests.mr.helpers import rows, run_here
from tests.mr.test_launch import INLINE, UriCount
from tests.storage.webhdfs import WebHdfs

from crawlmill.errors import SourceError, UsageError
from crawlmill.ledger.file import check_ledger_place
from crawlmill.storage import Storage, StorageOptions

RESULT = '"http://e.org/1"\t1\n'


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def keys(s3) -> list[str]:
    return [found["Key"] for found in s3.list_objects_v2(Bucket="bucket").get("Contents", [])]


def test_place_on_s3_is_tried_and_nothing_is_left_there(s3):
    s3.put_object(Bucket="bucket", Key="runs/l.jsonl", Body=b"old")
    check_ledger_place("s3://bucket/runs/l.jsonl", StorageOptions())
    assert keys(s3) == ["runs/l.jsonl"]
    assert s3.get_object(Bucket="bucket", Key="runs/l.jsonl")["Body"].read() == b"old"


@pytest.mark.parametrize("place", ["s3://no-such-bucket/l.jsonl", "s3://bucket/folder/", "s3://bucket"])
def test_impossible_place_on_s3_ends_before_anything_runs(crawl, s3, place):
    read = []

    class Watched(UriCount):
        def process(self, record):
            read.append(record.uri)
            return super().process(record)

    ended = run_here(Watched, *INLINE, "--ledger", place, crawl.list(crawl.warc("a", "http://e.org/1")))
    assert (ended.code, ended.out, ended.err.count("\n"), read) == (1, "", 1, [])
    assert ended.err.startswith("the ledger cannot be written: ")
    assert ended.err.endswith(f"({place})\n")
    assert keys(s3) == []


def test_place_where_one_may_write_but_not_remove_will_do(crawl, s3, monkeypatch):
    def remove(_self, location):
        raise SourceError("AccessDenied", reason="denied", source=location)

    monkeypatch.setattr(Storage, "remove", remove)
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    ended = run_here(UriCount, *INLINE, "--ledger", "s3://bucket/l", lst)
    assert (ended.code, ended.out) == (0, RESULT)
    (left,) = [key for key in keys(s3) if key != "l"]
    assert f"cannot be removed: AccessDenied (s3://bucket/{left})\n" in ended.err


def test_place_on_hdfs_is_tried_and_nothing_is_left_there():
    with WebHdfs() as cluster:
        check_ledger_place("hdfs:///d/l.jsonl", StorageOptions(webhdfs=cluster.url))
        assert cluster.files == {}
        cluster.refusals = [(403, "AccessControlException")] * 9
        with pytest.raises(UsageError, match=r"the ledger cannot be written: .* \(hdfs:///d/l.jsonl\)"):
            check_ledger_place("hdfs:///d/l.jsonl", StorageOptions(webhdfs=cluster.url))


@pytest.mark.parametrize("output", [False, True])
def test_place_on_s3_that_is_gone_in_the_end_costs_no_results(crawl, s3, tmp_path, temporary, output):
    class Spoils(UriCount):
        def process(self, record):
            s3.delete_bucket(Bucket="bucket")
            return super().process(record)

    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    out = tmp_path / "out"
    options = ("--output-dir", out) if output else ()
    ended = run_here(Spoils, *INLINE, "--ledger", "s3://bucket/l", *options, lst)
    assert ended.code == 1
    (kept,) = temporary.glob("crawlmill-ledger-*/ledger.jsonl")
    assert [row["outcome"] for row in rows(kept).values()] == ["ok"]
    said = ended.err.splitlines()
    assert said[0].startswith("the ledger cannot be kept: ")
    assert said[0].endswith("(s3://bucket/l)")
    assert said[1].startswith("1 input: 1 ok")
    assert said[2:] == [f"ledger: {kept}"]
    if output:
        assert (out / "part-00000").read_text() == RESULT
        assert (out / "_SUCCESS").exists()
    else:
        assert ended.out == RESULT


def test_results_come_though_the_ledger_can_be_kept_nowhere(crawl, tmp_path, temporary, monkeypatch):
    place = tmp_path / "ledgers" / "l"
    place.parent.mkdir()

    class Spoils(UriCount):
        def process(self, record):
            place.mkdir()
            monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
            return super().process(record)

    ended = run_here(Spoils, *INLINE, "--ledger", place, crawl.list(crawl.warc("a", "http://e.org/1")))
    assert (ended.code, ended.out) == (1, RESULT)
    assert ended.err.count("the ledger cannot be kept: ") == 2
    assert "Errno" not in ended.err
    assert "\nledger: " not in ended.err


def test_ledger_that_nobody_asked_for_and_that_can_be_kept_nowhere_is_a_failure(crawl, tmp_path, monkeypatch):
    class Spoils(UriCount):
        def process(self, record):
            monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
            return super().process(record)

    lst = crawl.list(crawl.warc("a", "http://e.org/1"), "gone.warc.gz")
    ended = run_here(Spoils, *INLINE, lst)
    assert (ended.code, ended.out) == (1, RESULT)
    assert ended.err.count("the ledger cannot be kept: ") == 1


def test_place_below_a_folder_that_may_not_be_entered_is_a_mistake(tmp_path):
    closed = tmp_path / "closed"
    (closed / "below").mkdir(parents=True)
    closed.chmod(0)
    user = os.geteuid()
    try:
        if user == 0:  # who may enter any
            os.seteuid(65534)
        with pytest.raises(UsageError, match="the ledger cannot be written: "):
            check_ledger_place(str(closed / "below" / "l.jsonl"), StorageOptions())
    finally:
        os.seteuid(user)
        closed.chmod(0o700)


def test_place_of_a_name_that_is_too_long_is_a_mistake(tmp_path):
    with pytest.raises(UsageError, match="the ledger cannot be written: File name too long"):
        check_ledger_place(str(tmp_path / ("x" * 300)), StorageOptions())


def test_device_is_a_place():
    check_ledger_place(os.devnull, StorageOptions())
