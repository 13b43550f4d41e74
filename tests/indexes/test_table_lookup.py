"""Tables of Parquet files as indexes: against a scan of what was written to them, by pyarrow."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data import shared

from crawlmill.indexes.columnar.lookup import TableIndex
from crawlmill.indexes.columnar.table import TablePart
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import Query
from crawlmill.inputs.index_files import StoredFile
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.storage import Storage
from crawlmill.urls.patterns import parse_pattern

HOSTS = ("exampl", "example", "example2", "example-x", "example,www2", "example,a,b", "examplf", "example!")
KEYS = [f"com,{host}{port})/{path}" for host in HOSTS for port in ("", ":8080") for path in ("", "a", "a!b", "ab")]


def rows():
    dice = random.Random(1)
    return [
        {
            "url_surtkey": key,
            "url": f"http://x/{n}",
            "fetch_status": dice.choice([200, 404, -1]),
            "warc_filename": "f.gz",
            "fetch_time": dt.datetime(2020 + n % 4, 1, 1 + n % 20, tzinfo=dt.UTC),
            "warc_record_offset": n,
            "warc_record_length": 7,
            "content_mime_type": "text/html" if n % 3 else None,
        }
        for n, key in enumerate(sorted(KEYS * 3))
    ]


def line(row):
    fields = {
        "url": row["url"],
        "mime": row["content_mime_type"],
        "status": str(row["fetch_status"]),
        "length": "7",
        "offset": str(row["warc_record_offset"]),
        "filename": "f.gz",
    }
    if row["fetch_status"] == -1:
        del fields["status"]
    text = json.dumps({name: value for name, value in fields.items() if value is not None})
    return f"{row['url_surtkey']} {row['fetch_time']:%Y%m%d%H%M%S} {text}\n".encode()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three parts: two sorted as Common Crawl's are, each with keys of all hosts; one in no order."""
    folder = tmp_path_factory.mktemp("table")
    place = folder / "crawl=C" / "subset=warc"
    place.mkdir(parents=True)
    every = rows()
    shuffled = random.Random(2).sample(every[2::3], len(every[2::3]))
    for n, some in enumerate((every[::3], every[1::3], shuffled)):
        schema = pa.Table.from_pylist(some).schema.set(4, pa.field("fetch_time", pa.timestamp("ms", "UTC")))
        pq.write_table(pa.Table.from_pylist(some, schema), place / f"part-{n}.parquet", row_group_size=5)
    return folder


def found(table, *queries, **more):
    problems = []
    indexes = open_indexes(find_indexes([str(table)], Storage()), Storage(), problems.append)
    lines = [
        each
        for _, chunks in look_up(indexes, [Query(query, **more) for query in queries], problems.append)
        for chunk in chunks
        for each in bytes(chunk).splitlines(keepends=True)
    ]
    assert problems == []
    return lines


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        (parse_pattern("example.com", "host"), r"com,example(:\d+)?\)"),
        (parse_pattern("*.example.com"), r"com,example(,|(:\d+)?\))"),
        (parse_pattern("example.com:8080", "host"), r"com,example:8080\)"),
        (parse_pattern("com,example", "prefix", is_key=True), "com,example"),
        (parse_pattern("http://example.com/a*"), r"com,example\)/a"),
        (parse_pattern("com,example)/a!b", is_key=True), r"com,example\)/a!b\Z"),
        (parse_pattern("http://example.com/none"), "nothing"),
    ],
)
def test_found_is_what_a_scan_finds(table, pattern, keys):
    assert found(table, pattern) == sorted(line(row) for row in rows() if re.match(keys, row["url_surtkey"]))


