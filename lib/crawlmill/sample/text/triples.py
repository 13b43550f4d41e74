r"""The triples in pages' structured data, declared next to the markup that expresses them.

Terms are written as in N-Triples, objects with slots of the template: `<>` is the page's own URL, and a blank node such
as `_:product` is a new one each time the template is filled. In RDFa and microdata, character references in values are
decoded, in JSON-LD they are not; templates are written so that the values are the same.

Spec: RDF 1.1 N-Triples, https://www.w3.org/TR/n-triples/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

__all__ = ["RDF_TYPE", "Triple", "numbered"]

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

_LITERAL = re.compile(r'"(.*)"(@.+)?', re.DOTALL)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple, and the format that expresses it: `microdata`, `rdfa` or `json-ld`."""

    format: str
    subject: str
    predicate: str
    object: str

    def filled(self, fill: Callable[[str], str]) -> Triple:
        """The triple with its slots filled; slot values in literals are escaped."""
        literal = _LITERAL.fullmatch(self.object)
        if literal is None:
            term = fill(self.object)
        else:
            term = f'"{fill(literal[1]).translate(_ESCAPES)}"{fill(literal[2] or "")}'
        return Triple(self.format, self.subject, self.predicate, term)


def numbered(fragments: Iterable[Iterable[Triple]]) -> Iterator[Triple]:
    """The triples of all fragments of a page, with blank nodes numbered by fragment."""
    for number, triples in enumerate(fragments):
        for triple in triples:
            subject, term = (
                f"{each}{number}" if each.startswith("_:") else each for each in (triple.subject, triple.object)
            )
            yield Triple(triple.format, subject, triple.predicate, term)
