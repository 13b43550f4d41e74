"""Many look-ups as tasks: what is found is what brute force finds for each pattern, whatever way it was cut."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.indexes.api_server import ApiServer, Said, in_pages
from tests.indexes.captures import expected, key_of, make_cluster, make_lines, make_patterns, text
from tests.mr.helpers import PROJECT, rows, run, run_here
from tests.storage.faults import FaultServer, Thing

from crawlmill.indexes.cluster.cluster import Cluster
from crawlmill.indexes.query import Query
from crawlmill.inputs.index_files import FolderFiles, StoredFile
from crawlmill.jobs.find_captures import FindCaptures
from crawlmill.ledger.file import failed_lines, read_ledger
from crawlmill.storage import Storage
from crawlmill.urls.patterns import parse_pattern

LINES = make_lines(1200, seed=3)
PATTERNS = list(dict.fromkeys(make_patterns(random.Random(3), LINES, 50, None)))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def find(tmp_path):
    """Runs the job here over patterns; gives code, result lines, rows of the ledger, stderr."""

    def run_it(patterns, *options):
        given = tmp_path / "patterns.txt"
        given.write_text("".join(f"{each}\n" for each in patterns))
        ended = run_here(FindCaptures, "-r", "inline", "--ledger", tmp_path / "ledger", *options, given)
        found = rows(tmp_path / "ledger") if (tmp_path / "ledger").exists() else {}
        return ended.code, ended.out.splitlines(), found, ended.err

    return run_it


def with_pattern(pattern, lines):
    return [(pattern, *line.split(" ", 2)[:2], json.loads(line.split(" ", 2)[2])) for line in lines]


def shown(out):
    found = []
    for line in out:
        pattern, _, flat = line.partition("\t")
        fields = json.loads(flat)
        found.append((json.loads(pattern), fields.pop("urlkey"), fields.pop("timestamp"), fields))
    return found


def as_sets(found):
    return Counter((pattern, key, time, json.dumps(fields)) for pattern, key, time, fields in found)


OPTIONS = [
    {},
    {"match": "host"},
    {"match": "prefix", "start": "2015"},
    {"filters": ["=status:200"]},
    {"limit": 3},
    {"newest": True},
    {"distinct": "digest", "end": "2019"},
]
INDEXES = {
    "cluster": lambda folder, lines: make_cluster(folder / "i", lines),
    "file": lambda folder, lines: (folder / "i").write_bytes(text(lines)),
    "gzip": lambda folder, lines: (folder / "i").write_bytes(gzip.compress(text(lines))),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_every_pattern_has_its_captures_and_a_row(find, tmp_path, kind):
    INDEXES[kind](tmp_path, LINES)
    for options in OPTIONS if kind == "cluster" else OPTIONS[:5:4]:
        words = [
            *(part for each in options.get("filters", ()) for part in ("--filter", each)),
            *(
                part
                for name in ("match", "limit", "distinct")
                if name in options
                for part in (f"--{name}", options[name])
            ),
            *(
                part
                for name, long in (("start", "--from"), ("end", "--to"))
                if name in options
                for part in (long, options[name])
            ),
            *(["--newest"] if options.get("newest") else []),
        ]
        patterns = [each for each in PATTERNS if "*" not in each] if "match" in options else PATTERNS
        code, out, ledger, err = find(patterns, "--index", tmp_path / "i", "--with-pattern", *words)
        assert code == 0, err
        wanted = {pattern: expected(LINES, pattern, **options) for pattern in patterns}
        assert as_sets(shown(out)) == as_sets(
            [each for pattern in patterns for each in with_pattern(pattern, wanted[pattern])]
        )
        assert {pattern: row["records"] for pattern, row in ledger.items()} == {p: len(w) for p, w in wanted.items()}
        assert {(row["outcome"], row["verified"]) for row in ledger.values()} == {("ok", True)}


def test_local_runner_gives_the_same_rows_and_a_domain_is_many_tasks(tmp_path, monkeypatch):
    """With shares of a few members, nearly every pattern is read by several tasks."""
    lines = make_lines(6000, seed=4)
    make_cluster(
        tmp_path / "i",
        [f'{line[:-2]}", "pad": "{random.Random(line).randbytes(900).hex()}"}}' for line in lines],
        per=40,
    )
    (tmp_path / "p").write_text("*.example.com\nexample.com\thost\nhttp://example.org/a*\nexample.org/a\n")
    job = PROJECT / "jobs" / "find_captures.py"
    plan = run(job, "--no-progress", "--index", tmp_path / "i", "--plan", tmp_path / "p")
    numbers = dict(line.split(" ") for line in plan.out.splitlines())
    assert plan.code == 0
    assert int(numbers["tasks"]) >= 3
    assert int(numbers["bytes"]) > 2 << 20
    ended = [
        run(
            job, "-r", runner, "--no-progress", "--index", tmp_path / "i", "--ledger", tmp_path / runner, tmp_path / "p"
        )
        for runner in ("inline", "local")
    ]
    assert [each.code for each in ended] == [0, 0], ended[1].err
    assert sorted(ended[0].out.splitlines()) == sorted(ended[1].out.splitlines())
    assert (tmp_path / "inline").read_text() == (tmp_path / "local").read_text()
    ledger = rows(tmp_path / "local")
    for line in (tmp_path / "p").read_text().splitlines():
        pattern, _, match = line.partition("\t")
        assert ledger[line]["records"] == len(expected(lines, pattern, match=match or None))


def test_no_member_is_in_two_shares_and_all_that_is_needed_in_one(tmp_path):
    make_cluster(tmp_path / "i", LINES, per=5)
    queries = sorted((Query(parse_pattern(each)) for each in PATTERNS), key=lambda query: query.pattern.ranges)
    with Storage() as storage:
        idx = str(tmp_path / "i" / "cluster.idx")
        for few in (queries, queries[::20]):
            file = StoredFile(idx, storage)
            cluster = Cluster(file, file.size(), FolderFiles(idx, storage), "cluster.loc", pytest.fail)
            wanted = cluster.plan(few)
            parts = [part for share in cluster.shares(few) for part in share.parts]
            members = [
                (part.file, part.offset + sum(part.lengths[:n])) for part in parts for n in range(len(part.lengths))
            ]
            assert len(members) == len(set(members)) == wanted.blocks


def test_a_damaged_member_concerns_the_patterns_that_may_mean_it_and_no_other(find, tmp_path):
    members = make_cluster(tmp_path / "i", LINES)
    start, shard, offset, length = members[len(members) // 3]
    data = bytearray((tmp_path / "i" / shard).read_bytes())
    data[offset + length // 2] ^= 0x55
    (tmp_path / "i" / shard).write_bytes(bytes(data))
    at = LINES.index(start)
    lost = set(LINES[at : at + 50])
    code, out, ledger, _ = find(PATTERNS, "--index", tmp_path / "i", "--with-pattern")
    assert code == 2
    kept = {pattern: [line for line in expected(LINES, pattern) if line not in lost] for pattern in PATTERNS}
    assert as_sets(shown(out)) == as_sets([each for p in PATTERNS for each in with_pattern(p, kept[p])])
    for pattern, row in ledger.items():
        if len(kept[pattern]) < len(expected(LINES, pattern)):
            assert row["outcome"] in ("partial", "failed")
            assert row["problems"][0]["offset"] == offset
    assert sum(row["outcome"] == "ok" for row in ledger.values()) > len(ledger) / 3


URLS = list(dict.fromkeys(json.loads(line.split(" ", 2)[2])["url"] for line in LINES))


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
def test_lists_of_plain_urls_are_answered_alike_whatever_is_printed(find, tmp_path, core):
    """URLs that share a key among them, some that are not there, and captures of one key over several members."""
    make_cluster(tmp_path / "i", LINES, per=3)
    urls = [*URLS, *(f"{url}-not-there" for url in URLS[::7])]
    for options in ([], ["--with-pattern"]):
        code, out, ledger, err = find(urls, "--index", tmp_path / "i", *options)
        assert code == 0, err
        wanted = {url: expected(LINES, url) for url in urls}
        assert {url: row["records"] for url, row in ledger.items()} == {url: len(wanted[url]) for url in urls}
        assert all(row["bytes"] == sum(map(len, wanted[u])) + len(wanted[u]) for u, row in ledger.items())
        if options:
            assert as_sets(shown(out)) == as_sets([each for url in urls for each in with_pattern(url, wanted[url])])
        else:
            assert Counter(out) == Counter(line for url in urls for line in wanted[url])


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
def test_what_is_lost_of_a_list_of_plain_urls_is_lost_of_those_that_mean_it(find, tmp_path, core):
    """A line that is no capture, and a damaged member."""
    at = next(n for n, line in enumerate(LINES) if n > 600 and line.split(" ")[0] != LINES[n - 1].split(" ")[0])
    key = LINES[at].split(" ")[0]
    odd = sorted([*LINES, f"{key} 20200101 {{}}"], key=str.encode)
    members = make_cluster(tmp_path / "i", odd)
    _, shard, offset, length = members[3]
    data = bytearray((tmp_path / "i" / shard).read_bytes())
    data[offset + length // 2] ^= 0x55
    (tmp_path / "i" / shard).write_bytes(bytes(data))
    start = odd.index(members[3][0])
    lost = set(odd[start : start + 50])
    code, out, ledger, _ = find(URLS, "--index", tmp_path / "i")
    kept = {url: [line for line in expected(LINES, url) if line not in lost] for url in URLS}
    assert code == 2
    assert Counter(out) == Counter(line for lines in kept.values() for line in lines)
    for url, row in ledger.items():
        assert row["records"] == len(kept[url])
        if key_of(url) == key:
            assert row["problems"][0]["reason"] == "bad-header"
        elif len(kept[url]) < len(expected(LINES, url)):
            assert row["problems"][0]["offset"] == offset
    assert sum(row["outcome"] != "ok" for row in ledger.values()) < len(ledger) / 4


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
@pytest.mark.parametrize("options", [["--with-pattern"], ["--output-format", "json"], ["--output-format", "list"]])
def test_a_line_that_is_no_object_is_lost_of_its_pattern(find, tmp_path, core, options):
    good = [f'com,{name})/ 20240101000000 {{"offset": "1", "length": "2", "filename": "x"}}' for name in "ab"]
    make_cluster(tmp_path / "i", [good[0], 'com,a)/ 20240102000000 {"url": oops}', good[1]], shards=1)
    code, out, ledger, _ = find(["http://a.com/", "http://b.com/"], "--index", tmp_path / "i", *options)
    assert (code, len(out)) == (2, 2)
    outcomes = {url: (row["outcome"], row["records"], row["lost"]) for url, row in ledger.items()}
    assert outcomes == {"http://a.com/": ("partial", 1, {"bad-json": 1}), "http://b.com/": ("ok", 1, {})}


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
def test_lines_of_a_member_out_of_order_are_told_and_found(find, tmp_path, core):
    a, b, c, d = (f'com,{name})/ 20240101000000 {{"url": "http://{name}.com/"}}' for name in "abcd")
    make_cluster(tmp_path / "i", [a, d, c, b], shards=1)
    code, out, _, err = find([f"http://{name}.com/" for name in "abcd"], "--index", tmp_path / "i")
    assert (code, sorted(out)) == (2, [a, b, c, d])
    assert "out of order" in err


def test_a_missing_shard_fails_its_patterns_in_every_task(find, tmp_path):
    make_cluster(tmp_path / "i", LINES, shards=2)
    (tmp_path / "i" / "cdx-00001.gz").unlink()
    half = set(LINES[600:])
    code, _, ledger, err = find(PATTERNS, "--index", tmp_path / "i")
    assert code == 2
    assert "hint" not in err  # patterns are in their place here, in other lists they are not
    for pattern, row in ledger.items():
        if half & set(expected(LINES, pattern)):
            assert row["problems"][0]["reason"] == "not-found", pattern


def test_a_list_of_a_tables_files_has_the_base_url_in_tasks_too(find, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base" / "cc-index").mkdir(parents=True)
    columns = {"url_surtkey": ["com,a)/"], "url": ["http://a.com/"], "fetch_time": pa.array([0], pa.timestamp("ms"))}
    pq.write_table(pa.table(columns), tmp_path / "base" / "cc-index" / "x.parquet")
    (tmp_path / "table.paths").write_text("cc-index/x.parquet\n")
    code, out, _, err = find(["a.com"], "--index", "table.paths", "--base-url", "base")
    assert (code, out) == (0, ['com,a)/ 19700101000000 {"url": "http://a.com/"}']), err


def test_lists_may_be_gzip_with_comments_and_repeated_lines(find, tmp_path):
    make_cluster(tmp_path / "i", LINES)
    more = tmp_path / "more.gz"
    more.write_bytes(gzip.compress(b"# comment\r\n\r\nexample.org\tdomain\r\nexample.org/a\r\n"))
    code, out, ledger, err = find(["example.org/a", "example.org/a"], "--index", tmp_path / "i", more)
    assert code == 0
    assert set(ledger) == {"example.org/a", "example.org\tdomain"}
    assert "2 repeated lines left out" in err
    assert Counter(out) == Counter(expected(LINES, "example.org/a")) + Counter(expected(LINES, "*.example.org"))


def test_two_indexes_are_one_answer(find, tmp_path):
    make_cluster(tmp_path / "a", LINES[::2])
    make_cluster(tmp_path / "b", LINES[1::2])
    for more in ({}, {"newest": True}):
        options = ["--newest"] if more else []
        code, out, ledger, _ = find(PATTERNS[:40], "--index", tmp_path / "a", "--index", tmp_path / "b", *options)
        assert code == 0
        assert Counter(out) == Counter(line for p in PATTERNS[:40] for line in expected(LINES, p, **more))
        assert all(ledger[p]["records"] == len(expected(LINES, p, **more)) for p in PATTERNS[:40])


def test_an_index_that_does_not_open_leaves_the_others_as_they_are(find, tmp_path):
    make_cluster(tmp_path / "good", LINES)
    with FaultServer() as server:
        server.things["/deny/cluster.idx"] = Thing(b"x", every=(403, {}))
        denied = f"{server.url}/deny/cluster.idx"
        for indexes in ((denied, tmp_path / "good"), (tmp_path / "good", denied)):
            options = [each for index in indexes for each in ("--index", index)]
            code, out, *_ = find(PATTERNS[:20], *options)
            assert code == 2
            assert Counter(out) == Counter(line for p in PATTERNS[:20] for line in expected(LINES, p))


def test_a_byte_order_mark_is_no_part_of_a_pattern(find, tmp_path):
    make_cluster(tmp_path / "i", LINES)
    pattern = next(p for p in PATTERNS if expected(LINES, p))
    code, out, ledger, _ = find([f"\ufeff{pattern}"], "--index", tmp_path / "i")
    assert (code, out, list(ledger)) == (0, expected(LINES, pattern), [pattern])


def test_formats(find, tmp_path):
    make_cluster(tmp_path / "i", LINES)
    line = next(line for line in LINES if line.startswith("org,"))
    pattern = json.loads(line.split(" ", 2)[2])["url"]
    wanted = [json.loads(each.split(" ", 2)[2]) for each in expected(LINES, pattern)]
    _, flat, *_ = find([pattern], "--index", tmp_path / "i", "--output-format", "json")
    assert [json.loads(each)["offset"] for each in flat] == [each["offset"] for each in wanted]
    _, places, *_ = find([pattern], "--index", tmp_path / "i", "--output-format", "list")
    assert places == ["\t".join(each[name] for name in ("filename", "offset", "length")) for each in wanted]


@pytest.mark.parametrize(
    ("patterns", "options", "message"),
    [
        (["a.com\tnearly"], [], r"line 1: .*match.*nearly"),
        (["a.com", "*."], [], "line 2: this pattern names no URL"),
        ([], [], "no pattern in"),
        (["# nothing"], [], "no pattern in"),
        (["a.com"], ["--from", "soon"], "--from: expected 1 to 14 digits of a time"),
        (["a.com"], ["--filter", "~url:["], "regular expression"),
        (["a.com"], ["--with-pattern", "--output-format", "list"], "cannot be combined"),
        (["a.com"], ["--index", "/dev/null"], "cannot be a pipe"),
        (["a.com"], ["--index", "missing"], "cannot use this index"),
        (["a.com"], ["--inputs-per-task", "5"], "cut by what they read of the index"),
        (["WARC/1.0\0"], [], "not a list of patterns"),
    ],
)
def test_mistakes_are_told_before_anything_runs(find, tmp_path, patterns, options, message):
    make_cluster(tmp_path / "i", LINES[:99])
    code, out, ledger, err = find(patterns, "--index", tmp_path / "i", *options)
    assert (code, out, ledger, err.count("\n")) == (1, [], {}, 1)
    assert re.search(message, err), err


HOST = [line for line in LINES if line.startswith("com,example)/")]


def test_an_api_is_cut_by_pages_and_not_verified(find):
    with ApiServer(in_pages(HOST, 1)) as api:
        limits = ("--max-requests-per-second", "1000", "--retries", "0")
        code, out, ledger, err = find(["example.com\thost", "example.com/none"], "--index", api.url, *limits)
        assert code == 0, err
        assert Counter(out) == Counter(HOST * 2)  # the server gives the same for everything
        assert ledger["example.com\thost"]["format"] == "cdx-api"
        assert ledger["example.com\thost"]["verified"] is False
        code, out, _, _ = find(["example.com\thost"], "--index", api.url, *limits, "--plan")
        assert dict(line.split(" ") for line in out)["pages"] == str(len(HOST))
        assert int(out[0].removeprefix("tasks ")) > 20


def test_a_lost_page_is_told_of_its_pattern_alone(find):
    with ApiServer(in_pages(HOST[:9], 3, page1=Said(b"", 500))) as api:
        limits = ("--max-requests-per-second", "1000", "--retries", "0")

        code, out, ledger, _ = find(["*.example.com", "example.com\thost"], "--index", api.url, *limits)
        assert code == 2
        assert Counter(out) == Counter((HOST[:3] + HOST[6:9]) * 2)
        assert {row["outcome"] for row in ledger.values()} == {"partial"}
        assert "page 1 of *.example.com is lost" in ledger["*.example.com"]["problems"][0]["message"]


def test_pages_of_a_plan_are_held_against_the_blocks_of_the_server_too(find):
    """70 pages are shares of two: of each of them the server lists the blocks, also of the smaller last one."""
    lines = LINES[: 69 * 4]
    usual = in_pages(lines, 4)
    starts = [" ".join(line.split(" ")[:2]) for line in lines[::2]]

    def answer(asked):
        if "showPagedIndex" in asked:
            first, size = int(asked["page"]) * int(asked["pageSize"]), int(asked["pageSize"])
            return "".join(
                f"{json.dumps({'urlkey': each, 'part': 'a', 'offset': 0, 'length': 1, 'lineno': 1})}\n"
                for each in starts[first : first + size]
            ).encode()
        if "showNumPages" in asked:
            return b'{"pages": 69, "pageSize": 2, "blocks": 138}'
        said = usual(asked)
        return said[: said.index(b"\n") + 1] if asked["page"] in ("7", "67") else said

    with ApiServer(answer) as api:
        limits = ("--max-requests-per-second", "1000", "--retries", "0")
        code, out, ledger, _ = find(["example.com\thost"], "--index", api.url, *limits)
    told = " ".join(each["message"] for each in ledger["example.com\thost"]["problems"])
    assert (code, len(out)) == (2, len(lines) - 8)
    assert told.count("lacks the capture") == 2
    assert "page 7 of example.com is lost" in told
    assert "page 67 of example.com is lost" in told


def test_a_dead_api_fails_each_pattern_and_the_ledger_lists_them_for_another_run(find, tmp_path):
    with ApiServer(lambda _: Said(b"<html>", 404)) as api:
        code, out, ledger, _ = find(
            ["a.com", "b.com", "*.c.com"], "--index", api.url, "--max-requests-per-second", "1000"
        )
        assert (code, out) == (2, [])
        assert {row["outcome"] for row in ledger.values()} == {"failed"}
    lines = (tmp_path / "ledger").read_bytes().splitlines()
    assert list(failed_lines(read_ledger(lines, "ledger"))) == ["*.c.com", "a.com", "b.com"]
