"""Input lists: resolution of relative lines, each input once, lists from anywhere."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from crawlmill.errors import UsageError
from crawlmill.inputs.lists import Input, Inputs, read_lists
from crawlmill.storage import Storage

KEY = "crawl-data/CC-X/k.warc.gz"


def read(*paths: object, stdin: bytes | None = None, **options: Any) -> Inputs:
    lists = [str(path) for path in paths]
    return read_lists(lists, Storage(), stdin=None if stdin is None else io.BytesIO(stdin), **options)


def locations(inputs: Inputs) -> list[str]:
    return [item.location for item in inputs]


@pytest.fixture
def crawl(tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "near.warc.gz").touch()
    return folder


def write(folder, name, *lines):
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / name


def test_absolute_lines_stand_as_they_are(crawl):
    lines = ["/data/x.warc.gz", "s3://commoncrawl/x", "https://e.org/x?y=1", "hdfs:///x", "file:///data/a%20b"]
    assert locations(read(write(crawl, "l", *lines))) == lines


def test_relative_lines_without_base_url_resolve_beside_their_list_but_keys_at_common_crawl(crawl):
    found = locations(read(write(crawl, "l", "near.warc.gz", "gone.warc.gz", KEY, "parse-output/segment/1/textData-0")))
    assert found == [
        f"{crawl}/near.warc.gz",
        f"{crawl}/gone.warc.gz",
        f"https://data.commoncrawl.org/{KEY}",
        "https://data.commoncrawl.org/parse-output/segment/1/textData-0",
    ]


@pytest.mark.parametrize(
    "key",
    [
        "crawl-data/",
        "cc-index/",
        "crawl-001/",
        "crawl-002/",
        "parse-output/",
        "common-crawl/",
        "projects/",
        "crawl-analysis/",
    ],
)
def test_key_of_common_crawl_resolves_at_the_default_base_of_the_runner(crawl, key):
    inputs = read(write(crawl, "l", f"{key}x"), default_base="s3://commoncrawl/")
    assert locations(inputs) == [f"s3://commoncrawl/{key}x"]


@pytest.mark.parametrize(
    ("default", "wanted"),
    [
        ("https://data.commoncrawl.org/", "https://eotarchive.s3.amazonaws.com/"),
        ("s3://commoncrawl/", "s3://eotarchive/"),
    ],
)
def test_key_of_the_end_of_term_archive_resolves_at_its_bucket(crawl, default, wanted):
    key = "crawl-data/EOT-2020/segments/IA-000/warc/x.warc.gz"
    assert locations(read(write(crawl, "l", key), default_base=default)) == [wanted + key]
    assert locations(read(write(crawl, "m", key), base_url="https://mirror/")) == [f"https://mirror/{key}"]


@pytest.mark.parametrize("base", ["https://e.org/store", "https://e.org/store/"])
def test_given_base_url_applies_to_relative_lines_that_do_not_lie_beside_the_list(crawl, base):
    found = locations(read(write(crawl, "l", "near.warc.gz", "gone.warc.gz", KEY, "/abs"), base_url=base))
    assert found == [
        f"{crawl}/near.warc.gz",
        "https://e.org/store/gone.warc.gz",
        f"https://e.org/store/{KEY}",
        "/abs",
    ]


def test_line_of_which_nobody_can_say_whether_it_lies_beside_the_list_does_not_end_the_run(crawl):
    lines = ["x" * 2000, "a\0b", "file://otherhost/x"]
    found = locations(read(write(crawl, "l", *lines), base_url="https://e.org/"))
    assert found == [f"https://e.org/{lines[0]}", f"{crawl}/a\0b", "file://otherhost/x"]


def test_base_url_may_be_a_file_uri_or_a_folder_relative_to_the_working_folder(crawl, monkeypatch):
    monkeypatch.chdir(crawl.parent)
    lst = write(crawl, "l", KEY)
    assert locations(read(lst, base_url=f"{crawl.parent.as_uri()}/store/")) == [f"{crawl.parent.as_uri()}/store/{KEY}"]
    assert locations(read(lst, base_url="store")) == [f"{crawl.parent}/store/{KEY}"]


def test_lines_of_stdin_resolve_against_the_working_folder(crawl, monkeypatch):
    monkeypatch.chdir(crawl)
    assert locations(read("-", stdin=b"near.warc.gz\n")) == [f"{Path.cwd()}/near.warc.gz"]


def test_lines_of_a_pipe_with_a_name_resolve_against_the_working_folder(crawl, monkeypatch):
    monkeypatch.chdir(crawl)
    fifo = crawl.parent / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor() as pool:
        pool.submit(fifo.write_text, "near.warc.gz\n")
        assert locations(read(fifo)) == [f"{Path.cwd()}/near.warc.gz"]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no /dev/shm")
def test_lines_of_a_list_in_shared_memory_resolve_beside_it():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert locations(read(write(Path(folder), "l", "near.warc.gz"))) == [f"{folder}/near.warc.gz"]


def test_list_named_relative_to_the_working_folder_resolves_beside_itself(crawl, monkeypatch):
    write(crawl, "l", "near.warc.gz")
    monkeypatch.chdir(crawl.parent)
    assert locations(read("lists/l")) == [f"{crawl}/near.warc.gz"]


def test_inputs_named_twice_in_any_spelling_are_one_and_the_first_spelling_stands(crawl):
    near = crawl / "near.warc.gz"
    first = write(crawl, "l", "near.warc.gz", near, near.as_uri(), "../lists/near.warc.gz", f"{near}\t0\t5")
    second = crawl / "m.gz"
    second.write_bytes(gzip.compress(f'{near.as_uri()}\t0\t5\n{near}\t0\t6\n{{"filename":"{near}"}}\n'.encode()))
    inputs = read(first, second)
    assert [item.given for item in inputs] == ["near.warc.gz", f"{near}\t0\t5", f"{near}\t0\t6"]
    assert inputs.repeated == 5


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ((), "no input list given"),
        (("nowhere.paths",), "nowhere.paths"),
        (("empty.paths",), "empty"),
        ((".",), "cannot read the input list"),
    ],
)
def test_lists_that_name_nothing_are_usage_errors(tmp_path, monkeypatch, paths, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.paths").write_text("# nothing\n")
    with pytest.raises(UsageError, match=message):
        read(*paths)


def test_empty_list_beside_a_full_one_is_fine(crawl):
    assert len(read(write(crawl, "a"), write(crawl, "b", "x"))) == 1


def test_order_of_the_ledger_is_by_code_points_of_the_line(crawl):
    lines = ["b", "a", "Z", "é", "\U0001f600", "\uffff", "a b"]
    inputs = read(write(crawl, "l", *lines))
    assert [item.given for item in inputs.ledger_order()] == ["Z", "a", "a b", "b", "é", "\uffff", "\U0001f600"]


SIGNED = "https://user:pass@e.org/x.warc.gz?X-Amz-Signature=abc&v=1"
HIDDEN = "https://…@e.org/x.warc.gz?X-Amz-Signature=…&v=1"


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (Input(SIGNED, SIGNED), HIDDEN),
        (Input(f"{SIGNED}\t5\t6", SIGNED, 5, 6), f"{HIDDEN}\t5\t6"),
        (Input(f'{{"filename": "{SIGNED}"}}', SIGNED), f'{{"filename": "{HIDDEN}"}}'),
        (
            Input('{"filename": "https:\\/\\/user:pass@e.org/x"}', "https://user:pass@e.org/x", 1, 2),
            "https://…@e.org/x\t1\t2",
        ),
        (Input("x.warc.gz", SIGNED), "x.warc.gz"),
        (
            Input('org,e)/ 1 {"url": "http://e.org/?token=1", "filename": "/x"}', "/x", 1, 2),
            'org,e)/ 1 {"url": "http://e.org/?token=1", "filename": "/x"}',
        ),
        (Input("a?sig=s", "https://h/a?sig=s"), "https://h/a?sig=…"),
        (Input("a.gz", "https://u:p@h/a.gz"), "a.gz"),
        (Input('{"filename": "a?sig=s"}', "https://h/a?sig=s"), "https://h/a?sig=…"),
        (Input(r'{"filename": "https:\u002f\u002fu:p@h/x"}', "https://u:p@h/x", 1, 2), "https://…@h/x\t1\t2"),
    ],
)
def test_line_is_shown_without_secrets_of_its_location(item, shown):
    assert item.shown == shown


def test_hundred_thousand_ranges_take_less_than_half_a_kilobyte_each(crawl):
    lst = write(
        crawl, "l", *(f"crawl-data/CC-MAIN-2026-05/{n % 90:05}.warc.gz\t{n * 1000}\t999" for n in range(100_000))
    )
    tracemalloc.start()
    inputs = read(lst)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(inputs) == 100_000
    assert held < 100_000 * 400
    assert peak < 100_000 * 700


@pytest.fixture
def mirror(tmp_path):
    """A folder that holds a crawl as Common Crawl's bucket does, with KEY in it; the folder of its lists."""
    file = tmp_path / "mirror" / KEY
    file.parent.mkdir(parents=True)
    file.touch()
    return file.parent


