"""`crawlmill download` and `crawlmill plan`: whole files, under their keys, each accounted for."""

from __future__ import annotations

import json
import os
import re

import pytest
from tests.builders import pack, pages

from crawlmill.errors import UsageError
from crawlmill.inputs.download import place_of, plan_downloads
from crawlmill.inputs.lists import Input

WARC = pack(pages(3))


@pytest.fixture
def store(tmp_path):
    """A mirror with three files, and a list that names them and one that is not there."""
    folder = tmp_path / "store"
    for n in range(3):
        path = folder / f"crawl-data/X/{n}.warc.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(WARC[n:] if n == 2 else WARC)
    return folder


def listed(tmp_path, *lines):
    path = tmp_path / "x.paths"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


KEYS = [f"crawl-data/X/{n}.warc.gz" for n in range(4)]


def rows(folder):
    return {row["input"]: row for row in map(json.loads, (folder / "_ledger.jsonl").read_text().splitlines())}


def test_files_lie_under_their_keys_and_the_ledger_names_what_is_missing(run, store, tmp_path):
    target = tmp_path / "target"
    code, _, err = run("download", "--base-url", store, listed(tmp_path, *KEYS), target)
    assert code == 2
    assert "4 inputs: 3 ok, 1 failed" in err
    assert [(target / key).read_bytes() for key in KEYS[:3]] == [WARC, WARC, WARC[2:]]
    assert rows(target)[KEYS[3]]["lost"] == {"not-found": 1}
    assert not list(target.rglob("*.part"))


def test_check_reads_every_record(run, store, tmp_path):
    target = tmp_path / "target"
    assert run("download", "--check", "--base-url", store, listed(tmp_path, *KEYS[:3]), target)[0] == 2
    found = rows(target)
    assert (found[KEYS[0]]["outcome"], found[KEYS[0]]["records"], found[KEYS[0]]["format"]) == ("ok", 10, "warc")
    assert found[KEYS[2]]["outcome"] == "partial"


def test_what_is_complete_is_not_fetched_again(run, store, tmp_path):
    target = tmp_path / "target"
    assert run("download", "--base-url", store, listed(tmp_path, *KEYS[:2]), target)[0] == 0
    first = target / KEYS[0]
    second = target / KEYS[1]
    before = first.stat().st_mtime_ns
    second.write_bytes(WARC[:-500])
    assert run("download", "--base-url", store, listed(tmp_path, *KEYS[:2]), target)[0] == 0
    assert first.stat().st_mtime_ns == before
    assert second.read_bytes() == WARC
    assert sorted(path.name for path in first.parent.iterdir()) == ["0.warc.gz", "1.warc.gz"]


@pytest.mark.parametrize(
    "line",
    [
        "../x",
        "a/../../x",
        "https://e.org/a/../../x",
        "https://e.org/",
        "a/",
        "https://e.org/%2e%2e/x",
        "a\\..\\x",
        "https://e.org/a%00b",
        "s3://bucket",
        "s3://bucket/a/../../x",
        ".",
        "./.",
        "a/.",
        "https://e.org/.",
        "https://e.org/%2e",
        "https://e.org/a/%2e",
        "https://e.org?x/y",
    ],
)
def test_line_that_leads_out_of_the_folder_is_refused(line):
    with pytest.raises(UsageError, match="names no file below the folder"):
        place_of(Input(line, line))


@pytest.mark.parametrize(
    ("line", "location", "expected"),
    [
        ("crawl-data/a", "https://e.org/crawl-data/a", "crawl-data/a"),
        ("s3://bucket/k/x", "s3://bucket/k/x", "k/x"),
        ("s3://b/a%20b?c#d", "s3://b/a%20b?c#d", "a%20b?c#d"),
        ("hdfs://nn:8020/x%", "hdfs://nn:8020/x%", "x%"),
        ("https://e.org/%e9", "https://e.org/%e9", "\udce9"),
        ("hdfs:///x/y", "hdfs:///x/y", "x/y"),
        ("https://e.org/a%20b/c?sig=1", "https://e.org/a%20b/c?sig=1", "a b/c"),
        ("/data/x", "/data/x", "data/x"),
        ("a?sig=1", "https://e.org/a?sig=1", "a"),
        ("a?b", "s3://bucket/a?b", "a?b"),
        ("a?b", "/lists/a?b", "a?b"),
        ("file:///data/x", "file:///data/x", "data/x"),
        ("http://[::1/x", "http://[::1/x", "x"),
        ("a:b/x", "/lists/a:b/x", "a:b/x"),
        ('{"filename": "crawl-data/a"}', "https://e.org/crawl-data/a", "crawl-data/a"),
        ('{"filename": "s3:\\/\\/bucket\\/k"}', "s3://bucket/k", "k"),
        (
            'org,e)/ 20260101000000 {"filename": "crawl-data/a", "url": "x"}',
            "https://e.org/crawl-data/a",
            "crawl-data/a",
        ),
    ],
)
def test_place_of_a_file_is_its_key(line, location, expected):
    assert str(place_of(Input(line, location))) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ["crawl-data/a\t1\t2"],
        ['{"filename": "crawl-data/a", "offset": "1", "length": "2"}'],
        ['org,e)/ 20260101000000 {"filename": "crawl-data/a", "offset": 1, "length": 2}'],
        ["warc_filename,warc_record_offset,warc_record_length", "crawl-data/a,1,2"],
    ],
)
def test_range_is_refused_however_it_is_written(run, tmp_path, lines):
    code, out, err = run("download", listed(tmp_path, *lines), tmp_path / "target")
    assert (code, out) == (1, b"")
    assert err.startswith("crawlmill: a range cannot be downloaded, only a whole file: got ")
    assert len(err.splitlines()) == 1


