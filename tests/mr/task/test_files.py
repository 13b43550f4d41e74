"""Named files of tasks: published by name, once, and only of the attempts that count, on every engine alike."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import SCRIPTS, finish, run, run_here, start, wait_until
from tests.mr.scripts.shards import Shards
from tests.storage.webhdfs import WebHdfs

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.mr import CrawlJob
from crawlmill.mr.engines.run_folder import committed_files, listed_files, rows_apart
from crawlmill.mr.task.files import FolderFiles, check_name, files_in_folder
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.task_list import encode_task
from crawlmill.storage import Storage, StorageOptions

SHARDS = SCRIPTS / "shards.py"
URLS = ["http://e.org/1", "http://e.org/22", "http://e.org/333", "http://e.org/4444"]  # 14 to 17 bytes: shards 2 0 1 2
WANTED = {
    "cdx-00000": "http://e.org/22\n",
    "cdx-00001": "http://e.org/333\n",
    "cdx-00002": "http://e.org/1\nhttp://e.org/4444\n",
    "cluster.idx": "cdx-00000\t1\ncdx-00001\t1\ncdx-00002\t2\n",
    "inputs/name=a": "http://e.org/1\nhttp://e.org/22\n",
    "inputs/name=b": "http://e.org/333\nhttp://e.org/4444\n",
}
OURS = {"_SUCCESS", "_ledger.jsonl", "_run.json"}


def published(folder: Path) -> dict[str, str]:
    """The files of an output folder but for those that every one has, which must be there."""
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert set(found) >= OURS
    return {name: text for name, text in found.items() if name not in OURS}


@pytest.fixture
def lst(crawl):
    return crawl.list(crawl.warc("a", *URLS[:2]), crawl.warc("b", *URLS[2:]))


@pytest.fixture
def shards():
    """The class of the script."""
    return Shards


@pytest.mark.parametrize("options", [("-r", "inline"), ("-r", "local"), ("-r", "local", "--num-cores", "1")])
def test_files_of_tasks_and_those_that_the_end_makes_of_them_are_published_by_name(tmp_path, lst, options):
    ended = run(SHARDS, *options, "--output-dir", tmp_path / "out", lst)
    assert ended.code == 0, ended.err
    assert published(tmp_path / "out") == WANTED
    assert {path.name for path in tmp_path.iterdir()} == {"out", "a", "b", "x.paths"}, "something is left"


def test_files_are_published_on_storage_far_away(tmp_path, lst, s3):
    ended = run(SHARDS, "--output-dir", "s3://bucket/out", lst)
    assert ended.code == 0, ended.err
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="bucket", Prefix="out/")["Contents"]]
    assert sorted(keys) == sorted(f"out/{name}" for name in (*WANTED, *OURS))
    assert s3.get_object(Bucket="bucket", Key="out/cluster.idx")["Body"].read().decode() == WANTED["cluster.idx"]


def test_files_are_published_on_hdfs(tmp_path, lst, monkeypatch):
    with WebHdfs() as cluster:
        ended = run(SHARDS, "-r", "inline", "--webhdfs", cluster.url, "--output-dir", "hdfs:///d/out", lst)
        assert ended.code == 0, ended.err
        found = {path.removeprefix("/d/out/"): data.decode() for path, data in cluster.files.items()}
    assert {name: text for name, text in found.items() if name not in OURS} == WANTED


@pytest.mark.parametrize("how", ["raise", "kill"])
def test_attempt_that_does_not_count_leaves_no_file(tmp_path, crawl, how):
    lst = crawl.list(crawl.warc("a", *URLS[:2]), crawl.warc("b", f"http://{how}/"))
    ended = run(SHARDS, "--output-dir", tmp_path / "out", lst)
    assert ended.code == 0, ended.err
    assert f"http://{how}/\n" in "".join(published(tmp_path / "out").values())
    assert "is tried again" in ended.err


def test_launcher_that_is_killed_publishes_nothing(tmp_path, crawl):
    lst = crawl.list(crawl.warc("a", *URLS), crawl.warc("b", "http://wait/"))
    process = start(SHARDS, "--output-dir", tmp_path / "out", lst, MARKS=str(tmp_path))
    wait_until((tmp_path / "waiting").exists, process)
    process.kill()
    finish(process)
    assert not (tmp_path / "out").exists()


def test_kept_tasks_give_their_files_again(tmp_path, lst):
    for name in ("one", "two"):
        ended = run(SHARDS, "-r", "inline", "--checkpoint", tmp_path / "kept", "--output-dir", tmp_path / name, lst)
        assert ended.code == 0, ended.err
        assert published(tmp_path / name) == WANTED


def test_job_that_writes_files_needs_an_output_folder(lst, shards):
    ended = run_here(shards, "-r", "inline", lst)
    assert ended.code == 1
    assert ended.err.endswith("writes files: it needs --output-dir\n")


class Twice(CrawlJob):
    """Writes a file of one name in each task."""

    types = ("response",)
    writes_files = True

    def process(self, record):
        with self.write_file("same.txt"):
            pass
        return ()


def test_two_tasks_that_write_files_of_one_name_are_an_error(tmp_path, lst):
    one = crawl_of_one(tmp_path, lst)
    ended = run_here(Twice, "-r", "inline", "--output-dir", tmp_path / "out", one)
    assert ended.code == 1
    assert "two tasks have written the file same.txt: nothing is published\n" in ended.err
    assert not (tmp_path / "out").exists()


def crawl_of_one(tmp_path: Path, lst: Path) -> Path:
    """The list's files, with a page each."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(builders.pack([builders.warcinfo(), builders.response("http://e.org/")]))
    return lst


