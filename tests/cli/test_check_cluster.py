"""`crawlmill check` of indexes: order, ends of members, cluster.idx against the shards."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.indexes.captures import make_cluster, make_lines, text
from tests.indexes.test_damage import edit_row, flip

from crawlmill.indexes.lines import Order

LINES = make_lines(600, seed=4)


def rows(folder):
    return (folder / "cluster.idx").read_text().splitlines(keepends=True)


def swap_lines(folder):
    swapped = list(LINES)
    swapped[55], swapped[405] = swapped[405], swapped[55]
    make_cluster(folder, swapped, per=50)


def swap_rows(folder):
    found = rows(folder)
    found[2], found[3] = found[3], found[2]
    (folder / "cluster.idx").write_text("".join(found))


def lose_row(folder):
    (folder / "cluster.idx").write_text("".join(rows(folder)[:2] + rows(folder)[3:]))


def lose_last_row(folder):
    (folder / "cluster.idx").write_text("".join(rows(folder)[:-1]))


def put_bad_line(folder):
    data = (folder / "cdx-00002.gz").read_bytes()
    last = int(rows(folder)[-1].split("\t")[2])
    packed = gzip.compress(gzip.decompress(data[last:]) + b"zz,a)/ yesterday {}\n")
    (folder / "cdx-00002.gz").write_bytes(data[:last] + packed)
    edit_row(folder, len(rows(folder)) - 1, 3, str(len(packed)))


DAMAGE = {
    "lines out of order": (swap_lines, {"bad-header"}),
    "rows out of order": (swap_rows, {"bad-header", "bad-length"}),
    "a row less": (lose_row, {"bad-length", "bad-header"}),
    "the last row less": (lose_last_row, {"trailing-bytes"}),
    "a wrong number": (lambda folder: edit_row(folder, 3, 4, "7"), {"bad-header"}),
    "a wrong key": (lambda folder: edit_row(folder, 3, 0, lambda old: "com,a)/ " + old.split(" ")[1]), {"bad-header"}),
    "a wrong offset": (
        lambda folder: edit_row(folder, 2, 2, lambda old: str(int(old) + 3)),
        {"bad-length", "bad-compression"},
    ),
    "a wrong length": (lambda folder: edit_row(folder, 2, 3, lambda old: str(int(old) + 3)), {"bad-length"}),
    "a flipped bit": (lambda folder: flip(folder, "cdx-00001.gz", 700), None),
    "a shard less": (lambda folder: (folder / "cdx-00002.gz").unlink(), {"not-found"}),
    "a shard cut": (
        lambda folder: (folder / "cdx-00002.gz").write_bytes((folder / "cdx-00002.gz").read_bytes()[:-9]),
        {"truncated"},
    ),
    "a malformed line": (put_bad_line, {"bad-header"}),
}


def check(run, folder):
    code, out, _ = run("check", "--json", folder)
    (row,) = map(json.loads, out.splitlines())
    assert row["format"] == "cluster"
    return code, row


@pytest.mark.parametrize("columns", [4, 5])
def test_a_sound_cluster_is_ok(run, tmp_path, columns):
    make_cluster(tmp_path / "c", LINES, per=50, columns=columns, loc=columns == 5)
    for name in (tmp_path / "c", tmp_path / "c/cluster.idx"):
        code, row = check(run, name)
        assert (code, row["outcome"], row["records"]) == (0, "ok", 600)
        assert row["bytes"] == sum(path.stat().st_size for path in (tmp_path / "c").glob("cdx-*"))


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found(run, tmp_path, kind):
    change, reasons = DAMAGE[kind]
    make_cluster(tmp_path / "c", LINES, per=50)
    change(tmp_path / "c")
    code, row = check(run, tmp_path / "c")
    assert (code, row["outcome"]) == (2, "partial")
    assert set(row["lost"]) == reasons or (reasons is None and set(row["lost"]) <= {"bad-checksum", "bad-compression"})


def test_a_cluster_that_is_not_there_has_failed(run, tmp_path):
    (tmp_path / "c").mkdir()
    code, row = check(run, tmp_path / "c")
    assert (code, row["outcome"], row["lost"]) == (2, "failed", {"not-found": 1})


def test_a_cluster_without_lines_is_told_by_nothing(run, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c/cluster.idx").write_bytes(text([]))
    assert check(run, tmp_path / "c")[0] == 0


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_in_order_is_whole(run, tmp_path, pack):
    (tmp_path / "x.cdxj").write_bytes(pack(b"!meta {}\n" + text(LINES)))
    code, out, _ = run("check", tmp_path / "x.cdxj")
    assert (code, out.split()[0], out.split()[2]) == (0, b"ok", b"600")


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("at", [1, 300, 599])
def test_order_of_a_file_is_proven(run, tmp_path, pack, at):
    swapped = list(LINES)
    swapped[at - 1], swapped[at] = swapped[at], swapped[at - 1]
    (tmp_path / "x.cdxj").write_bytes(pack(text(swapped)))
    code, out, _ = run("check", "--json", tmp_path / "x.cdxj")
    row = json.loads(out)
    assert (code, row["outcome"], row["records"], row["lost"]) == (2, "partial", 600, {"bad-header": 1})
    assert "not in the order" in row["problems"][0]["message"]
    assert row["format"] == "cdxj"


def test_order_is_followed_from_chunk_to_chunk():
    order = Order()
    assert [order.take(text(LINES[at : at + 100])) for at in range(0, 600, 100)] == [None] * 6
    assert order.take(text(LINES[:1])) == (LINES[0].encode(), LINES[-1].encode())
    assert order.take(text(LINES[:2])) is None


def test_what_is_no_capture_is_told_beside_the_order(run, tmp_path):
    (tmp_path / "x.cdx").write_bytes(
        b" CDX N b a m s k r V g\ncom,b)/ 20240101000000 http://b.com/ - - - - 1 x\nnonsense\n"
        b"com,a)/ 20240101000000 http://a.com/ - - - - 1 x\n"
    )
    code, out, _ = run("check", "--json", tmp_path / "x.cdx")
    assert (code, json.loads(out)["lost"], json.loads(out)["records"]) == (2, {"bad-header": 2}, 2)
