"""JSON-LD in the scripts of a page, as RDF.

Each `<script type="application/ld+json">` is a document of its own, relative to the page's base, with its own blank
nodes; its named graphs are merged into that of the page. A broken one does not affect others. Contexts are never
fetched: schema.org's is built in, and a document that names any other is left out, as `unknown-context`.

Spec: JSON-LD 1.1, https://www.w3.org/TR/json-ld11/, section 7 for HTML. Documents are expanded by Oxigraph, whose time
grows with the square of the nesting depth of nodes, so depth is limited first; so is the length of chains of terms in a
context that are defined by each other, which it follows recursively.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from crawlmill.analysis.structured.page import Page
from crawlmill.analysis.structured.quads import MAX_DEPTH, TooMuchError, Triples
from crawlmill.analysis.structured.schema_org import is_schema_org, is_term, schema_org_context
from crawlmill.analysis.structured.terms import iri, literal

__all__ = ["add_json_ld"]

_TYPE: Final = re.compile(r"[ \t\n\f\r]*application/ld\+json[ \t\n\f\r]*(?:;|\Z)", re.IGNORECASE)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MAX_DEFINED: Final = 2_000_000
"""Definitions of terms, times the contexts that each of them may be copied into."""

# Numbers keep their spelling while a document is modified: placeholders stand for them that occur in no text.
_MARK: Final = "\ufdd0"
_MARKED: Final = re.compile(f'"{_MARK}([^"]*){_MARK}"')
_LOST: Final = "\ufdd1"
_MAX_PLAIN_DIGITS: Final = 15


class _UnknownContextError(Exception):
    """A document names a context that is not built in."""


def add_json_ld(page: Page, triples: Triples) -> None:
    """Add the triples of all scripts of a page; counts what cannot be used in `triples.skipped`."""
    for branch in page.branches("script[type]"):
        if _TYPE.match(branch.element.attr("type")) is None:
            continue
        text = branch.element.text
        if not text.strip():
            continue
        before = len(triples)
        try:
            _add_document(text, page.base, triples)
        except TooMuchError as error:  # triples of the scripts before it are kept
            triples.keep(before)
            triples.skipped[error.reason] += 1
        except _UnknownContextError:
            triples.skipped["unknown-context"] += 1
        except RecursionError:
            triples.skipped["too-deep"] += 1
        except (ValueError, SyntaxError):
            triples.skipped["bad-json-ld"] += 1


def _add_document(text: str, base: str, triples: Triples) -> None:
    """Add the triples of a document. Raises: ValueError, SyntaxError: It is not valid; and as `add_json_ld`."""
    triples.charge(len(text))
    if _MARK in text or _LOST in text:
        text = text.replace(_MARK, "\ufffd").replace(_LOST, "\ufffd")
    document = json.loads(text, parse_float=_marked, parse_int=_whole, parse_constant=_no_number)
    if not isinstance(document, dict | list):
        raise SyntaxError("neither an object nor a list")  # noqa: TRY004 - an error of the document, not of the caller
    found = _Survey(triples)
    found.look_at(document)
    if found.changed or "\\u" in text:
        names = found.names
        for place, key in found.schema_org:
            place[key] = schema_org_context(names)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        text = _SURROGATE.sub(_LOST, _MARKED.sub(r"\1", text))
    named: dict[str, str] = {}

    def term(node: Any) -> str | None:
        if isinstance(node, NamedNode):
            return iri(node.value)
        if isinstance(node, BlankNode):
            if node.value not in named:
                named[node.value] = triples.node()
            return named[node.value]
        if not isinstance(node, Literal) or _LOST in node.value:
            return None
        return literal(
            node.value, language=node.language or "", datatype=node.datatype.value if not node.language else ""
        )

    for quad in _quads(text, base):
        subject, predicate = term(quad.subject), quad.predicate
        triples.add(subject, iri(predicate.value) if isinstance(predicate, NamedNode) else None, term(quad.object))


def _quads(text: str, base: str) -> list[Quad]:
    """Expand a document. Raises: SyntaxError: It is not valid.

    A datatype or an `@base` that is no IRI makes Oxigraph refuse the whole document, unless it is lenient. It then
    ignores such a base, and terms that are not valid are left out here, as it does itself otherwise.
    """
    try:
        return list(parse(text, format=RdfFormat.JSON_LD, base_iri=base))
    except SyntaxError:
        quads = list(parse(text, format=RdfFormat.JSON_LD, base_iri=base, lenient=True))
    return [quad for quad in quads if all(map(_is_valid, (quad.subject, quad.predicate, quad.object)))]


def _is_valid(term: Any) -> bool:
    """Whether the IRI of a term, or of its datatype, is one."""
    named = term.datatype if isinstance(term, Literal) else term
    if isinstance(named, NamedNode):
        try:
            NamedNode(named.value)
        except ValueError:
            return False
    return True


class _Survey:
    """What a document uses: names and contexts; and its cost.

    Attributes:
        names: Keys, the prefixes of texts, and texts that are terms of schema.org's context, such as types.
        schema_org: Where the address of schema.org's context is: an object or list, and the key or index in it.
    """

    def __init__(self, triples: Triples) -> None:
        self._triples = triples
        self.names: set[str] = set()
        self.schema_org: list[tuple[Any, Any]] = []
        self._defined = self._contexts = self._objects = self._chained = 0
        self._scoped = False

    @property
    def changed(self) -> bool:
        """Whether the document must be modified before it is passed on."""
        return bool(self.schema_org)

    def look_at(self, document: Any) -> None:
        """Examine a document.

        Raises:
            _UnknownContextError, RecursionError: A context is unknown; the document is nested too deeply.
            TooMuchError: It costs too much.
        """
        pending: list[tuple[Any, int, bool]] = [(document, 0, False)]
        while pending:
            value, depth, in_context = pending.pop()
            if depth > MAX_DEPTH:
                raise RecursionError
            self._triples.step(1 + depth)
            if isinstance(value, dict):
                self._objects += 1
                for key, inner in value.items():
                    self._name(key)
                    if key == "@context":
                        self._context(value, key, inner)
                        self._chain(inner, in_context=in_context)
                        self._scoped = self._scoped or in_context
                        pending.append((inner, depth + 1, True))
                    elif key == "@import" and in_context:
                        raise _UnknownContextError
                    elif isinstance(inner, dict | list):
                        pending.append((inner, depth + 1, in_context))
                    elif isinstance(inner, str):
                        self._prefix(inner)
                self._defined += len(value) if in_context else 0
            elif isinstance(value, list):
                for inner in value:
                    if isinstance(inner, dict | list):
                        pending.append((inner, depth + 1, in_context))
                    elif isinstance(inner, str):
                        self._prefix(inner)
        copies = self._objects if self._scoped else self._contexts
        if copies * self._defined > _MAX_DEFINED:
            raise TooMuchError("too-large")

    def _name(self, key: str) -> None:
        self.names.add(key)
        self._prefix(key)

    def _prefix(self, text: str) -> None:
        prefix, colon, _ = text.partition(":")
        if colon or is_term(text):
            self.names.add(prefix)

    def _context(self, place: Any, key: Any, value: Any) -> None:
        self._contexts += 1
        if isinstance(value, str):
            if not is_schema_org(value):
                raise _UnknownContextError
            self.schema_org.append((place, key))
        elif isinstance(value, list):
            for number, each in enumerate(value):
                if isinstance(each, str):
                    self._context(value, number, each)

    def _chain(self, value: Any, *, in_context: bool) -> None:
        """Examine how long chains of terms are that are defined by each other; nested contexts count together."""
        for context in value if isinstance(value, list) else [value]:
            if isinstance(context, dict):
                length = _longest_chain(context)
                self._chained += length if in_context else 0
                if max(length, self._chained) > MAX_DEPTH:
                    raise RecursionError


def _longest_chain(context: dict[str, Any]) -> int:
    """The number of terms of a context that are defined one by another, without the first of them.

    Terms defined in a circle count, too.
    """
    users: dict[str, list[str]] = {}
    needs: dict[str, int] = {}
    for term, definition in context.items():
        texts = definition.values() if isinstance(definition, dict) else (definition,)
        for text in {term, *(each for each in texts if isinstance(each, str))}:
            for name in {text, text.partition(":")[0]}:
                if name != term and name in context:
                    users.setdefault(name, []).append(term)
                    needs[term] = needs.get(term, 0) + 1
    ready = [name for name in users if name not in needs]
    length = 0
    while ready:
        following = []
        for name in ready:
            for term in users.get(name, ()):
                needs[term] -= 1
                if not needs[term]:
                    del needs[term]
                    following.append(term)
        ready = following
        length += bool(ready)
    return length + len(needs)


def _marked(digits: str) -> str:
    return f"{_MARK}{digits}{_MARK}"


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_PLAIN_DIGITS else _marked(digits)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