def test_task_that_writes_a_file_twice_fails(tmp_path, lst):
    with pytest.raises(ValueError, match="twice"):
        run_here(Twice, "-r", "inline", "--output-dir", tmp_path / "out", lst)
    assert not (tmp_path / "out").exists()


class Part(CrawlJob):
    """Writes a file that is called as a part is, and one that only the end makes."""

    types = ("response",)
    writes_files = True
    name_of_file = "part-00000"

    def process(self, record):
        with self.write_file(self.name_of_file):
            yield record.uri, 1


def test_file_that_is_called_as_a_part_is_an_error(tmp_path, crawl):
    ended = run_here(Part, "-r", "inline", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a", URLS[0])))
    assert ended.code == 1
    assert "has written a file named part-00000" in ended.err
    assert not (tmp_path / "out").exists()


def test_pairs_are_published_beside_files(tmp_path, crawl):
    class Beside(Part):
        """Beside."""

        name_of_file = "a/part-00000"

    ended = run_here(Beside, "-r", "inline", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a", URLS[0])))
    assert ended.code == 0, ended.err
    assert published(tmp_path / "out") == {"part-00000": '"http://e.org/1"\t1\n', "a/part-00000": ""}


def test_job_that_does_not_say_that_it_writes_files_must_not(tmp_path, crawl):
    class Silent(Part):
        """Silent."""

        writes_files = False

    with pytest.raises(TypeError, match="writes_files = True"):
        run_here(Silent, "-r", "inline", "--output-dir", tmp_path / "out", crawl.list(crawl.warc("a", URLS[0])))


@pytest.mark.parametrize(
    "name", ["", "/a", "a/", "a//b", "../a", "_SUCCESS", "a/_b", ".a", "ä", "a b", "a~b", "a" * 201, "a\n"]
)
def test_names_that_some_storage_would_take_for_something_else_are_refused(name):
    with pytest.raises(ValueError, match="not a name"):
        check_name(name)


def test_names_with_folders_come_back_as_they_were(tmp_path):
    files = FolderFiles(tmp_path)
    for name in ("crawl=CC-MAIN-2024-22/subset=warc/part-00000.parquet", "a"):
        check_name(name)
        with files.write(name) as file:
            file.write(name.encode())
    assert {file.name: Path(file.place).read_text() for file in files_in_folder(tmp_path)} == {
        name: name for name in ("crawl=CC-MAIN-2024-22/subset=warc/part-00000.parquet", "a")
    }


def streamed(job, monkeypatch, kind: str, lines: list[bytes], folder: Path | str, *, task: int = 0, attempt: int = 0):
    """Run a task as Hadoop's streaming does."""
    letter = kind[0]
    for name, value in {
        "mapreduce_task_partition": str(task),
        "mapreduce_task_ismap": str(letter == "m").lower(),
        "mapreduce_task_attempt_id": f"attempt_1_0001_{letter}_{task:06}_{attempt}",
    }.items():
        monkeypatch.setenv(name, value)
    made = job([f"--{kind}", "--step-num=0", TaskSettings(StorageOptions(), str(folder)).argument()])
    made.sandbox(stdin=iter(lines), stdout=io.BytesIO(), stderr=io.BytesIO())
    made.execute()
    return sorted(made.stdout.getvalue().splitlines(keepends=True))


@pytest.fixture
def task_line(crawl):
    path = str(crawl.warc("a", *URLS))
    return encode_task([(0, Input(path, path))]) + b"\n"


def test_streaming_puts_files_where_hadoop_commits_them(tmp_path, monkeypatch, shards, task_line):
    monkeypatch.setenv("mapreduce_task_output_dir", str(tmp_path / "out"))
    mapped = streamed(shards, monkeypatch, "mapper", [task_line], "committed")
    streamed(shards, monkeypatch, "reducer", mapped, "committed")
    storage = Storage()
    (tmp_path / "scratch").mkdir()
    rows, files = rows_apart(storage, committed_files(storage, str(tmp_path / "out")), tmp_path / "scratch")
    assert len(rows) == 1
    assert {file.name for file in files} == {"inputs/name=a", "cdx-00000", "cdx-00001", "cdx-00002"}
    assert all(path.name.startswith("_") for path in (tmp_path / "out").iterdir()), "the next step would read it"


def test_without_renames_the_files_of_the_last_attempt_to_end_count(tmp_path, monkeypatch, shards, task_line):
    """One attempt before it ended too, one was killed in the midst, after some files: neither is mixed in."""
    folder = tmp_path / "left"
    mapped = streamed(shards, monkeypatch, "mapper", [task_line], folder)
    whole = streamed(shards, monkeypatch, "reducer", mapped, folder)
    fewer = [line for line in mapped if not line.startswith(b"1\t")]
    assert streamed(shards, monkeypatch, "reducer", fewer, folder, attempt=1) != whole
    with monkeypatch.context() as patch:
        patch.setattr(shards, "do_raise", lambda _: sys.exit(1), raising=True)
        with pytest.raises(SystemExit):
            streamed(shards, patch, "reducer", [b'1\t"http://raise/"\n'], folder, attempt=2000)
    found = {file.name: str(file.place) for file in listed_files(Storage(), str(folder)) if file.name != "_rows"}
    assert set(found) == {"inputs/name=a", "cdx-00000", "cdx-00002"}
    assert "attempt_1_0001_r_000000_1/" in found["cdx-00000"]


def test_without_renames_an_attempt_without_files_takes_back_those_of_one_before(tmp_path, monkeypatch, shards):
    folder = tmp_path / "left"
    streamed(shards, monkeypatch, "reducer", [b'1\t"http://e.org/333"\n'], folder)
    assert [file.name for file in listed_files(Storage(), str(folder))] == ["cdx-00001"]
    streamed(shards, monkeypatch, "reducer", [], folder, attempt=1)
    assert listed_files(Storage(), str(folder)) == []
    assert listed_files(Storage(), str(tmp_path / "gone")) == []


def test_task_that_nobody_launched_has_no_place_for_files(shards, monkeypatch):
    made = shards(["--reducer", "--step-num=0"])
    made.sandbox(stdin=iter([b'1\t"http://e.org/"\n']), stdout=io.BytesIO(), stderr=io.BytesIO())
    with pytest.raises(UsageError, match="not launched"):
        made.execute()


def test_list_of_files_that_is_none_is_reported(tmp_path):
    (tmp_path / "left" / "t").mkdir(parents=True)
    (tmp_path / "left" / "t" / "_files").write_text("{")
    with pytest.raises(Exception, match="not a list of a task's files"):
        listed_files(Storage(), str(tmp_path / "left"))
    with pytest.raises(SourceError):
        committed_files(Storage(), str(tmp_path / "gone"))
