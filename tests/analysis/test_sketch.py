"""Sketches are those that Common Crawl publishes: registers by the rule, estimates by an independent program."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests.data import needs_data, shared

from crawlmill.analysis.statistics.compare import compared, read_sketches
from crawlmill.analysis.statistics.sketch import Sketch


def sketch_of(*texts):
    sketch = Sketch()
    for text in texts:
        sketch.add(text)
    return sketch


def test_register_of_a_text_is_by_the_rule():
    # SHA-1 of http://example.com/ begins with 9c17e047f58f9220: j = 0x9220 & 0x3fff, w has its highest bit set.
    registers = sketch_of("http://example.com/").registers
    assert (registers[4640], sum(registers)) == (1, 1)
    assert sketch_of("http://example.com/", "http://example.com/").registers == registers


def test_estimate_of_one_is_that_of_linear_counting():
    assert sketch_of("http://example.com/").card == 1.0000305188197178
    assert Sketch().card == 0


def test_sketches_of_parts_make_that_of_the_whole():
    texts = [f"http://e.org/{number}" for number in range(300)]
    both = sketch_of(*texts[:200]).union(sketch_of(*texts[100:]))
    assert both.registers == sketch_of(*texts).registers


@needs_data
def test_estimates_in_all_ranges_are_those_of_hyperloglog():
    for entry in json.loads(shared("statistics/published/cards.json").read_text()):
        kind = entry["kind"]
        urls = (f"https://h{i % 97}.example.com/{kind}/{i}" + ("/é" if i % 7 == 0 else "") for i in range(entry["n"]))
        sketch = sketch_of(*urls)
        assert hashlib.sha256(json.dumps(list(sketch.registers)).encode()).hexdigest() == entry["registers"]
        assert sketch.card == pytest.approx(entry["card"], rel=1e-9)


def test_published_lines_are_read_in_any_spelling():
    registers = list(sketch_of("a").registers)
    text = json.dumps({"__type__": "HyperLogLog", "M": registers})
    lines = ['["url","x"]\t1', f'["size_estimate", "url", "CC-MAIN-2024-10"]\t {text}', '["size_estimate_for","x"]\t{}']
    found = read_sketches(line.replace("/", "\\/").encode() for line in lines)
    assert {key: list(sketch.registers) for key, sketch in found.items()} == {("url", "CC-MAIN-2024-10"): registers}
    for broken in ('{"M":[1]}', '{"M":null}', json.dumps({"M": [52] * 16384}), "x"):
        with pytest.raises(ValueError, match=r"sketch|Expecting"):
            read_sketches([f'["size_estimate","url","c"]\t{broken}'.encode()])


def test_crawls_are_compared_by_their_union():
    first, second = sketch_of("a", "b", "c"), sketch_of("c", "d")
    assert {tuple(key): value for key, value in compared("url", {"A": first}, {"B": second})} == {
        ("overlap", "url", "A", "B"): {"intersection": 1, "union": 4, "jaccard": 0.25},
        ("cumulative", "url", "A"): {"size": 3, "new": 3},
        ("cumulative", "url", "B"): {"size": 4, "new": 1},
    }
