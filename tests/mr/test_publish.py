"""Output folders on every kind of storage."""

from __future__ import annotations

import pytest
from tests.mr.helpers import run_here
from tests.mr.test_launch import INLINE, UriCount
from tests.storage.faults import FaultServer
from tests.storage.webhdfs import WebHdfs

from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.storage import Storage

NAMES = ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000"]
RESULT = b'"http://e.org/1"\t1\n'


@pytest.fixture
def lst(crawl, monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return crawl.list(crawl.warc("a", "http://e.org/1"))


def test_folder_on_hdfs_appears_by_rename_with_success_written_last(lst):
    with WebHdfs() as cluster:
        ended = run_here(UriCount, *INLINE, "--webhdfs", cluster.url, "--output-dir", "hdfs:///d/out", lst)
        assert ended.code == 0, ended.err
        assert sorted(cluster.files) == [f"/d/out/{name}" for name in NAMES]
        assert cluster.files["/d/out/part-00000"] == RESULT
        made = [seen.path.partition("?")[0].rpartition("/")[2] for seen in cluster.seen if "op=CREATE" in seen.path]
        again = run_here(UriCount, *INLINE, "--webhdfs", cluster.url, "--output-dir", "hdfs:///d/out/", lst)
    assert [name for name in dict.fromkeys(made) if "SUCCESS" in name] == [list(dict.fromkeys(made))[-1]]
    assert (again.code, again.err) == (1, "the output folder exists: hdfs:///d/out\n")


def test_objects_on_s3_appear_with_success_last(lst, s3):
    ended = run_here(UriCount, *INLINE, "--output-dir", "s3://bucket/out", lst)
    assert ended.code == 0, ended.err
    assert [found["Key"] for found in s3.list_objects_v2(Bucket="bucket", Prefix="out/")["Contents"]] == [
        f"out/{n}" for n in NAMES
    ]
    assert s3.get_object(Bucket="bucket", Key="out/part-00000")["Body"].read() == RESULT
    again = run_here(UriCount, *INLINE, "--output-dir", "s3://bucket/out", lst)
    assert (again.code, again.err) == (1, "the output folder exists: s3://bucket/out\n")


def folder(location, storage=None):
    return OutputFolder(str(location), storage or Storage())


def test_local_folder_and_its_parents_show_nothing_before_and_leave_nothing_behind(tmp_path):
    output = folder(tmp_path / "a" / "b" / "out")
    assert output.work.parent == tmp_path / "a" / "b"
    (output.work / "step").mkdir()
    output.discard()
    assert list(tmp_path.iterdir()) == []


def test_published_folder_outlives_discard(tmp_path):
    output = folder(tmp_path / "a" / "out")
    (output.work / "step" / "t").mkdir(parents=True)
    part = output.work / "step" / "t" / "part"
    part.write_bytes(b"x")
    output.publish([part], {}, {"_run.json": b"{}"})
    output.discard()
    assert {path.name for path in (tmp_path / "a" / "out").iterdir()} == {"part-00000", "_run.json", "_SUCCESS"}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]


def test_folder_that_somebody_else_makes_meanwhile_is_left_alone(tmp_path):
    output = folder(tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(CrawlmillError, match="made by somebody else"):
        output.publish([], {}, {})
    output.discard()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine"]


@pytest.mark.parametrize("name", ["there", "there/", "file"])
def test_folder_that_exists_is_a_usage_error(tmp_path, name):
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="exists"):
        folder(f"{tmp_path}/{name}")
    with pytest.raises(UsageError, match="exists"):
        folder(f"{tmp_path.as_uri()}/{name}")


def test_folder_on_a_web_server_is_refused_before_anything_is_read(lst):
    with FaultServer() as server:
        ended = run_here(UriCount, *INLINE, "--output-dir", f"{server.url}/out", lst)
    assert (ended.code, ended.err) == (1, f"nothing can be written over HTTP ({server.url}/out)\n")
