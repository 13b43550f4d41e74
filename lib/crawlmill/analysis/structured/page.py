"""A page for the readers of structured data: its HTML tree, its base URL, and the language of its elements.

Readers need few of a page's elements. `branches` returns only these, as a tree of their own, so that the rest of the
page is never traversed in Python, however deep it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from turbohtml import Document, parse

from crawlmill.analysis.structured.terms import iri
from crawlmill.urls.standard import Resolver

__all__ = ["BLANKS", "Branch", "Page", "names_in", "text_nodes", "text_of"]

BLANKS: Final = " \t\n\f\r"
"""The blanks of HTML: others, such as no-break spaces, are part of a value."""

_NAMES: Final = re.compile(f"[^{BLANKS}]+")
_WRITTEN: Final = re.compile(r"(?:https?|wss?|ftp)://[^/\\]|(?!(?:https?|wss?|ftp|file):)", re.IGNORECASE)


def names_in(value: str | None) -> list[str]:
    """Split the value of an attribute, if there is one, at the blanks of HTML."""
    return _NAMES.findall(value) if value else []


def text_of(element: Any, step: Callable[[], None]) -> str:
    """The text content of an element (DOM, "descendant text content"), without the contents of templates.

    Args:
        element: The element.
        step: Called for each node that is visited here, to limit their number.
    """
    if element.tag != "template" and element.select_one("template") is None:
        return str(element.text)
    return "".join(node.text for node in text_nodes(element, step) if type(node).__name__ == "Text")


def text_nodes(element: Any, step: Callable[[], None]) -> Iterator[Any]:
    """Yield the texts and elements below an element in document order, without the contents of templates.

    `step` is called for each node that is visited.
    """
    pending = [iter(element.children)]
    while pending:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
            continue
        step()
        kind = type(node).__name__
        if kind in ("Text", "Element"):
            yield node
        if kind == "Element":
            pending.append(iter(node.children))


class Branch:
    """A selected element, and the selected ones below it, in document order; `parent` is the nearest one above."""

    __slots__ = ("children", "depth", "element", "parent")

    def __init__(self, element: Any, parent: Branch | None) -> None:
        self.element, self.parent = element, parent
        self.children: list[Branch] = []
        self.depth: int = 0 if parent is None else parent.depth + 1
        if parent is not None:
            parent.children.append(self)


class Page:
    """A page's tree.

    Args:
        text: The page, decoded.
        uri: The URI of the page, absolute.
    """

    def __init__(self, text: str, uri: str) -> None:
        self.uri = uri
        self.document: Document = parse(text, positions=False)
        self._languages: dict[Any, str] = {}

    @cached_property
    def base_href(self) -> str | None:
        """The value of the first `<base href>` that is part of the page; None if there is none."""
        found = self.branches("base[href]")
        return str(found[0].element.attr("href")) if found else None

    @cached_property
    def resolver(self) -> Resolver:
        """The resolver for the page's references."""
        return Resolver(self.uri, self.base_href)

    @cached_property
    def base(self) -> str:
        """The URL that references are relative to."""
        return self.uri if self.base_href is None else str(self.resolver.base or self.uri)

    def resolve(self, reference: str) -> str | None:
        """Resolve a reference as browsers do; None if it is not valid.

        An absolute IRI stays as written.
        """
        url = self.resolver.resolve(reference)
        written = reference.strip(BLANKS)
        return written if url is not None and _WRITTEN.match(written) and iri(written) else url

    def language(self, element: Any) -> str:
        """The language of an element, from the nearest `lang` (or `xml:lang`); "" if there is none."""
        known, climbed = self._languages, []
        found = ""
        while element is not None:
            if element in known:
                found = known[element]
                break
            climbed.append(element)
            attr = getattr(element, "attr", None)
            if attr is None:
                break  # the document
            given = attr("lang")
            given = attr("xml:lang") if given is None else given
            if given is not None:
                found = given.strip(BLANKS)
                break
            element = element.parent
        for each in climbed:
            known[each] = found
        return found

    def branches(self, selector: str, also: Callable[[Any], bool] | None = None) -> list[Branch]:
        """The elements that match a selector, and ancestors that `also` accepts, as trees, in document order.

        Elements in a `<template>` are not part of the page, and left out.
        """
        return _grow(self.document.select(selector), also)


def _grow(elements: Iterable[Any], also: Callable[[Any], bool] | None) -> list[Branch]:
    roots: list[Branch] = []
    nearest: dict[Any, Branch | None] = {}  # the branch that an element is or belongs to
    hidden: set[Any] = set()
    for element in elements:
        chain, above = [element], element.parent
        out_of_sight = False
        while above is not None and above not in nearest:
            if above in hidden or type(above).__name__ == "DocumentFragment":
                out_of_sight = True
                break
            chain.append(above)
            above = above.parent
        if out_of_sight:
            hidden.update(chain)
            continue
        branch = None if above is None else nearest[above]
        for each in reversed(chain):
            wanted = each is element or (also is not None and hasattr(each, "attrs") and also(each))
            if wanted:
                branch = Branch(each, branch)
                if branch.parent is None:
                    roots.append(branch)
            nearest[each] = branch
    return roots
