r"""What pages say about themselves in structured data, declared beside the markup that says it.

The terms of a triple are written as in N-Triples, its object with slots of the template: `<>` is the page's own URL,
and a blank node such as `_:product` is another one each time the template is filled. RDFa and microdata take values
without their character references, JSON-LD as they are in the script; templates take care that it is the same.

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
    """A triple, and the format that says it: `microdata`, `rdfa` or `json-ld`."""

    format: str
    subject: str
    predicate: str
    object: str

    def filled(self, fill: Callable[[str], str]) -> Triple:
        """The triple with its slots filled; what a literal's slots hold is escaped."""
        literal = _LITERAL.fullmatch(self.object)
        if literal is None:
            term = fill(self.object)
        else:
            term = f'"{fill(literal[1]).translate(_ESCAPES)}"{fill(literal[2] or "")}'
        return Triple(self.format, self.subject, self.predicate, term)


def numbered(fragments: Iterable[Iterable[Triple]]) -> Iterator[Triple]:
    """The triples of all fragments of a page, the blank nodes of each fragment told apart by its number."""
    for number, triples in enumerate(fragments):
        for triple in triples:
            subject, term = (
                f"{each}{number}" if each.startswith("_:") else each for each in (triple.subject, triple.object)
            )
            yield Triple(triple.format, subject, triple.predicate, term)
