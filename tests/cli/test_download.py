"""`crawlmill download` and `crawlmill plan`: whole files, under their keys, each accounted for."""

from __future__ import annotations

import json
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


def test_what_is_complete_is_not_fetched_again_and_a_part_is_gone_on_with(run, store, tmp_path, monkeypatch):
    target = tmp_path / "target"
    assert run("download", "--base-url", store, listed(tmp_path, *KEYS[:2]), target)[0] == 0
    first = target / KEYS[0]
    second = target / KEYS[1]
    before = first.stat().st_mtime_ns
    second.rename(second.with_name("1.warc.gz.part"))
    part = second.with_name("1.warc.gz.part")
    part.write_bytes(WARC[:-500])
    assert run("download", "--base-url", store, listed(tmp_path, *KEYS[:2]), target)[0] == 0
    assert first.stat().st_mtime_ns == before
    assert second.read_bytes() == WARC
    part.write_bytes(b"x" * 300)  # of another object
    second.unlink()
    assert run("download", "--base-url", store, listed(tmp_path, *KEYS[:2]), target)[0] == 0
    assert second.read_bytes() == WARC
    assert not part.exists()


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
    ],
)
def test_line_that_leads_out_of_the_folder_is_refused(line):
    with pytest.raises(UsageError, match="names no file below the folder"):
        place_of(Input(line, line))


@pytest.mark.parametrize(
    ("line", "location", "expected"),
    [("crawl-data/a", "https://e.org/crawl-data/a", "crawl-data/a"), ("s3://bucket/k/x", "s3://bucket/k/x", "k/x"),
     ("https://e.org/a%20b/c?sig=1", "https://e.org/a%20b/c?sig=1", "a b/c"), ("/data/x", "/data/x", "data/x"),
     ("file:///data/x", "file:///data/x", "data/x")],
)  # fmt: skip
def test_place_of_a_file_is_its_key(line, location, expected):
    assert str(place_of(Input(line, location))) == expected


def test_ranges_and_doubles_are_refused(tmp_path):
    with pytest.raises(UsageError, match="a range cannot be downloaded"):
        place_of(Input("x\t1\t2", "/x", 1, 2))
    with pytest.raises(UsageError, match="two lines would be the file"):
        plan_downloads(
            [Input("https://a.org/x", "https://a.org/x"), Input("https://b.org/x", "https://b.org/x")], tmp_path
        )


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("x", "x.part"), "two lines would be the file x.part: one while it is on its way"),
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
    assert b"missing    1 of 4 files looked at" in out
    assert "not-found" in err
