"""The index of 2012: what the original writer wrote is found, and written again, byte for byte."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import re
import struct
import subprocess
import sys

import pytest
from tests.data import needs_data, shared
from tests.storage.faults import FaultServer, Thing

from crawlmill.errors import FormatError, UsageError
from crawlmill.indexes.arrange import lines_of
from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.plan import Plan
from crawlmill.indexes.prefix_tree.items import LONG, SHORT, Place, is_of_short_values, parse_place
from crawlmill.indexes.prefix_tree.keys import tree_key, url_of
from crawlmill.indexes.prefix_tree.writer import TreeWriter, check_fits
from crawlmill.indexes.query import Query, parse_filter
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.storage import Storage
from crawlmill.urls.patterns import parse_pattern

GOLDEN = (
    "urls20k_bs512.pbtree.xz",
    "urls_small_bs128.pbtree",
    "urls_two_blocks.pbtree",
    "urls_one_item.pbtree.gz",
    "urls_empty.pbtree",
)

# Three keys in blocks of 64 bytes, as the original writer wrote them: one index block, and an item in each data block.
# header, pointer 1, prefix "k1", pointer 2, prefix "k2", pointer 3; values count up from 0.
THREE = b"".join(
    (
        bytes.fromhex("4000000001000000"),
        bytes.fromhex("01000000 6b3100 02000000 6b3200 03000000").ljust(64, b"\0"),
        *(b"k%d\0" % n + struct.pack("<QQIQI", n, n + 1, n + 2, n + 3, n + 4) + bytes(29) for n in range(3)),
    )
)


def golden(name):
    data = shared(f"legacy/pbtree/{name}").read_bytes()
    return {"xz": lzma.decompress, "gz": gzip.decompress}.get(name.rpartition(".")[2], bytes)(data)


def scan(data, form="<QQIQI"):
    """All items of a tree, by a plain walk over its data blocks."""
    size, index_blocks = struct.unpack_from("<II", data)
    found, width = [], struct.calcsize(form)
    for number in range(index_blocks, (len(data) - 8) // size):
        at, end = 8 + number * size, 8 + (number + 1) * size
        while at < end and data[at]:
            stop = data.index(b"\0", at)
            found.append((data[at:stop], struct.unpack_from(form, data, stop + 1)))
            at = stop + 1 + width
    return found


def write(items, form="<QQIQI", size=512, folder=None):
    out = io.BytesIO()
    with TreeWriter(size, folder) as tree:
        for key, values in items:
            tree.add(key, struct.pack(form, *values))
        tree.write(out)
    return out.getvalue()


def find(location, *patterns, match=None, key=False, value_bytes=None, others=(), **more):
    """What is found of each pattern, as (key, values), and what was lost."""
    lost = []
    with Storage() as storage:
        places = find_indexes([str(location), *map(str, others)], storage)
        indexes = open_indexes(places, storage, lost.append, value_bytes=value_bytes)
        queries = [Query(parse_pattern(text, match, is_key=key), **more) for text in patterns]
        answers = [
            [parse_capture(line).to_json() for line in lines_of(chunks)]
            for _, chunks in look_up(indexes, queries, lost.append)
        ]
    return answers, [error.reason for error in lost]


def keys_of(answer):
    return [row["key"].encode("utf-8", "surrogateescape") for row in answer]


def test_three_blocks_by_hand(tmp_path):
    assert scan(THREE) == [(b"k%d" % n, (n, n + 1, n + 2, n + 3, n + 4)) for n in range(3)]
    assert write(scan(THREE), size=64, folder=tmp_path) == THREE
    path = tmp_path / "three.pbtree"
    path.write_bytes(THREE)
    (answer,), lost = find(path, "k1", key=True)
    assert lost == []
    assert answer == [
        {
            "urlkey": "k1)/",
            "timestamp": "19700101000000",
            "url": "http://k1",
            "length": "5",
            "offset": "4",
            "filename": "common-crawl/parse-output/segment/1/2_3.arc.gz",
            "key": "k1",
            "arcSourceSegmentId": 1,
            "arcFileDate": 2,
            "arcFilePartition": 3,
            "arcFileOffset": 4,
            "compressedSize": 5,
        }
    ]


def test_printed_lines_lack_the_key_alone_whatever_it_holds(tmp_path):
    keys = [b'com.example/"}:http', b'com.example/, "key": "x"}:http', b"com.example/\\:http", b"com.example/\xe9:http"]
    path = tmp_path / "odd.pbtree"
    path.write_bytes(write([(key, (1, 2, 3, 4, 5)) for key in sorted(keys)], folder=tmp_path))
    out = subprocess.run(
        [sys.executable, "-m", "crawlmill", "lookup", "com.example/", "--key", "--match", "prefix", "--index", path],
        capture_output=True,
        check=True,
    ).stdout
    place = '"length": "5", "offset": "4", "filename": "common-crawl/parse-output/segment/1/2_3.arc.gz"}\n'
    assert [line.split(" ", 2)[2] for line in out.decode("ascii").splitlines(keepends=True)] == [
        r'{"url": "http://example.com/\"}", ' + place,
        r'{"url": "http://example.com/, \"key\": \"x\"}", ' + place,
        r'{"url": "http://example.com/\\", ' + place,
        r'{"url": "http://example.com/\udce9", ' + place,
    ]


@needs_data
@pytest.mark.parametrize("name", GOLDEN)
def test_trees_are_written_as_the_original_writer_writes_them(name, tmp_path):
    data = golden(name)
    (size,) = struct.unpack_from("<I", data)
    assert write(scan(data), size=size, folder=tmp_path) == data


@needs_data
@pytest.mark.parametrize("name", GOLDEN[:2])
def test_every_key_is_found_and_every_prefix(name, tmp_path):
    data = golden(name)
    path = tmp_path / "url-index.1356128792"
    path.write_bytes(data)
    items = scan(data)
    keys = [key for key in dict.fromkeys(key for key, _ in items) if b"\n" not in key]
    chosen = [key.decode("utf-8", "surrogateescape") for key in random.Random(3).sample(keys, min(400, len(keys)))]
    answers, lost = find(path, *chosen, match="exact", key=True)
    assert lost == []
    for text, answer in zip(chosen, answers, strict=True):
        key = text.encode("utf-8", "surrogateescape")
        assert keys_of(answer) == [each for each, _ in items if each == key]
    beginnings = [text[: 3 + len(text) // 2] for text in chosen[:60]]
    for text, answer in zip(beginnings, find(path, *beginnings, match="prefix", key=True)[0], strict=True):
        assert keys_of(answer) == [key for key, _ in items if key.startswith(text.encode("utf-8", "surrogateescape"))]


@needs_data
def test_keys_are_made_as_the_original_made_them():
    for url, key in json.loads(shared("legacy/pbtree/manifest.json").read_text())["reversehost"]:
        assert tree_key(url.encode("latin-1")) == key.encode("latin-1")


@pytest.mark.parametrize(
    ("key", "url"),
    [
        (b"com.example.www/foo:http", b"http://www.example.com/foo"),
        (b"com.example/p?q=1:8080:https", b"https://example.com:8080/p?q=1"),
        (b"com.example/bare", b"http://example.com/bare"),
        (b"com.example/a:b:http", b"http://example.com/a:b"),
        (b"com.example:http", b"http://example.com"),
    ],
)
def test_urls_of_keys(key, url):
    assert url_of(key) == url


def items_around(width=5):
    """Hosts that begin alike, ports and schemes, one key twice, one without a scheme."""
    hosts = ["com.example", "com.example2", "com.example-x", "com.example.www", "com.examplf", "org.example"]
    keys = [
        f"{host}{path}{port}:{scheme}"
        for host in hosts
        for path in ("", "/", "/a", "/a?b=c")
        for port in ("", ":81")
        for scheme in ("http", "https")
    ]
    keys = sorted([*keys, "com.example/twice:http", "com.example/twice:http", "com.example/bare"])
    return [
        (key.encode(), (1346823845675, 1346864469604 + n, n % 7, 1000 * n, 0x61616161 + n)[:width])
        for n, key in enumerate(keys)
    ]


@pytest.mark.parametrize(("form", "width"), [("<QQIQI", 5), ("<QQIQ", 4)])
def test_values_of_both_sizes_are_told_apart(form, width, tmp_path):
    items = items_around(width)
    path = tmp_path / "tree.pbtree"
    path.write_bytes(write(items, form, 256, tmp_path))
    answers, lost = find(path, "http://example.com/a", "example.com/twice", "https://example.com/bare")
    assert lost == []
    assert [keys_of(answer) for answer in answers] == [
        [b"com.example/a:http"],
        [b"com.example/twice:http"] * 2,
        [b"com.example/bare"],
    ]
    wanted = dict(items)[b"com.example/a:http"]
    assert (
        tuple(
            answers[0][0][name]
            for name in ("arcSourceSegmentId", "arcFileDate", "arcFilePartition", "arcFileOffset", "compressedSize")[
                :width
            ]
        )
        == wanted
    )
    assert ("compressedSize" in answers[0][0], "length" in answers[0][0]) == (width == 5, width == 5)


def test_value_size_that_is_given_is_not_found_out(tmp_path):
    path = tmp_path / "tree.pbtree"
    path.write_bytes(write([(b"com.example/a:http", (1, 2, 3, 4, 5))], size=64, folder=tmp_path))
    assert find(path, "http://example.com/a", value_bytes=32)[0][0][0]["compressedSize"] == 5
    assert "compressedSize" not in find(path, "http://example.com/a", value_bytes=28)[0][0][0]


@pytest.mark.parametrize(
    ("pattern", "match", "key", "expression"),
    [
        ("example.com", "host", False, rb"com\.example([/:?].*)?"),
        ("*.example.com", None, False, rb"com\.example([/:?.].*)?"),
        ("example.com:81", "domain", False, rb"com\.example([/:?.].*)?:81:.*"),
        ("http://example.com/a*", None, False, rb"com\.example/a.*"),
        ("http://example.com*", None, False, rb"com\.example([/:?].*)?"),
        ("com.example", "prefix", True, rb"com\.example.*"),
        ("com.example", "domain", True, rb"com\.example([/:?.].*)?"),
        ("com.example/a", "exact", True, rb"com\.example/a(:https?)?"),
    ],
)
def test_patterns_equal_brute_force(pattern, match, key, expression, tmp_path):
    items = items_around()
    path = tmp_path / "tree.pbtree"
    path.write_bytes(write(items, size=256, folder=tmp_path))
    (answer,), lost = find(path, pattern, match=match, key=key)
    assert (keys_of(answer), lost) == ([each for each, _ in items if re.fullmatch(expression, each)], [])
    assert answer


def test_orders_and_merging_hold_although_keys_of_2012_sort_otherwise(tmp_path):
    items = items_around()
    path, other = tmp_path / "tree.pbtree", tmp_path / "other.cdxj"
    path.write_bytes(write(items, size=256, folder=tmp_path))
    other.write_text('com,example)/a 20120905170109 {"url": "http://example.com/a"}\n')
    (answer,), _ = find(path, "*.example.com", sort="reverse")
    order = [(row["urlkey"], row["timestamp"]) for row in answer]
    assert order == sorted(order, reverse=True)
    (answer,), _ = find(path, "*.example.com", others=[other])
    order = [(row["urlkey"], row["timestamp"]) for row in answer]
    assert order == sorted(order)
    assert sum("key" not in row for row in answer) == 1
    (answer,), _ = find(path, "*.example.com", newest=True)
    assert len(answer) == len({row["urlkey"] for row in answer}) > 4
    (answer,), _ = find(path, "http://example.com/a", start="2013")
    assert answer == []
    (answer,), _ = find(path, "*.example.com", filters=(parse_filter("~filename:.*_3.arc.gz"),))
    assert {row["arcFilePartition"] for row in answer} == {3}


@pytest.mark.parametrize("moved", [14, -5, 1_000_000], ids=["later", "earlier", "outside"])
def test_wrong_pointers_lose_nothing(moved, tmp_path):
    items = [(b"com.example/%03d:http" % n, (1, 2, 3, n, 5)) for n in range(300)]
    data = bytearray(write(items, size=128, folder=tmp_path))
    size, index_blocks = struct.unpack_from("<II", data)
    blocks = (len(data) - 8) // size
    for number in range(index_blocks):
        at, end = 8 + number * size, 8 + (number + 1) * size
        while at + 4 <= end:
            (pointer,) = struct.unpack_from("<I", data, at)
            if pointer >= index_blocks:
                wrong = pointer + moved if moved > blocks else min(max(pointer + moved, index_blocks), blocks - 1)
                struct.pack_into("<I", data, at, wrong)
            at += 4
            if at >= end or not data[at]:
                break
            at = data.index(b"\0", at) + 1
    path = tmp_path / "wrong.pbtree"
    path.write_bytes(data)
    urls = [f"http://example.com/{n:03}" for n in range(0, 300, 7)]
    answers, lost = find(path, *urls)
    assert ([keys_of(answer) for answer in answers], lost) == ([[tree_key(url.encode())] for url in urls], [])
    assert keys_of(find(path, "*.example.com")[0][0]) == [key for key, _ in items]


def test_damage_is_reported_and_costs_nothing_else(tmp_path):
    items = [(b"com.example/%03d:http" % n, (1, 2, 3, n, 5)) for n in range(100)]
    data = bytearray(write(items, size=128, folder=tmp_path))
    size, index_blocks = struct.unpack_from("<II", data)
    path = tmp_path / "cut.pbtree"
    path.write_bytes(data[:-60])  # in the middle of the last block
    (answer,), lost = find(path, "*.example.com")
    assert lost == ["truncated"]
    whole = [key for key, _ in scan(bytes(data[: len(data) - size]))]
    assert keys_of(answer) == whole
    place = 8 + (index_blocks + 10) * size
    spoilt = data.copy()
    spoilt[place : place + size] = b"\xff" * size  # no key ends in it
    path.write_bytes(spoilt)
    (answer,), lost = find(path, "*.example.com")
    assert set(lost) == {"bad-header"}
    kept = scan(bytes(data[:place] + b"\0" * size + data[place + size :]))
    assert keys_of(answer) == [key for key, _ in kept]
    swapped = data.copy()
    at = data.rindex(b"com.example/030")
    swapped[at : at + 3] = b"aaa"  # its keys are not in order any more
    path.write_bytes(swapped)
    (alone, answer), lost = find(path, "http://example.com/031", "*.example.com")
    assert lost == ["bad-header"]
    assert keys_of(alone) == [b"com.example/031:http"]
    assert keys_of(answer) == [key for key, _ in items if key != b"com.example/030:http"]


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 8, b"\xff" * 64, b"SEQ\x06 not a tree", THREE[:7]],
    ids=["empty", "zeros", "ones", "other", "cut"],
)
def test_what_is_no_tree_is_refused(data, tmp_path):
    path = tmp_path / "url-index.1"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="not an index"):
        find(path, "http://example.com/")


def test_hostile_header_allocates_nothing(tmp_path):
    path = tmp_path / "url-index.1"
    for block_bytes, index_blocks in ((1 << 24, 1 << 31), (64, 1 << 31), (1 << 31, 1)):
        path.write_bytes(struct.pack("<III", block_bytes, index_blocks, 1) + b"\1" * 500)
        try:
            answers, lost = find(path, "http://example.com/")
        except UsageError:
            continue
        assert (answers, lost) == ([[]], ["truncated"])


def test_plan_names_the_blocks_and_can_be_cut(tmp_path):
    items = [(b"com.example/%03d:http" % n, (1, 2, 3, n, 5)) for n in range(200)]
    path = tmp_path / "tree.pbtree"
    path.write_bytes(write(items, size=128, folder=tmp_path))
    query = Query(parse_pattern("*.example.com"))
    with Storage() as storage:
        (index,) = open_indexes(find_indexes([str(path)], storage), storage, pytest.fail)
        plan = index.plan([query])
        assert (plan.blocks, plan.bytes, plan.requests) == (100, 100 * 128, 1)  # two items fill a block
        cut = [Plan.from_json(unit.to_json()) for unit in plan.units(7)]
        found = [line for unit in cut for _, chunk in index.captures([query], unit) for line in chunk.splitlines()]
        assert [parse_capture(line).fields["key"].encode() for line in found] == [key for key, _ in items]


def test_remote_tree_is_read_by_few_ranges_and_its_blocks_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    items = [(b"com.example/%05d:http" % n, (1, 2, 3, n, 5)) for n in range(40_000)]
    data = write(items, size=4096, folder=tmp_path)
    with FaultServer() as server:
        server.things["/url-index.1"] = Thing(data)
        location = f"{server.url}/url-index.1"
        assert keys_of(find(location, "http://example.com/20000")[0][0]) == [b"com.example/20000:http"]
        assert len(server.seen) <= 3 + 2  # two levels of index blocks and one of data, and what says what the file is
        server.seen.clear()
        assert keys_of(find(location, "http://example.com/20000")[0][0]) == [b"com.example/20000:http"]
        assert len(server.seen) == 1  # whether it has changed


def test_places_are_those_of_the_crawl():
    assert parse_place("s3://x/common-crawl/parse-output/segment/13/14_2.arc.gz", 5, 6) == Place(13, 14, 2, 5, 6)
    assert Place(13, 14, 2, 5, 6).filename == "common-crawl/parse-output/segment/13/14_2.arc.gz"
    # 2012-09-05T17:01:06Z by `date -u -d @1346864466`; the last second of 9999, and the first that has no four digits.
    dates = {1346864466526: "20120905170106", 253402300799999: "99991231235959", 253402300800000: "0" * 14}
    assert {date: Place(1, date, 2, 3).timestamp for date in dates} == dates
    for name in ("crawl-data/CC-MAIN-2013-20/x.warc.gz", "segment/1/2.arc.gz", "segment/x/2_3.arc.gz"):
        with pytest.raises(FormatError, match="not in a file of the 2012 crawl"):
            parse_place(name, 1, 1)
    with pytest.raises(FormatError, match="too large"):
        parse_place("segment/1/2_3.arc.gz", 1, 1 << 32)


def test_short_values_leave_only_keys_in_order():
    long, short = (
        b"".join(b"com.example/%d\0" % n + form.pack(*(1, 2, 3, 4, 0x61616161)[:width]) for n in range(3)) + bytes(9)
        for form, width in ((LONG, 5), (SHORT, 4))
    )
    assert (is_of_short_values(long), is_of_short_values(short)) == (False, True)


def test_keys_that_fit_no_block_are_refused():
    check_fits(b"x" * 31, 32, 64)
    with pytest.raises(FormatError, match="does not fit"):
        check_fits(b"x" * 32, 32, 64)
    with pytest.raises(FormatError, match="cannot hold"):
        check_fits(b"", 32, 64)
