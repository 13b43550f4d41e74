"""What pages say in structured data, as declared, against what `structured_data` extracts from the crawl's files."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict

import pyoxigraph
import pytest
from tests.mr.helpers import run_here

from crawlmill.jobs.structured_data import StructuredData
from crawlmill.sample import write_sample
from crawlmill.sample.dice import Dice
from crawlmill.sample.pages import PageMaker
from crawlmill.sample.text.fragments import Template, fill
from crawlmill.sample.text.prose import Phrase, lexicon
from crawlmill.sample.text.triples import Triple
from crawlmill.sample.text.vocabulary import LANGUAGES

PAGES, SEED = 150, 3


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """The answers, and what the job finds: the lines by page."""
    folder = tmp_path_factory.mktemp("triples")
    write_sample(folder / "crawl", pages=PAGES, files=2, seed=SEED, formats=("warc",))
    out = folder / "out"
    listed = folder / "crawl/crawl-data/CC-SAMPLE-2026-01/warc.paths.gz"
    assert run_here(StructuredData, "-r", "inline", listed, "--output-dir", out).code == 0
    lines = b"".join(gzip.decompress(part.read_bytes()) for part in sorted(out.glob("part-*.nq.gz")))
    pages = defaultdict(list)
    for line in lines.decode().splitlines():
        triple, _, graph = line.removesuffix(" .").rpartition(" ")
        pages[graph[1:-1]].append(f"{triple} .")
    return json.loads((folder / "crawl/answers.json").read_text(encoding="utf-8")), pages


def canonical(triples: list[str]) -> set[pyoxigraph.Quad]:
    """The graph of these lines, with its blank nodes named as RDF Dataset Canonicalization names them."""
    dataset = pyoxigraph.Dataset(pyoxigraph.parse("\n".join(triples), format=pyoxigraph.RdfFormat.N_TRIPLES))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return set(dataset)


def test_pages_say_what_they_declare_and_nothing_else(crawl):
    _, found = crawl
    declared = {}
    # The first page of each file has text, whatever its shape.
    maker = PageMaker(SEED, frozenset((0, PAGES // 2)))
    for number in range(PAGES):
        page = maker.page(number, 0)
        triples = page.document.triples() if page.document else ()
        if triples:
            of_page = (page.address.url if each.subject == "<>" else each.subject for each in triples)
            declared[page.address.url] = [
                f"{subject if subject[:2] == '_:' else f'<{subject}>'} {each.predicate} {each.object} ."
                for subject, each in zip(of_page, triples, strict=True)
            ]
    assert found.keys() == declared.keys()
    assert {len(triples) for triples in declared.values()} > {1, 6}
    for url, triples in declared.items():
        assert canonical(found[url]) == canonical(triples), url


def test_answers_count_triples_by_predicate(crawl):
    answers, found = crawl
    counts = Counter(line.split(" ", 2)[1][1:-1] for lines in found.values() for line in lines)
    assert dict(answers["triples"]) == counts
    assert len(counts) == 7


def test_slots_of_triples_are_filled_and_escaped():
    declared = (Triple("rdfa", "<>", "<p:q>", '"a [[title]]"@[[lang]]'), Triple("rdfa", "_:b", "<p:r>", "<[[here]]>"))
    template = Template("<p>", "p", triples=declared)
    given = {"here": Phrase("http://a/?b&c", ()), "title": Phrase('x "y" \\ z\n', ()), "lang": Phrase("tr", ())}
    fragment = fill(template, lexicon(LANGUAGES[0][1], "UTF-8"), Dice(1), given)
    assert fragment.triples == (
        Triple("rdfa", "<>", "<p:q>", '"a x \\"y\\" \\\\ z\\n"@tr'),
        Triple("rdfa", "_:b", "<p:r>", "<http://a/?b&c>"),
    )
