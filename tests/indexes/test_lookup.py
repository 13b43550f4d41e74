"""Look-ups equal brute force: random queries on every kind of index, alone, together, merged."""

from __future__ import annotations

import gzip
import os
import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.indexes.captures import OPTIONS, expected, make_cluster, make_lines, make_patterns, text

from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import Query, parse_filter
from crawlmill.inputs.indexes import check_cluster, find_indexes, open_indexes
from crawlmill.storage import Storage
from crawlmill.urls.patterns import parse_pattern

LINES = make_lines(3000)


def query(pattern, *, match=None, filters=(), **more):
    return Query(parse_pattern(pattern, match), filters=tuple(map(parse_filter, filters)), **more)


def ask(names, queries, problems=None, options=None):
    """The lines of each query; without a list for problems, there must be none."""
    found = [] if problems is None else problems
    with Storage(options) as storage:
        indexes = open_indexes(find_indexes([str(name) for name in names], storage), storage, found.append)
        answers = [b"".join(chunks).decode().split("\n")[:-1] for _, chunks in look_up(indexes, queries, found.append)]
    assert problems is not None or not found, found
    return answers


KINDS = {
    "cdxj": lambda folder, lines: (folder / "a.cdxj").write_bytes(text(lines)),
    "no last line end": lambda folder, lines: (folder / "a.cdxj").write_bytes(text(lines)[:-1]),
    "cr lf": lambda folder, lines: (folder / "a.cdxj").write_bytes(text(lines).replace(b"\n", b"\r\n")),
    "blank lines": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        b"\n" + text(lines).replace(b"}\ncom", b"}\n\ncom") + b"\n\n"
    ),
    "a header": lambda folder, lines: (folder / "a.cdxj").write_bytes(b'!meta {"format": "cdxj"}\n' + text(lines)),
    "a header in gzip": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        gzip.compress(b"!meta {}\n" + text(lines))
    ),
    "gzip": lambda folder, lines: (folder / "a.cdxj").write_bytes(gzip.compress(text(lines))),
    "gzip of members": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        b"".join(gzip.compress(text(lines[at : at + 77])) for at in range(0, len(lines), 77))
    ),
    "gzip cut anywhere": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        b"".join(gzip.compress(text(lines)[at : at + 5000]) for at in range(0, len(text(lines)), 5000))
    ),
    "members without a last line end": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        b"".join(gzip.compress(text(lines[at : at + 77])[:-1]) for at in range(0, len(lines), 77))
    ),
    "gzip with a member within the first line": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        gzip.compress(b"") + gzip.compress(text(lines)[:9]) + gzip.compress(text(lines)[9:])
    ),
    "a byte order mark": lambda folder, lines: (folder / "a.cdxj").write_bytes(b"\xef\xbb\xbf" + text(lines)),
    "a byte order mark and a header in gzip": lambda folder, lines: (folder / "a.cdxj").write_bytes(
        gzip.compress(b"\xef\xbb\xbf CDX N b a\n" + text(lines))
    ),
    "cluster": lambda folder, lines: make_cluster(folder / "a.cdxj", lines),
    "cluster of four columns": lambda folder, lines: make_cluster(
        folder / "a.cdxj", lines, columns=4, loc=False, per=7
    ),
    "cluster of lines": lambda folder, lines: make_cluster(folder / "a.cdxj", lines[:300], per=1, shards=40),
    "cluster of one member": lambda folder, lines: make_cluster(folder / "a.cdxj", lines, per=9999, shards=1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_random_queries_equal_brute_force(tmp_path, kind):
    lines = LINES[:300] if kind == "cluster of lines" else LINES
    KINDS[kind](tmp_path, lines)
    dice = random.Random(kind)
    for options in OPTIONS:
        patterns = make_patterns(dice, lines, 12, options.get("match"))
        answers = ask([tmp_path / "a.cdxj"], [query(pattern, **options) for pattern in patterns])
        for pattern, found in zip(patterns, answers, strict=True):
            assert found == expected(lines, pattern, **options), (pattern, options)


@given(
    data=st.data(),
    host=st.sampled_from(["com,a", "com,a,b", "com,a:8080", "com,a-b", "com,a0", "com,b", "::1", "org"]),
    match=st.sampled_from(["exact", "prefix", "host", "domain"]),
)
def test_ranges_hold_what_a_pattern_means_and_nothing_else(data, host, match):
    key = data.draw(st.sampled_from([f"{host})/", f"{host})/a", f"{host})/a/b", f"{host})/a?x"]))
    pattern = parse_pattern(key, match, is_key=True)
    for other in (
        "com,a",
        "com,a,b",
        "com,a:8080",
        "com,a,b:8080",
        "com,a-b",
        "com,a0",
        "com,b",
        "::1",
        "com,a:80",
        "org",
        "orga",
    ):
        for path in ("/", "/a", "/ab", "/a/b", "/a?x", "/b"):
            line = f"{other}){path} 20200101000000 {{}}".encode()
            name, _, port = host.partition(":") if not host.startswith(":") else (host, "", "")
            its, _, its_port = other.partition(":") if not other.startswith(":") else (other, "", "")
            meant = {
                "exact": f"{other}){path}" == key,
                "prefix": f"{other}){path}".startswith(key),
                "host": its == name and (not port or port == its_port),
                "domain": (its == name or its.startswith(f"{name},")) and (not port or port == its_port),
            }[match]
            held = any(low <= line < high for low, high in pattern.ranges)
            assert (held and pattern.accepts(line.split(b" ")[0])) == meant, (other, path)


@pytest.mark.parametrize("held_bytes", [0, 2000, 1 << 24])
def test_several_patterns_are_answered_in_their_order_and_repeated_ones_again(tmp_path, monkeypatch, held_bytes):
    monkeypatch.setattr("crawlmill.indexes.lookup._HELD_BYTES", held_bytes)
    make_cluster(tmp_path / "c", LINES, per=20)
    patterns = ["*.org", "example.com/a", "*.com", "example.com/a", "zz.example", "*.com", "10.0.0.1/*"]
    assert ask([tmp_path / "c"], map(query, patterns)) == [expected(LINES, pattern) for pattern in patterns]


def test_several_indexes_are_merged_by_key_and_time(tmp_path):
    dice, parts = random.Random(3), ([], [], [])
    for line in LINES:
        dice.choice(parts).append(line)
    (tmp_path / "a.cdxj").write_bytes(text(parts[0]))
    (tmp_path / "b.gz").write_bytes(gzip.compress(text(parts[1])))
    make_cluster(tmp_path / "c", parts[2], per=20)
    for options in OPTIONS:
        patterns = make_patterns(dice, LINES, 6, options.get("match"))
        answers = ask(
            [tmp_path / name for name in ("a.cdxj", "b.gz", "c")], [query(each, **options) for each in patterns]
        )
        assert answers == [expected(LINES, pattern, **options) for pattern in patterns], options


def test_what_two_indexes_have_is_given_twice(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(text(LINES[:50]))
    (found,) = ask([tmp_path / "a", tmp_path / "b"], [query("*.com")])
    assert found == sorted(expected(LINES[:50], "*.com") * 2)


def test_large_answers_are_sorted_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr("crawlmill.indexes.arrange._HELD_BYTES", 1000)
    monkeypatch.setattr("crawlmill.indexes.arrange._PIECE", 700)
    monkeypatch.setattr("crawlmill.indexes.arrange._MAX_HELD_LINES", 2)
    (tmp_path / "a").write_bytes(text(LINES))
    for options in (
        {"sort": "reverse"},
        {"sort": "closest", "closest": "20180615120000"},
        {"sort": "reverse", "limit": 5},
    ):
        (found,) = ask([tmp_path / "a"], [query("*.com", **options)])
        assert found == expected(LINES, "*.com", **options)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("number", [1, 3])
def test_an_index_from_a_pipe_is_read_from_its_beginning(tmp_path, pack, number):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(pack(text(LINES)),))
    writer.start()
    patterns = ["*.com", "http://localhost/a", "example.org/*"][:number]
    assert ask([pipe], list(map(query, patterns))) == [expected(LINES, pattern) for pattern in patterns]
    writer.join()


def test_a_pipe_that_is_to_be_read_again_is_lost(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(text(LINES[:5]),))
    writer.start()
    monkeypatch.setattr("crawlmill.indexes.lookup._BATCH", 1)
    problems = []
    found = ask([pipe], [query("*.com"), query("*.com")], problems)
    writer.join()
    assert found == [expected(LINES[:5], "*.com"), []]
    assert [problem.reason for problem in problems] == ["unavailable"]


def test_each_shard_may_begin_with_a_header(tmp_path):
    """As where each shard was a CDX file before."""
    rows = b""
    some = expected(LINES, "*.com")[500:520]
    for number, lines in enumerate((some[:9], some[9:])):
        packed = gzip.compress(b" CDX N b a m s k r M S V g\n" + text(lines))
        (tmp_path / f"cdx-{number}.gz").write_bytes(packed)
        start = " ".join(lines[0].split(" ")[:2])
        rows += f"{start}\tcdx-{number}.gz\t0\t{len(packed)}\t{number + 1}\n".encode()
    (tmp_path / "cluster.idx").write_bytes(rows)
    assert ask([tmp_path], [query("*.com")]) == [some]
    assert check_cluster(str(tmp_path / "cluster.idx"), Storage()).outcome == "ok"


def test_digits_that_a_time_lacks_mean_the_earliest_time(tmp_path):
    """`20241` is 1 October 2024: 30 days after the first capture, 31 days before the second."""
    lines = [f'com,a)/ 2024{day}000000 {{"url": "http://a.com/"}}' for day in ("0901", "1101")]
    (tmp_path / "a").write_bytes(text(lines))
    wanted = query("a.com", sort="closest", closest="20241", limit=1)
    assert ask([tmp_path / "a"], [wanted]) == [lines[:1]]


def test_long_lines_are_found(tmp_path):
    lines = [
        f'com,{name})/ 20200101000000 {{"url": "{"x" * size}"}}'
        for name, size in (("a", 3), ("b", 70_000), ("c", 9), ("d", 8_150), ("e", 200_000), ("f", 5))
    ]
    (tmp_path / "a").write_bytes(text(lines))
    for line in lines:
        assert ask([tmp_path / "a"], [query(line[4] + ".com")]) == [[line]]
    assert ask([tmp_path / "a"], [query("*.com")]) == [lines]
