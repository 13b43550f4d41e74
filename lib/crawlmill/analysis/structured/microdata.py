"""Microdata as RDF.

An item is a subject: the IRI of its `itemid`, or a blank node. Its properties belong to the vocabulary of its first
type; an item without a type uses that of the enclosing item. Values are items, URLs, numbers, times, or texts in a
language.

Vocabulary expansion and `itemprop-reverse`, which are optional, are not implemented.

Spec: Microdata to RDF (W3C, second edition), https://www.w3.org/TR/microdata-rdf/; HTML Living Standard, section 5.
"""

from __future__ import annotations

import re
from typing import Any, Final

from crawlmill.analysis.structured.page import Branch, Page, names_in, text_of
from crawlmill.analysis.structured.quads import MAX_DEPTH, TooMuchError, Triples
from crawlmill.analysis.structured.terms import RDF_TYPE, XSD, iri, is_absolute, literal
from crawlmill.analysis.structured.values import time_type

__all__ = ["add_microdata"]

_URL_ATTRIBUTES: Final = {
    "a": "href",
    "area": "href",
    "link": "href",
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "source": "src",
    "track": "src",
    "video": "src",
    "object": "data",
}
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def add_microdata(page: Page, triples: Triples) -> None:
    """Add the triples of all items of a page.

    Raises:
        TooMuchError: Items are nested too deeply, or there are too many.
    """
    reader = _Reader(page, triples)
    for branch in reader.items:
        if branch.element.attr("itemprop") is None:
            reader.add_item(branch)


class _Reader:
    def __init__(self, page: Page, triples: Triples) -> None:
        self._page, self._triples = page, triples
        referred = page.document.select_one("[itemref]") is not None
        roots = page.branches("[itemscope],[itemprop],[id]" if referred else "[itemscope],[itemprop]")
        self.items: list[Branch] = []
        self._by_id: dict[str, Branch] = {}
        pending = roots[::-1]
        while pending:
            branch = pending.pop()
            if branch.element.attr("itemscope") is not None:
                self.items.append(branch)
            if referred and (name := branch.element.attr("id")):
                self._by_id.setdefault(name, branch)
            pending.extend(reversed(branch.children))
        self._subjects: dict[Branch, str | None] = {}

    def add_item(self, top: Branch) -> None:
        """Add a top-level item and those inside it."""
        self._subject(top)
        pending = [(top, "", 0)]
        while pending:
            item, vocabulary, depth = pending.pop()
            if depth > MAX_DEPTH:
                raise TooMuchError("too-deep")
            element, add = item.element, self._triples.add
            subject = self._subjects[item]
            types = [name for name in names_in(element.attr("itemtype")) if is_absolute(name)]
            for name in types:
                add(subject, RDF_TYPE, iri(name))
            if types:
                vocabulary = _vocabulary(types[0])
            inner: list[Branch] = []
            for branch in self._properties(item):
                value = self._value(branch, inner)
                for name in dict.fromkeys(names_in(branch.element.attr("itemprop"))):
                    add(subject, self._predicate(name, vocabulary), value)
            pending.extend((branch, vocabulary, depth + 1) for branch in reversed(inner))

    def _subject(self, item: Branch) -> str | None:
        """The subject of an item that is seen for the first time."""
        given = item.element.attr("itemid")
        if given is None:
            subject: str | None = self._triples.node()
        else:
            url = self._page.resolve(given)
            subject = None if url is None else iri(url)
        self._subjects[item] = subject
        return subject

    def _properties(self, item: Branch) -> list[Branch]:
        """The elements with an item's properties, in tree order."""
        found: list[Branch] = []
        seen = {item}
        pending = item.children[::-1]
        references = names_in(item.element.attr("itemref"))
        for name in dict.fromkeys(references):
            if (branch := self._by_id.get(name)) is not None:
                pending.append(branch)
        while pending:
            branch = pending.pop()
            self._triples.step()
            if branch.depth > MAX_DEPTH:
                raise TooMuchError("too-deep")
            if branch in seen:
                continue
            seen.add(branch)
            if branch.element.attr("itemprop"):
                found.append(branch)
            if branch.element.attr("itemscope") is None:
                pending.extend(reversed(branch.children))
        return found

    def _predicate(self, name: str, vocabulary: str) -> str | None:
        if is_absolute(name):
            return iri(name)
        return iri(f"{vocabulary}{name}" if vocabulary else f"{self._page.base.partition('#')[0]}#{name}")

    def _value(self, branch: Branch, inner: list[Branch]) -> str | None:
        """The value of a property; a new item is also appended to `inner`."""
        element = branch.element
        if element.attr("itemscope") is not None:
            if branch not in self._subjects:
                self._subject(branch)
                inner.append(branch)
            return self._subjects[branch]
        tag = element.tag
        if tag in _URL_ATTRIBUTES:
            given = element.attr(_URL_ATTRIBUTES[tag])
            url = None if given is None else self._page.resolve(given)
            return None if url is None else iri(url)
        return self._text_value(element, tag)

    def _text_value(self, element: Any, tag: str) -> str | None:
        language = self._page.language(element)
        if tag == "meta":
            return literal(element.attr("content") or "", language=language)
        if tag in ("meter", "data"):
            value = element.attr("value") or ""
            if _INTEGER.fullmatch(value):
                return literal(value, datatype=f"{XSD}integer")
            if _FLOAT.fullmatch(value):
                return literal(value, datatype=f"{XSD}double")
            return literal(value, language=language)
        value = element.attr("datetime") if tag == "time" else None
        value = text_of(element, self._triples.step) if value is None else value
        self._triples.charge(len(value))
        kind = time_type(value) if tag == "time" else None
        return literal(value, datatype=kind) if kind else literal(value, language=language)


def _vocabulary(kind: str) -> str:
    """The prefix for names of properties, from an item's type."""
    start, mark, _ = kind.partition("#")
    return f"{start}#" if mark else kind[: kind.rfind("/") + 1] or kind
