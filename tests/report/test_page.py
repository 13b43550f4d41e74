"""The page: what it shows, and what it never does."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from tests.report.conftest import RUN, Page, row

from crawlmill.report.data import gather
from crawlmill.report.page import charts
from crawlmill.report.page.render import MAX_PAGE, render
from crawlmill.storage import Storage

SECTIONS = ["top", "distribution", "inputs", "losses", "throughput", "ledger", "run"]
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--<script>",
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "\u202egnp.exe",
    "a\u2066b\u200f",
    "tab\there",
    "\u2028between\u2029",
    "half \ud800 a character",
    "W" * 10_000,
    "漢" * 3000,
    "nginx",
    "",
]


def made(folder, **more):
    return render(gather(str(folder), Storage(), **{"top": 50, **more}))


def test_sections_are_named_and_have_headings(folder):
    page = Page(made(folder(pairs=[["div", 5], ["a", 3]])))
    assert [attrs["id"] for tag, attrs in page.elements if tag == "section"] == SECTIONS
    assert [tag for tag, _ in page.headings if tag != "title"] == ["h1"] + ["h2"] * len(SECTIONS)
    assert page.headings[0] == (
        "title",
        "tag_count: 8 counted, under 2 keys, from 3 inputs, of which 1 partial and 1 failed.",
    )
    assert sum(tag == "main" for tag, _ in page.elements) == 1
    assert sum(tag == "caption" for tag, _ in page.elements) == sum(tag == "table" for tag, _ in page.elements) == 5


def test_numbers_are_shown_for_people_and_for_programs(folder):
    page = Page(made(folder(pairs=[["div", 1234567], ["a", 3]])))
    assert page.tables["top"][1:] == [["div", "1,234,567", "100.0%", ""], ["a", "3", "0.0%", ""]]
    values = [attrs["value"] for tag, attrs in page.elements if tag == "data"]
    assert {"1234567", "3", "15", "3000"} <= set(values)
    assert page.tables["losses"][1:] == [
        ["bad-checksum", "2", "the data is not what was written: its checksum differs"],
        ["not-found", "1", "nothing is there"],
        ["truncated", "1", "the data ends too soon"],
    ]
    assert page.tables["ledger"][1] == ["b.warc.gz", "failed", "–", "0", "0 B", "not-found 1 gone"]
    assert "it's a list.paths" not in page.texts["run"]  # as a shell takes it
    assert """'it'"'"'s a list.paths'""" in page.texts["run"]


def test_bars_are_as_long_as_their_numbers(folder):
    page = Page(made(folder(pairs=[["a", 400], ["b", 100], ["c", 0]])))
    assert [attrs["width"] for _, attrs in page.elements if "data-bar" in attrs] == ["100.000%", "25.000%", "0.000%"]


def test_the_same_folder_gives_the_same_bytes_wherever_it_is(folder):
    first, second = (folder(name, [["b", 1], ["a", 1]]) for name in ("one", "two"))
    assert made(first) == made(first) == made(second)


def test_the_policy_allows_nothing_but_what_is_in_the_page(folder):
    text = made(folder(pairs=[["a", 1]])).decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind, pattern in (("style-src", "<style>(.*?)</style>"), ("script-src", "<script>(.*?)</script>")):
        (inline,) = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"
    page = Page(text.encode())
    assert not [attrs for _, attrs in page.elements if "style" in attrs or any(name.startswith("on") for name in attrs)]
    assert not [attrs for tag, attrs in page.elements if "src" in attrs or tag in ("link", "img", "iframe", "base")]
    assert all(attrs["href"].startswith("#") for _, attrs in page.elements if "href" in attrs)


def test_hostile_keys_names_and_messages_are_text(folder):
    rows = [row(name[:300], "failed", 0, 0, {"denied": 1}, name) for name in HOSTILE]
    run = {**RUN, "job": HOSTILE[0], "arguments": HOSTILE}
    out = folder(pairs=[[name.encode("utf-8", "backslashreplace").decode(), 1] for name in HOSTILE], rows=rows, run=run)
    page = Page(made(out, other=str(out)))
    harmless = Page(made(folder("b", [["a", 1]] * len(HOSTILE), rows=rows[-2:-1] * len(HOSTILE)), other=str(out)))
    tags = {tag for tag, _ in page.elements}
    assert tags <= {tag for tag, _ in harmless.elements} | {"span", "p"}
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    found = page.json()
    assert {key for key, _ in found["results"]["top"]} >= set(HOSTILE) - {HOSTILE[9]}
    shown = "".join(page.texts.values())
    assert not re.search("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x09\ud800-\udfff]", shown)
    assert r"\u202egnp.exe" in shown
    assert r"tab\u0009here" in shown
    assert all(len(cells[0]) <= 201 for cells in page.tables["top"])


def test_other_keys_are_shown_as_json(folder):
    page = Page(made(folder(pairs=[[None, 3], [["a", {"b": 1}], 2], [True, 1]])))
    assert [cells[0] for cells in page.tables["top"][1:]] == ["null", '["a", {"b": 1}]', "true"]


def test_a_page_is_below_a_megabyte_whatever_the_run(folder):
    rows = [row("x" * 3000 + str(n), "failed", 0, 0, {"denied": 1}, "m" * 5000) for n in range(700)]
    run = {**RUN, "arguments": ["long" * 1000] * 1000}
    out = folder(pairs=[["k" * 20_000 + str(n), n + 1] for n in range(300)], rows=rows, run=run)
    page = made(out, top=300)
    assert len(page) < MAX_PAGE
    found = Page(page).json()
    assert (found["results"]["lines"], found["ledger"]["rows"], found["shortened"]) == (300, 700, True)
    assert len(found["ledger"]["shown"]) >= 200
    assert len(found["results"]["rank_frequency"]) == 300
    assert b"to keep this page below a megabyte" in page


def test_an_unfinished_run_says_so(folder):
    assert b"This run is not finished" in made(folder(success=False))
    assert b"This run is not finished" not in made(folder("done"))


def test_what_is_not_known_is_said_in_every_section(folder):
    out = folder(rows=None, run=None, parts=[])
    (out / "_SUCCESS").touch()
    page = Page(made(out))
    for section, said in {
        "top": "no result lines",
        "distribution": "nothing to draw",
        "inputs": "not known",
        "losses": "not known",
        "throughput": "not known",
        "ledger": "_ledger.jsonl",
        "run": "no _run.json",
    }.items():
        assert said in page.texts[section], section
    assert "_ledger.jsonl: not there" in json.dumps(page.json()["problems"])


def test_a_folder_of_texts_shows_the_first_results(folder):
    page = Page(made(folder(pairs=[["http://e.org/", "some text"]])))
    assert page.tables["top"][1:] == [['"http://e.org/"', '"some text"']]


def test_groups_and_pictures_have_headings_of_their_own(folder):
    pairs = [[["status", 200], 7], [["mime", "text/html"], 5]]
    page = Page(made(folder(pairs=pairs)))
    assert [text for tag, text in page.headings if tag == "h3"] == ["mime", "status"]
    assert page.tables["groups"][1] == ["text/html", "5", "100.0%", ""]


def test_a_comparison_shows_both_numbers_and_the_difference(folder):
    here, there = folder("here", [["a", 5], ["b", 1000]]), folder("there", [["a", 2000]])
    page = Page(made(here, other=str(there)))
    assert page.tables["compare"][1:] == [["a", "5", "2,000", "−1,995", ""], ["b", "1,000", "–", "+1,000", ""]]
    bars = [attrs["width"] for _, attrs in page.elements if "data-bar" in attrs]
    assert bars[:2] == ["100.000%", "50.125%"]


@pytest.mark.parametrize(("last", "ticks"), [(1, 6), (2, 5), (3, 4), (7, 4), (10, 6), (99, 5), (36_000, 6), (0.3, 4)])
def test_axes_have_few_round_ticks(last, ticks):
    drawn = charts.by_time("name", [(0, 0), (last, 5)], "records")
    assert drawn.count('class="x"') == ticks


def test_logarithmic_axes_hold_all_their_points():
    drawn = charts.log_log("name", [[(1, 1), (1000, 1000)]], "rank", "number")
    assert 'd="M0.0 1000.0h0M1000.0 0.0h0"' in drawn
    assert [label for label in ("1", "10", "100", "1k") if f">{label}</text>" in drawn] == ["1", "10", "100", "1k"]