GONE = "crawl-data/CC-X/gone.warc.gz"


def test_keys_of_a_list_below_a_local_folder_of_keys_resolve_there_where_they_exist(mirror):
    root = mirror.parent.parent
    other = root / "cc-index" / "part-0.gz"
    other.parent.mkdir()
    other.touch()
    lst = write(mirror, "l", KEY, GONE, "cc-index/part-0.gz", f"{KEY}\t5\t7", "crawl-data/CC-X")
    common = "https://data.commoncrawl.org"
    here = f"{root}/{KEY}"
    wanted = [here, f"{common}/{GONE}", str(other), here, f"{common}/crawl-data/CC-X"]
    assert locations(read(lst)) == wanted
    assert locations(read(lst.as_uri())) == wanted
    assert locations(read(write(root / "cc-index", "l", KEY))) == [here]


@pytest.mark.parametrize("name", ["l", "../CC-X/l", "./l"])
def test_keys_of_a_list_named_from_within_the_folder_resolve_there(mirror, monkeypatch, name):
    write(mirror, "l", KEY)
    monkeypatch.chdir(mirror)
    assert locations(read(name)) == [f"{mirror.parent.parent}/{KEY}"]
    assert locations(read("-", stdin=f"{KEY}\n".encode())) == [f"{mirror.parent.parent}/{KEY}"]


