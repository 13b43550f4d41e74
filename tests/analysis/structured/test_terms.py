"""Terms of N-Quads, and references, by the examples of their specifications."""

from __future__ import annotations

import doctest

import pytest
from pyoxigraph import RdfFormat, parse

from crawlmill.analysis.structured import terms, values
from crawlmill.analysis.structured.rdfa import iris
from crawlmill.analysis.structured.rdfa.iris import resolve_iri
from crawlmill.analysis.structured.statistics import PageCounter, totals


@pytest.mark.parametrize("module", [terms, values, iris])
def test_examples_hold(module):
    assert doctest.testmod(module).failed == 0


def test_texts_come_back_from_another_reader_as_they_were():
    text = "".join(map(chr, range(0x100))) + '\u2028\u2029\ufffe\U0001f642\\u0041"'
    line = f"<x:s> <x:p> {terms.literal(text)} .\n"
    assert line.count("\n") == 1
    assert "\t" not in line
    assert "\r" not in line
    (triple,) = parse(line, format=RdfFormat.N_TRIPLES)
    assert triple.object.value == text


@pytest.mark.parametrize("text", ["a", "//a/", "http://a b", "x:{", "x:<", "x:\\", "x:\x00", "x:\x85", "x:\ud800", ""])
def test_what_is_no_absolute_iri_is_no_term(text):
    assert terms.iri(text) is None


# RFC 3986, section 5.4
@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
    ],
)
def test_references_are_resolved_as_the_rfc_shows(reference, target):
    assert resolve_iri("http://a/b/c/d;p?q", reference) == target


def test_statistics_count_pages_hosts_domains_and_entities_once_each():
    kind = f"{terms.RDF_TYPE} <x:C>"
    counts = PageCounter()
    for uri, lines in (
        ("http://a.example.org/1", [f"_:1 {kind} <g> .", f"_:2 {kind} <g> .", '_:1 <x:p> "v" <g> .']),
        ("http://a.example.org/2", [f"_:3 {kind} <g> ."]),
        ("https://b.example.org:81/", [f"_:4 {kind} <g> ."]),
        ("http://192.0.2.1/", ['_:5 <x:p> "v" <g> .', '_:5 <x:p> "w" <g> .']),
    ):
        counts.add(uri, {"rdfa": lines})
    found = dict(totals(sorted(line for _, line in counts.drain())))
    assert found == {
        '["format","rdfa"]': {"pages": 4, "hosts": 3, "domains": 2, "triples": 7},
        '["class","rdfa","x:C"]': {"pages": 3, "entities": 4},
        '["property","rdfa","x:p"]': {"pages": 2, "entities": 2},
        f'["property","rdfa","{terms.RDF_TYPE[1:-1]}"]': {"pages": 3, "entities": 4},
    }
    assert len(counts) == 0
