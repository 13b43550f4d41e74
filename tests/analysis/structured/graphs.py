"""Reads what pages give as graphs, by another program, and compares graphs up to the names of blank nodes."""

from __future__ import annotations

from pyoxigraph import CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad, RdfFormat, parse

from crawlmill.analysis.structured.extract import extract
from crawlmill.analysis.structured.markup import FORMATS, formats_in
from crawlmill.analysis.structured.quads import node_prefix

MF = "http://microformats.org/wiki/microformats2#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def graph(text: str) -> set[str]:
    """The triples of N-Triples or N-Quads, without their graphs, blank nodes named canonically."""
    dataset = Dataset(Quad(*quad.triple) for quad in parse(text, format=RdfFormat.N_QUADS))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad.triple) for quad in dataset}


def loose(text: str) -> set[str]:
    """As `graph`; of classes and properties only the local names, of values only the text counts."""

    def local(node: NamedNode) -> NamedNode:
        return NamedNode("x:" + node.value.replace("#", "/").rpartition("/")[2])

    found = []
    for quad in parse(text, format=RdfFormat.N_QUADS):
        kind = quad.predicate.value == f"{RDF}type"
        value = quad.object
        if kind:
            value = local(value)
        elif isinstance(value, NamedNode | Literal):
            value = Literal(value.value.strip())
        found.append(str(Quad(quad.subject, NamedNode("x:type") if kind else local(quad.predicate), value)))
    return graph("".join(f"{each} .\n" for each in found))


def said(html: str, uri: str = "http://example.com/dir/page", formats: tuple[str, ...] = FORMATS) -> str:
    """The quads of a page, as the job finds them: what its filter lets go is not looked at."""
    wanted = formats_in(html.encode(), frozenset(formats))
    found = extract(html, uri, wanted, node_prefix(uri))
    assert found is not None
    return "".join(f"{line}\n" for lines in found.quads.values() for line in lines)


def skipped(html: str) -> dict[str, int]:
    """What could not be taken of a page."""
    found = extract(html, "http://example.com/", FORMATS, "_:b")
    assert found is not None
    return dict(found.skipped)
