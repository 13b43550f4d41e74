"""Property copying: properties of an `rdfa:Pattern` are copied to all subjects that `rdfa:copy` it; then it is removed.

Spec: HTML+RDFa 1.1, section 3.5.
"""

from __future__ import annotations

from typing import Final

from crawlmill.analysis.structured.quads import Triples
from crawlmill.analysis.structured.terms import RDF_TYPE

__all__ = ["copy_properties"]

_COPY: Final = "<http://www.w3.org/ns/rdfa#copy>"
_PATTERN: Final = "<http://www.w3.org/ns/rdfa#Pattern>"


def copy_properties(triples: Triples, first: int) -> None:
    """Copy the properties of patterns.

    Args:
        triples: The triples of a page.
        first: The number of leading triples that are not from RDFa.

    Raises:
        TooMuchError: There are too many copies.
    """
    every = list(triples)
    others, found = every[:first], dict.fromkeys(every[first:])
    patterns = {subject for subject, name, value in found if name == RDF_TYPE and value == _PATTERN}
    copies = [(subject, value) for subject, name, value in found if name == _COPY and value in patterns]
    if not copies:
        return
    grown = True
    while grown:
        grown = False
        by_pattern: dict[str, list[tuple[str, str]]] = {}
        for subject, name, value in found:
            if subject in patterns and (name, value) != (RDF_TYPE, _PATTERN):
                by_pattern.setdefault(subject, []).append((name, value))
        for subject, pattern in list(copies):
            for name, value in by_pattern.get(pattern, ()):
                triples.step()
                if (subject, name, value) not in found:
                    found[subject, name, value] = None
                    triples.charge(len(subject) + len(value))
                    grown = True
                    if name == _COPY and value in patterns:
                        copies.append((subject, value))
    taken = set(copies)
    copied = {pattern for _, pattern in copies}
    kept = [
        (subject, name, value)
        for subject, name, value in found
        if subject not in copied and not (name == _COPY and (subject, value) in taken)
    ]
    triples.replace([*others, *kept])