def test_several_queries_times_and_limits(table):
    host, exact = parse_pattern("example.com", "host"), parse_pattern("com,example)/a", is_key=True)
    wanted = [
        sorted(line(row) for row in rows() if re.match(keys, row["url_surtkey"]))
        for keys in (r"com,example(:\d+)?\)", r"com,example\)/a\Z")
    ]
    assert found(table, host, exact) == wanted[0] + wanted[1]
    assert found(table, host, start="2021", end="2022") == [
        each for each in wanted[0] if each.split()[1][:4] in (b"2021", b"2022")
    ]
    assert found(table, exact, limit=2) == wanted[1][:2]


def test_only_row_groups_that_may_hold_a_key_are_read(table):
    part = min(table.rglob("*.parquet"))
    index = TableIndex("t", [TablePart.of(str(part))], lambda place: StoredFile(place, Storage()), lambda _: None)
    meta = pq.ParquetFile(part).metadata
    key = rows()[0]["url_surtkey"]
    groups = [
        n
        for n in range(meta.num_row_groups)
        if meta.row_group(n).column(0).statistics.min <= key <= meta.row_group(n).column(0).statistics.max
    ]
    query = Query(parse_pattern(key, is_key=True))
    plan = index.plan([query])
    assert plan.blocks == len(groups) < meta.num_row_groups
    assert [bytes(chunk) for _, chunk in index.captures([query], plan)] == [
        bytes(chunk) for _, chunk in index.captures([query])
    ]


def test_a_list_of_parts_and_a_single_part_are_tables(table, tmp_path):
    pattern = parse_pattern("*.example.com")
    listed = tmp_path / "table.paths"
    listed.write_text("".join(f"{path}\n" for path in sorted(table.rglob("*.parquet"))))
    assert found(listed, pattern) == found(table, pattern)
    assert len(found(next(table.rglob("part-0.parquet")), pattern)) < len(found(table, pattern))


def test_a_damaged_part_is_reported_and_the_others_are_found(table, tmp_path):
    place = tmp_path / "crawl=C" / "subset=warc"
    place.mkdir(parents=True)
    whole = min(table.rglob("*.parquet")).read_bytes()
    (place / "part-0.parquet").write_bytes(whole)
    (place / "part-1.parquet").write_bytes(whole[:-200])
    problems = []
    indexes = open_indexes(find_indexes([str(tmp_path)], Storage()), Storage(), problems.append)
    query = Query(parse_pattern("*.example.com"))
    lines = b"".join(bytes(chunk) for _, chunks in look_up(indexes, [query], problems.append) for chunk in chunks)
    assert lines.count(b"\n") == sum(
        1 for row in rows()[::3] if re.match(r"com,example(,|(:\d+)?\))", row["url_surtkey"])
    )
    assert [problem.source.endswith("part-1.parquet") for problem in problems] == [True]


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("url_surtkey", ["com,example)/", None], pa.string()),
        ("fetch_time", [0, None], pa.timestamp("ms", "UTC")),
        ("fetch_time", [0, 1 << 62], pa.timestamp("ms", "UTC")),
        ("fetch_time", ["2020", "2021"], pa.string()),
        ("url", [b"http://e.com/", b"http://e.com/\xff"], pa.binary()),
        ("url_surtkey", [1, 2], pa.int64()),
        ("url", [1, 2], pa.int64()),
        ("warc_record_offset", [1.0, 2.5], pa.float64()),
        ("warc_filename", [{"a": 1}] * 2, pa.struct({"a": pa.int8()})),
    ],
)
def test_odd_columns_are_reported_not_dropped(column, values, kind, tmp_path):
    columns = {
        "url_surtkey": pa.array(["com,example)/"] * 2),
        "url": pa.array(["http://example.com/"] * 2),
        "fetch_time": pa.array([0, 1], pa.timestamp("ms", "UTC")),
        "warc_filename": pa.array(["f.gz"] * 2),
        "warc_record_offset": pa.array([1, 2], pa.int32()),
        "warc_record_length": pa.array([1, 2], pa.int32()),
    }
    columns[column] = pa.array(values, kind)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    lost = []
    with Storage() as storage:
        indexes = open_indexes(find_indexes([str(path)], storage), storage, lost.append)
        [(_, chunks)] = [
            (query, list(chunks))
            for query, chunks in look_up(indexes, [Query(parse_pattern("example.com"))], lost.append)
        ]
    assert len(lost) == 1
    assert b"b'" not in b"".join(chunks)


