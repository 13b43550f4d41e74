"""The suites of W3C, rdfa.info and microformats.org: every case, by graph."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.analysis.structured.graphs import graph, loose, said
from tests.data import shared


@pytest.mark.parametrize(("suite", "least"), [("microdata", 39), ("rdfa", 96), ("json-ld", 64), ("microformats2", 42)])
def test_every_case_gives_its_graph(suite, least):
    with gzip.open(shared("structured/cases.jsonl.gz"), "rt", encoding="utf-8", newline="\n") as source:
        cases = [case for case in map(json.loads, source) if case["suite"] == suite]
    assert len(cases) >= least
    read = loose if suite == "microformats2" else graph
    wrong = [
        case["id"]
        for case in cases
        if read(said(case["html"], case["url"], (suite,))) != read("\n".join(case["expect"]) + "\n")
    ]
    assert wrong == []
