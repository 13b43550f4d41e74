"""microformats2 as RDF, including classic microformats.

Each item is a blank node with its types, such as `h-card`; properties keep their names, without their prefix:

    _:b0 rdf:type m:h-card ; m:name "Mitchell Baker" ; m:url <http://blog.example/> ; m:children _:b1 .

A `u-` value is an IRI if it is an absolute URL; an `e-` value is its HTML (`rdf:HTML`); others are texts. Items inside
items are values of their properties, or `children` if they have none.

Spec: https://microformats.org/wiki/microformats2-parsing. There is no standard for its RDF form.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from crawlmill.analysis.structured.microformats.classes import CLASSIC, Vocabulary, item_types, properties
from crawlmill.analysis.structured.microformats.implied import implied_name, implied_photo, implied_url
from crawlmill.analysis.structured.microformats.values import text_value, time_value, url_value
from crawlmill.analysis.structured.page import BLANKS, Branch, Page, names_in
from crawlmill.analysis.structured.quads import MAX_DEPTH, TooMuchError, Triples
from crawlmill.analysis.structured.terms import RDF, RDF_TYPE, iri, literal

__all__ = ["add_microformats"]

_MF: Final = "http://microformats.org/wiki/microformats2#"
_CHILDREN: Final = f"<{_MF}children>"
_MODERN: Final = ",".join(f'[class*="{prefix}-"]:not(template)' for prefix in ("h", "p", "u", "dt", "e"))
_CLASSIC_ROOTS: Final = ",".join(f".{name}" for name in CLASSIC)
_REVIEWED: Final = {"fn": ("p", "name"), "url": ("u", "url"), "photo": ("u", "photo")}


@dataclass(slots=True)
class _Item:
    """An item to be read: its element, its subject, its types, and the meaning of classes inside it."""

    branch: Branch
    subject: str
    types: list[str]
    vocabularies: list[Vocabulary]
    depth: int = 0


@dataclass(slots=True)
class _Seen:
    """What was found for an item."""

    names: set[str] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    nested: bool = False
    date: str = ""
    reviewed: str | None = None


def add_microformats(page: Page, triples: Triples) -> None:
    """Add the triples of all items of a page.

    Raises:
        TooMuchError: Items are nested too deeply, or there are too many.
    """
    classic = page.document.select_one(_CLASSIC_ROOTS) is not None
    reader = _Reader(page, triples)
    pending = page.branches("[class]:not(template),[rel]:not(template)" if classic else _MODERN)[::-1]
    while pending:
        branch = pending.pop()
        if (item := reader.item_at(branch, 0)) is not None:
            reader.read(item)
        else:
            pending.extend(reversed(branch.children))


class _Reader:
    def __init__(self, page: Page, triples: Triples) -> None:
        self._page, self._triples = page, triples

    def item_at(self, branch: Branch, depth: int, kind: str = "") -> _Item | None:
        """The item that begins at an element; None if there is none, unless a type is given for it."""
        classes = names_in(branch.element.attr("class"))
        types = item_types(classes)
        vocabularies: list[Vocabulary] = []
        if not types:
            vocabularies = [CLASSIC[name] for name in dict.fromkeys(classes) if name in CLASSIC]
            types = sorted({each.type for each in vocabularies}) or ([kind] if kind else [])
        if not types:
            return None
        if depth > MAX_DEPTH:
            raise TooMuchError("too-deep")
        return _Item(branch, self._triples.node(), types, vocabularies, depth)

    def read(self, top: _Item) -> None:
        """Add the triples of an item, and of those inside it."""
        items = deque([top])
        while items:
            item = items.popleft()
            for kind in item.types:
                self._triples.add(item.subject, RDF_TYPE, iri(_MF + kind))
            seen = _Seen()
            pending = item.branch.children[::-1]
            while pending:
                branch = pending.pop()
                if branch.depth > MAX_DEPTH:
                    raise TooMuchError("too-deep")
                self._triples.step()
                inner = self._read_element(item, branch, seen)
                if inner is None:
                    pending.extend(reversed(branch.children))
                else:
                    items.append(inner)
            if not item.vocabularies:
                self._imply(item, seen)

    def _read_element(self, item: _Item, branch: Branch, seen: _Seen) -> _Item | None:
        """Add an element's properties of an item; returns the item that begins there, if any."""
        element = branch.element
        classes = names_in(element.attr("class"))
        if item.vocabularies:
            found, kind = _classic_properties(item.vocabularies, classes)
        else:
            found, kind = properties(classes), ""
        if kind == "h-item" and item_types(classes) == [] and not any(name in CLASSIC for name in classes):
            self._add_reviewed(item, element, classes, seen)
            return None
        inner = self.item_at(branch, item.depth + 1, kind)
        if inner is not None:
            seen.nested = True
            for prefix, name in found:
                seen.names.add(name)
                seen.prefixes.add(prefix)
                self._triples.add(item.subject, iri(_MF + name), inner.subject)
            if not found:
                self._triples.add(item.subject, _CHILDREN, inner.subject)
            return inner
        for prefix, name in found:
            self._add_property(item.subject, element, prefix, name, seen)
        if item.vocabularies:
            self._add_rels(item, element, seen)
        return None

    def _add_property(self, subject: str, element: Any, prefix: str, name: str, seen: _Seen) -> None:
        seen.names.add(name)
        seen.prefixes.add(prefix)
        if prefix == "u":
            self._add_url(subject, name, url_value(element, self._page, self._triples.step))
            return
        if prefix == "e":
            markup = element.inner_html.strip(BLANKS)
            self._triples.charge(len(markup))
            self._triples.add(subject, iri(_MF + name), literal(markup, datatype=f"{RDF}HTML"))
            return
        if prefix == "dt":
            value, seen.date = time_value(element, seen.date, self._triples.step)
        else:
            value = text_value(element, self._page, self._triples.step)
        self._add_text(subject, name, value)

    def _add_text(self, subject: str, name: str, value: str) -> None:
        self._triples.charge(len(value))
        self._triples.add(subject, iri(_MF + name), literal(value))

    def _add_url(self, subject: str, name: str, value: str) -> None:
        self._triples.add(subject, iri(_MF + name), iri(value) or literal(value))

    def _add_reviewed(self, item: _Item, element: Any, classes: list[str], seen: _Seen) -> None:
        """Add the reviewed item: in a classic review, name, URL and photo belong to it."""
        if seen.reviewed is None:
            seen.reviewed = self._triples.node()
            self._triples.add(item.subject, iri(f"{_MF}item"), seen.reviewed)
            self._triples.add(seen.reviewed, RDF_TYPE, iri(f"{_MF}h-item"))
        for old, (prefix, name) in _REVIEWED.items():
            if old in classes:
                self._add_property(seen.reviewed, element, prefix, name, _Seen())

    def _add_rels(self, item: _Item, element: Any, seen: _Seen) -> None:
        rels = names_in((element.attr("rel") or "").lower())
        href = element.attr("href")
        for vocabulary in item.vocabularies if rels and href else ():
            for rel, new in vocabulary.rels.items():
                if rel not in rels:
                    continue
                prefix, _, name = new.partition("-")
                if rel == "tag":  # the tag is the last part of the URL
                    parts = [part for part in (href or "").partition("?")[0].partition("#")[0].split("/") if part]
                    self._add_text(item.subject, name, unquote(parts[-1]) if parts else "")
                else:
                    self._add_property(item.subject, element, prefix, name, seen)

    def _imply(self, item: _Item, seen: _Seen) -> None:
        """Add the implied properties of an item."""
        element, subject = item.branch.element, item.subject
        if seen.nested:
            return
        if "name" not in seen.names and not seen.prefixes & {"p", "e"}:
            self._add_text(subject, "name", implied_name(element, self._triples.step))
        if "photo" not in seen.names and "u" not in seen.prefixes and (photo := implied_photo(element)) is not None:
            self._add_url(subject, "photo", self._page.resolve(photo) or photo)
        if "url" not in seen.names and "u" not in seen.prefixes and (url := implied_url(element)) is not None:
            self._add_url(subject, "url", self._page.resolve(url) or url)


def _classic_properties(vocabularies: list[Vocabulary], classes: list[str]) -> tuple[list[tuple[str, str]], str]:
    """The properties for classic classes, and the type of the item that is their value, if any."""
    found: dict[tuple[str, str], None] = {}
    kind = ""
    for vocabulary in vocabularies:
        for name in classes:
            if name in vocabulary.classes:
                new, inner = vocabulary.classes[name]
                prefix, _, local = new.partition("-")
                found[prefix, local] = None
                kind = kind or inner
    return list(found), kind