def test_two_columns_of_one_name_are_reported(tmp_path):
    arrays = [pa.array(["com,example)/"]), pa.array(["a"]), pa.array(["b"]), pa.array([0], pa.timestamp("ms", "UTC"))]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_arrays(arrays, ["url_surtkey", "url", "url", "fetch_time"]), path)
    lost = []
    with Storage() as storage:
        (index,) = open_indexes(find_indexes([str(path)], storage), storage, lost.append)
        assert list(index.captures([Query(parse_pattern("example.com"))])) == []
    assert [error.reason for error in lost] == ["unsupported-format"]


def test_binary_texts_are_texts(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table(
            {
                "url_surtkey": ["com,example)/"],
                "url": pa.array([b"http://example.com/"], pa.binary()),
                "fetch_time": pa.array([1_500], pa.timestamp("us", "UTC")),
                "warc_filename": ["f.gz"],
                "warc_record_offset": pa.array([1], pa.int32()),
                "warc_record_length": pa.array([2], pa.int32()),
            }
        ),
        path,
    )
    with Storage() as storage:
        indexes = open_indexes(find_indexes([str(path)], storage), storage, pytest.fail)
        [(_, chunks)] = [
            (query, list(chunks))
            for query, chunks in look_up(indexes, [Query(parse_pattern("example.com"))], pytest.fail)
        ]
    assert json.loads(b"".join(chunks).split(b" ", 2)[2])["url"] == "http://example.com/"


@pytest.mark.slow
def test_memory_does_not_grow_with_row_groups_and_their_order_within_does_not_matter(tmp_path):
    keys = [f"com,example)/{n:06}" for n in range(40_000)]
    shuffled = random.Random(3).sample(keys, len(keys))
    for number, some in enumerate((keys[::2], keys[1::2], shuffled)):
        rows = {
            "url_surtkey": some,
            "url": [f"http://example.com/{key[-6:] * 100}" for key in some],
            "fetch_time": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * len(some), pa.timestamp("ms", "UTC")),
        }
        folder = tmp_path / ("in-order" if number < 2 else "shuffled")
        folder.mkdir(exist_ok=True)
        pq.write_table(pa.table(rows), folder / f"part-{number}.parquet")
    for folder in ("in-order", "shuffled"):
        problems = []
        with Storage() as storage:
            (index,) = open_indexes(find_indexes([str(tmp_path / folder)], storage), storage, problems.append)
            lines = index.captures([Query(parse_pattern("*.example.com"))])
            if folder == "in-order":
                tracemalloc.start()
            try:
                found = [line.partition(b" ")[0].decode() for _, chunk in lines for line in chunk.splitlines()]
                held = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
        assert (found, problems) == (keys, [])
        assert held - 90 * len(keys) < 16 << 20  # the keys that are found, and a batch of each part


def test_a_host_written_in_octal_numbers_is_found_by_what_it_is_called():
    """The converter's row has the host as it is written, and the key that Java's and `surt`'s rules give: 010 is 8."""
    names = ("url_surtkey", "url_host_name", "url")
    text = (shared("columnar") / "expected.jsonl").read_text()
    rows = [json.loads(each)["row"] for each in text.split("\n") if each]
    row = next(row for row in rows if row["url_host_name"] == "010.0.0.1")
    assert [row[name] for name in names] == ["1,0,0,8)/", "010.0.0.1", "http://010.0.0.1/"]
    for pattern in (parse_pattern("010.0.0.1", "host"), parse_pattern("http://010.0.0.1/")):
        lines = found(shared("columnar") / "oracle", pattern)
        assert [json.loads(line.split(b" ", 2)[2])["url"] for line in lines] == ["http://010.0.0.1/"]