def test_message_about_a_line_hides_its_secrets():
    line = '{"filename": "https://user:pass@e.org/?token=secret"}'
    with pytest.raises(UsageError) as caught:
        place_of(Input(line, "https://user:pass@e.org/?token=secret"))
    assert "pass" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_file_that_a_json_line_names_lies_under_its_key(run, store, tmp_path):
    target = tmp_path / "target"
    line = json.dumps({"filename": KEYS[0]})
    assert run("download", "--base-url", store, listed(tmp_path, line), target)[0] == 0
    assert sorted(path.name for path in target.rglob("*") if path.is_file()) == ["0.warc.gz", "_ledger.jsonl"]
    assert (target / KEYS[0]).read_bytes() == WARC
    assert rows(target)[line]["outcome"] == "ok"


def test_name_that_is_no_utf8_is_downloaded_and_accounted_for(run, tmp_path):
    name = os.fsdecode(b"caf\xe9.warc.gz")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / name).write_bytes(WARC)
    (tmp_path / "x.paths").write_bytes(os.fsencode(name))
    target = tmp_path / "target"
    assert run("download", "--base-url", tmp_path / "store", tmp_path / "x.paths", target)[0] == 0
    assert (target / name).read_bytes() == WARC
    assert rows(target)[name]["outcome"] == "ok"


def test_location_on_another_host_is_one_line():
    with pytest.raises(UsageError, match="names another host"):
        place_of(Input("file://other/x", "file://other/x"))


def test_doubles_are_refused(tmp_path):
    with pytest.raises(UsageError, match="two lines would be the file"):
        plan_downloads(
            [Input("https://a.org/x", "https://a.org/x"), Input("https://b.org/x", "https://b.org/x")], tmp_path
        )
    with pytest.raises(UsageError, match="two lines would be the file"):
        plan_downloads([Input("x", "https://a.org/x"), Input('{"filename": "x"}', "https://b.org/x")], tmp_path)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("x", "x.part"), "two lines would be the file x.part: one while it is on its way"),
        (("x", "x.part.json"), "two lines would be the file x.part.json: one while it is on its way"),
        (("a/b", "a"), "one line would be the file a, another one a folder of that name"),
        (("a", "a/b/c"), "one line would be the file a, another one a folder of that name"),
    ],
)
def test_lines_that_would_disturb_each_other_are_refused(tmp_path, names, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        plan_downloads([Input(name, f"https://a.org/{name}") for name in names], tmp_path)


def test_folder_that_cannot_be_made_is_one_line(run, store, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("download", "--base-url", store, listed(tmp_path, KEYS[0]), tmp_path / "file" / "below")
    assert (code, out) == (1, b"")
    assert len(err.splitlines()) == 1


def test_plan_tells_inputs_bytes_and_time(run, store, tmp_path):
    code, out, _ = run(
        "plan", "--base-url", store, "--bandwidth", 1, listed(tmp_path, *KEYS[:3], f"{KEYS[0]}\t0\t100", KEYS[0])
    )
    assert code == 0
    found = dict(line.split(None, 1) for line in out.decode().splitlines())
    total = 3 * len(WARC) - 2 + 100
    assert found["inputs"] == "4: 3 files, 1 ranges"
    assert found["bytes"] == f"{total / 1000:,.1f} kB"
    assert found["repeated"] == "1 lines, left out"


def test_plan_names_what_is_missing(run, store, tmp_path):
    code, out, err = run("plan", "--base-url", store, listed(tmp_path, *KEYS))
    assert code == 2
    assert b"missing    1 of 4 files checked" in out
    assert "not-found" in err
