"""The job that builds the columnar index: its files against those of Common Crawl's own converter, by pyarrow."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.data import shared
from tests.mr.helpers import PROJECT, rows, run, run_here

from crawlmill.jobs.url_table import UrlTable

JOB = PROJECT / "jobs" / "url_table.py"


def line(number: int, **changes: object) -> str:
    fields = {
        "url": f"http://h{number % 7}.example.co.uk:8080/p/{number}?q",
        "status": "200",
        "length": "5",
        "offset": str(number),
        "filename": "crawl-data/CC-MAIN-2024-10/segments/1.2/warc/a.warc.gz",
        **changes,
    }
    stamp = fields.pop("stamp", "20240229235959")
    return f"uk,co,example,h{number % 7}:8080)/p/{number:05d} {stamp} {json.dumps(fields)}"


def table(folder: Path) -> list[dict]:
    """All rows, with the partition of each from its path; sorted within each part."""
    found = []
    for path in sorted(folder.glob("crawl=*/subset=*/part-*.parquet")):
        part = pq.ParquetFile(path).read().to_pylist()
        assert [row["url_surtkey"] for row in part] == sorted(row["url_surtkey"] for row in part)
        crawl, subset = (folder.partition("=")[2] for folder in path.parts[-3:-1])
        found += [{**row, "crawl": crawl, "subset": subset} for row in part]
    return found


def build(tmp_path: Path, name: str, lines: list[str], *options: object, code: int = 0) -> Path:
    source, out = tmp_path / f"{name}.cdxj", tmp_path / name
    source.write_text("".join(f"{each}\n" for each in lines))
    ended = run_here(UrlTable, "-r", "inline", source, "--output-dir", out, *options)
    assert ended.code == code, ended.err
    return out


def test_rows_are_those_of_common_crawls_converter(tmp_path):
    captures = shared("columnar/captures.cdxj").read_text().split("\n")[:-1]
    expected = [json.loads(each) for each in shared("columnar/expected.jsonl").read_text().split("\n")[:-1]]
    out = build(tmp_path, "table", captures, "--rows", 7, "--compression", "zstd")
    found = {}
    for row in table(out):
        row["fetch_time"] = round(row["fetch_time"].timestamp() * 1000)
        found.setdefault((row["url"], row["fetch_time"], row["warc_record_offset"]), []).append(row)
    for each in expected:
        row = found[each["row"]["url"], each["row"]["fetch_time"], each["row"]["warc_record_offset"]].pop()
        assert [name for name in row if row[name] != each["row"][name] and name not in each["open"]] == []
    assert not any(found.values())
    theirs = pq.ParquetFile(next(shared("columnar/oracle").rglob("*.parquet"))).schema
    for path in out.rglob("*.parquet"):
        file = pq.ParquetFile(path)
        assert [str(column) for column in file.schema] == [str(column) for column in theirs]
        counts = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert set(counts[:-1]) <= {7}
        assert counts[-1] <= 7
        assert file.metadata.metadata[b"public_suffix_list"].startswith(b"20")


def test_lines_that_cannot_be_rows_are_reported_with_their_numbers(tmp_path):
    bad = [
        line(1, stamp="20240230000000"),
        line(2, url=None),
        line(3, filename="-"),
        line(4, offset="2147483648"),
        line(5, length="x"),
        line(6, length=None),
        line(7)[:-4],
        "k) 20240101000000 [1]",
        line(8, url="http://\udcff/"),
    ]
    good = [line(10, offset="+007", status="99999", mime=None), line(11, status=404), line(12, url="nonsense")]
    out = build(tmp_path, "table", [line(9), *bad, *good], code=2)
    (row,) = rows(out / "_ledger.jsonl").values()
    assert (row["outcome"], row["records"], row["lost"]) == ("partial", 4, {"bad-header": len(bad)})
    numbers = sorted(int(re.match(r"line (\d+) ", problem["message"])[1]) for problem in row["problems"])
    assert numbers == list(range(2, 2 + len(bad)))
    assert [(each["warc_record_offset"], each["fetch_status"]) for each in table(out)] == [
        (9, 200),
        (7, -1),
        (11, 404),
        (12, 200),
    ]


def test_parts_are_cut_by_ranges_of_keys_and_are_the_same_from_every_runner(tmp_path):
    lines = [line(n * 7919 % 600) for n in range(600)]
    (tmp_path / "a.cdxj").write_text("\n".join(lines[:150]))
    members = (
        gzip.compress("".join(f"{each}\n" for each in lines[at : at + 50]).encode()) for at in range(150, 600, 50)
    )
    (tmp_path / "b.cdxj.gz").write_bytes(b"".join(members))
    found = []
    for runner, order in (("inline", "ab"), ("local", "ba")):
        out = tmp_path / runner
        names = [tmp_path / {"a": "a.cdxj", "b": "b.cdxj.gz"}[each] for each in order]
        ended = run(JOB, "-r", runner, *names, "--output-dir", out, "--parts", 3, "--rows", 100)
        assert ended.code == 0, ended.err
        found.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*.parquet")})
    assert found[0] == found[1]
    parts = [pq.ParquetFile(out / name).read()["url_surtkey"].to_pylist() for name in sorted(found[0])]
    assert len(parts) == 3
    keys = list(chain.from_iterable(parts))
    assert keys == sorted(keys)
    assert Counter(keys) == Counter(each.split(" ")[0] for each in lines)
    assert max(map(len, parts)) < 1.5 * 200


def test_files_of_ones_own_and_record_ids(tmp_path):
    lines = [
        line(1, filename="my.warc.gz", recordid="0190a5e4-0000-7000-8000-0000000000ff"),
        line(2, filename="my.warc.gz"),
    ]
    out = build(tmp_path, "own", lines, "--record-ids", "--crawl", "MINE", "--subset", "robotstxt")
    assert [path.relative_to(out).as_posix() for path in out.rglob("*.parquet")] == [
        "crawl=MINE/subset=robotstxt/part-00000.c000.gz.parquet"
    ]
    first, second = table(out)
    assert first["warc_record_id"] == bytes.fromhex("0190a5e40000700080000000000000ff")
    assert (second["warc_record_id"], second["warc_segment"]) == (None, "")


def test_a_task_without_pyarrow_says_so_in_one_line(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("crawlmill.indexes.columnar.")]:
        if name.rpartition(".")[2] in ("writer", "rows"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = tmp_path / "x.cdxj"
    source.write_text(line(1) + "\n")
    ended = run_here(UrlTable, "-r", "inline", source, "--output-dir", tmp_path / "o")
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert ended.err.splitlines()[-1] == "url_table needs the package pyarrow: pip install 'crawlmill[columnar]'"


@pytest.mark.parametrize("options", [("--rows", "0"), ("--compression", "lzo"), ("--crawl", "a/b"), ("--parts", "x")])
def test_bad_options_end_before_anything_runs(tmp_path, options):
    source = tmp_path / "x.cdxj"
    source.write_text(line(1) + "\n")
    ended = run_here(UrlTable, "-r", "inline", source, "--output-dir", tmp_path / "o", *options)
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_an_archive_whose_records_the_core_takes_becomes_rows(tmp_path):
    out = tmp_path / "o"
    (tmp_path / "x.paths").write_text(f"{shared('commoncrawl/whirlwind.warc.gz')}\n")
    assert run(JOB, "-r", "inline", tmp_path / "x.paths", "--output-dir", out).code == 0
    (row,) = table(out)
    assert (row["fetch_status"], row["warc_record_offset"], row["warc_record_length"]) == (200, 1023, 17351)
