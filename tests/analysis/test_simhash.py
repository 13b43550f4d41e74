"""The similarity hash of 2012, beside a plain loop, the values of the original Java classes, and the package simhash."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from simhash import Simhash
from tests.data import shared

from crawlmill.analysis import simhash
from crawlmill.analysis.simhash import package_simhash, text_simhash
from crawlmill.errors import MissingDependency

POLYNOMIAL = 0xD74307D3FD3382DB

# What the Java classes gave.
JAVA = {
    "": 0,
    "abc": 0,
    "abcde": 2748145790002434242,
    "abcdX": 4041206650182439948,
    " \t\r\n" * 50: 1801496475818525698,
    "caf\ufffd na\ufffdve r\ufffdsum\ufffd": -418450056495424437,
    "a\0b\1c\x7f\x80d\u2028e\ufffdf": -3961113390909367600,
    "😀😁😂🤣 𝒜𝒷𝒸 𠀀𠀁𠀂 text between 🚀🚀🚀": -5316747136795610437,
}


def fingerprint(window):
    """Bit by bit: each step multiplies by x, the highest bit being the lowest power."""
    state = POLYNOMIAL
    for byte in window:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (POLYNOMIAL if state & 1 else 0)
    return state


def plain(text):
    data = text.encode("utf-16-be", "surrogatepass")
    prints = [fingerprint(window) for window in {data[i : i + 8] for i in range(0, len(data) - 7, 2)}]
    number = sum(1 << bit for bit in range(64) if 2 * sum(word >> bit & 1 for word in prints) > len(prints))
    return number - 2**64 if number >> 63 else number


@pytest.fixture(params=["as it comes", "numpy", "tables", "numpy in pieces", "tables in pieces"])
def way(request, monkeypatch):
    """All ways to the hash."""
    return use(request.param, monkeypatch)


def use(way, patch):
    if way != "as it comes":
        patch.setattr(simhash, "_FEW_UNITS", 0 if "numpy" in way else 10**9)
    if "pieces" in way:
        patch.setattr(simhash, "_PIECE_UNITS", 3)


@pytest.mark.parametrize("text", JAVA, ids=repr)
def test_hash_is_that_of_the_java_classes(text, way):
    assert text_simhash(text) == JAVA[text] == plain(text)


def test_fingerprints_are_those_of_the_java_classes():
    vectors = json.loads(shared("legacy/simhash.json").read_text())["fp_std64"]
    assert len(vectors) > 5
    for vector in vectors:
        assert f"{fingerprint(bytes.fromhex(vector['bytes_hex'])):016x}" == vector["hex"]


def test_all_vectors_of_the_java_classes(way):
    vectors = [v for v in json.loads(shared("legacy/simhash.json").read_text())["vectors"] if "text" in v]
    assert len(vectors) > 10
    assert {v["name"]: text_simhash(v["text"]) for v in vectors} == {v["name"]: v["signed"] for v in vectors}


ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=60) | st.text("ab \ud83d\ude00😀é", max_size=200)


@settings(derandomize=True, database=None, max_examples=200, deadline=None)
@given(ANY_TEXT, st.sampled_from(["as it comes", "numpy", "tables", "numpy in pieces", "tables in pieces"]))
@example("abc\ud800", "tables")
@example("\U0010ffff" * 2, "numpy")
@example("ab" * 20, "numpy in pieces")
def test_every_way_gives_what_the_plain_loop_gives(text, way):
    with pytest.MonkeyPatch.context() as patch:
        use(way, patch)
        assert text_simhash(text) == plain(text)


def test_long_text_has_one_hash_with_and_without_numpy(monkeypatch):
    text = " ".join(f"{number * number % 7919:x}-{chr(0x4E00 + number % 3000)}" for number in range(20_000))
    whole = text_simhash(text)
    monkeypatch.setattr(simhash, "_PIECE_UNITS", 10_000)
    assert text_simhash(text) == whole
    monkeypatch.setattr(simhash, "_numpy", lambda: None)
    assert text_simhash(text) == whole


def test_byte_order_mark_and_case_count():
    assert len({text_simhash(text) for text in ("some text", "\ufeffsome text", "Some text")}) == 3


def package_by_hand(text):
    """The package's definition: weighted windows of four word characters, the last eight bytes of MD5, more than half."""
    kept = "".join(re.findall(r"[\w\u4e00-\u9fcc]+", text.lower()))
    windows = Counter(kept[i : i + 4] for i in range(max(len(kept) - 3, 1)))
    words = {int.from_bytes(hashlib.md5(window.encode()).digest()[-8:], "big"): n for window, n in windows.items()}
    return sum(
        1 << bit for bit in range(64) if 2 * sum(n for word, n in words.items() if word >> bit & 1) > windows.total()
    )


@pytest.mark.parametrize(
    "text", ["", "abc", "How are you? I am fine.", "Été 無線 İ test " * 200, "a" * 258, "lone \ud800 half", "?!"]
)
def test_package_hash_is_the_packages_own(text):
    assert package_simhash(text) == Simhash(text).value == package_by_hand(text)


@pytest.mark.parametrize("text", ["a" * 259, "a" * 1000 + "b c d e f" * 300, "0123456789" * 7_000])
def test_package_hash_of_windows_beyond_a_byte_follows_the_definition(text):
    assert package_simhash(text) == package_by_hand(text)


def test_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "simhash", None)
    with pytest.raises(MissingDependency, match="pip install simhash"):
        package_simhash("text")


def test_without_numpy_the_hash_is_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    simhash._numpy.cache_clear()
    try:
        assert simhash._numpy() is None
        assert text_simhash("abcde" * 100) == plain("abcde" * 100)
    finally:
        simhash._numpy.cache_clear()