def test_keys_of_a_list_below_a_link_into_such_a_folder_resolve_there(mirror, tmp_path):
    write(mirror, "l", KEY)
    (tmp_path / "lists").symlink_to(mirror)
    assert locations(read(tmp_path / "lists" / "l")) == [f"{mirror.parent.parent}/{KEY}"]


def test_innermost_folder_of_keys_that_has_the_key_counts(tmp_path):
    outer, inner = tmp_path / "projects", tmp_path / "projects" / "crawl-data"
    for path in (tmp_path / KEY, outer / KEY, tmp_path / GONE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert locations(read(write(inner, "l", KEY, GONE))) == [f"{outer}/{KEY}", f"{tmp_path}/{GONE}"]


def test_given_base_url_wins_over_the_folder_that_the_list_lies_in(mirror):
    assert locations(read(write(mirror, "l", KEY), base_url="https://e.org/")) == [f"https://e.org/{KEY}"]


def test_keys_are_not_taken_from_this_machine_for_engines_that_cannot_read_it(mirror):
    found = read(write(mirror, "l", KEY), default_base="s3://commoncrawl/", local_keys=False)
    assert locations(found) == [f"s3://commoncrawl/{KEY}"]


def test_keys_that_exist_beside_the_list_and_resolve_elsewhere_are_remembered(mirror):
    root = mirror.parent.parent
    found = read(write(root, "l", KEY, GONE))
    assert locations(found) == [f"https://data.commoncrawl.org/{key}" for key in (KEY, GONE)]
    assert found.beside == {f"https://data.commoncrawl.org/{KEY}": str(root)}
