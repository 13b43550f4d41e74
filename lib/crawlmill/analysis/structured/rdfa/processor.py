"""RDFa 1.1 in HTML as RDF, including RDFa Lite.

Elements are processed as in section 7.5 of RDFa Core, whose steps are named below, with the additions of HTML+RDFa: the
first `<base>`, `head` and `body` as the page, `datetime` and `value`, `rel` with `property`, property copying.

Vocabulary expansion, the processor graph and `role` are not implemented: they do not concern the data of pages.

Spec: RDFa Core 1.1 (third edition), https://www.w3.org/TR/rdfa-core/; HTML+RDFa 1.1 (second edition),
https://www.w3.org/TR/html-rdfa/
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from crawlmill.analysis.structured.page import BLANKS, Branch, Page, names_in, text_of
from crawlmill.analysis.structured.quads import MAX_DEPTH, TooMuchError, Triples
from crawlmill.analysis.structured.rdfa.context import expand_curie, expand_name, read_prefixes
from crawlmill.analysis.structured.rdfa.copying import copy_properties
from crawlmill.analysis.structured.rdfa.iris import resolve_iri
from crawlmill.analysis.structured.terms import RDF, RDF_TYPE, iri, literal
from crawlmill.analysis.structured.values import time_type

__all__ = ["add_rdfa"]

_FIRST: Final = f"<{RDF}first>"
_REST: Final = f"<{RDF}rest>"
_NIL: Final = f"<{RDF}nil>"
_USES_VOCABULARY: Final = "<http://www.w3.org/ns/rdfa#usesVocabulary>"
_MARKUP: Final = {f"{RDF}HTML": "inner_html", f"{RDF}XMLLiteral": "inner_xml"}

_SPEAKING: Final = "[property],[typeof],[rel],[rev],[vocab]"
_NAMING: Final = "[about],[resource],[href],[src]"
_HANGING: Final = ",".join(
    f"[{relation}]:not([href]):not([src]){resource}"
    for relation in ("rel", "rev")
    for resource in (":not([resource])", '[resource*="["]')  # in brackets, it may have no meaning
)
_OF_CONTEXT: Final = ("about", "resource", "href", "src", "prefix", "vocab")
_MAX_PREFIXES: Final = 200_000
_INVALID: Final = ""
"""A term that is not a valid IRI: unlike None, which is none at all, it is the subject or object of lost triples."""


@dataclass(slots=True)
class _Lists:
    """A list mapping: the members of each list of a subject, by its property."""

    members: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Incomplete:
    """Triples of an element that wait for their other end."""

    forward: list[str] = field(default_factory=list)
    backward: list[str] = field(default_factory=list)
    lists: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class _Context:
    """The evaluation context of an element, as in section 7.2; the language is determined by the page."""

    subject: str | None
    object: str | None
    lists: _Lists
    incomplete: _Incomplete | None
    prefixes: dict[str, str]
    vocabulary: str = ""


@dataclass(slots=True)
class _Described:
    """The meaning of an element's attributes: the local values of section 7.5.

    Attributes:
        properties: The text of `property`, like those of `rels`, `revs` and `types`.
        about: The term of `about`; like all terms, None if there is none, `_INVALID` if it is not a valid IRI.
        target: The term of the first of `resource`, `href` and `src`.
        new: The new subject.
        typed: The typed resource.
        current: The current object resource.
        skip: Whether the element adds nothing of its own.
    """

    element: Any
    properties: str | None
    rels: str | None
    revs: str | None
    types: str | None
    about: str | None
    target: str | None
    new: str | None = None
    typed: str | None = None
    current: str | None = None
    skip: bool = False

    @property
    def relates(self) -> bool:
        """Whether there is a `rel` or `rev`."""
        return self.rels is not None or self.revs is not None

    @property
    def in_list(self) -> bool:
        """Whether its values belong to lists."""
        return self.element.attr("inlist") is not None


def add_rdfa(page: Page, triples: Triples) -> None:
    """Add the triples of a page.

    Raises:
        TooMuchError: Elements are nested too deeply, or there are too many.
    """
    hanging = page.document.select_one(_HANGING)
    selector = _SPEAKING if hanging is None else f"{_SPEAKING},{_NAMING}"
    before = len(triples)
    _Processor(page, triples).process(page.branches(selector, also=_changes_context))
    if page.document.select_one("[property*=copy],[rel*=copy],[rev*=copy]") is not None:
        copy_properties(triples, before)


def _changes_context(element: Any) -> bool:
    attributes = element.attrs
    if not attributes:
        return False
    return any(name in attributes for name in _OF_CONTEXT) or any(name.startswith("xmlns:") for name in attributes)


class _Processor:
    def __init__(self, page: Page, triples: Triples) -> None:
        self._page, self._triples = page, triples
        self._base = page.base.partition("#")[0]
        self._named: dict[str, str] = {}
        self._prefixes = 0

    def process(self, roots: list[Branch]) -> None:
        base = iri(self._base)
        lists = _Lists()
        context = _Context(base, base, lists, None, {})
        # A branch, or the lists that end with one and their subject.
        pending: list[tuple[Branch, _Context] | tuple[_Lists, str | None]] = [(lists, base)]
        pending.extend((branch, context) for branch in reversed(roots))
        while pending:
            branch, around = pending.pop()
            if isinstance(branch, _Lists):
                self._add_lists(branch, around if isinstance(around, str) else None)
                continue
            if branch.depth > MAX_DEPTH:
                raise TooMuchError("too-deep")
            self._triples.step()
            if not isinstance(around, _Context):
                raise TypeError(around)
            within, ended = self._element(branch.element, around)
            pending.extend(ended)
            pending.extend((child, within) for child in reversed(branch.children))

    def _element(self, element: Any, around: _Context) -> tuple[_Context, list[tuple[_Lists, str | None]]]:
        """Process an element; returns the context of its children, and the lists that end with it, by subject."""
        context = self._local(element, around)
        it = self._described(element, context)
        if it.relates:
            self._with_relations(it, context)
        elif it.properties is not None and element.attr("content") is None and element.attr("datatype") is None:
            self._with_property(it, context)
        else:
            self._without_relations(it, context)
        if it.types is not None and it.typed is not None:  # step 7
            for name in self._names(it.types, context):
                self._triples.add(it.typed, RDF_TYPE, iri(name))
        lists = context.lists if it.new is None or it.new == context.object else _Lists()  # step 8
        incomplete = self._add_relations(it, context, lists) if it.relates else None
        if it.properties is not None:
            self._add_properties(it, context, lists)
        if not it.skip and it.new is not None and around.incomplete is not None:
            self._complete(around, it.new)
        ended = [] if lists is context.lists else [(lists, it.new)]
        if it.skip:  # step 13
            return replace(context, lists=lists), ended
        subject = _first(it.new, around.subject)
        if it.current is not None and it.current != subject:  # as in the test suite: it has lists of its own
            lists = _Lists()
            ended.append((lists, it.current))
        within = _Context(subject, _first(it.current, subject), lists, incomplete, context.prefixes, context.vocabulary)
        return within, ended

    def _described(self, element: Any, context: _Context) -> _Described:
        """The meaning of an element's attributes."""
        attr = element.attr
        properties, rels, revs = attr("property"), attr("rel"), attr("rev")
        if properties is not None:  # HTML+RDFa: terms of HTML have no meaning in RDFa there
            rels, revs = _without_terms(rels), _without_terms(revs)
        about = self._reference(attr("about"), context.prefixes)
        target = self._target(element, context.prefixes)
        return _Described(element, properties, rels, revs, attr("typeof"), about, target)

    def _with_property(self, it: _Described, context: _Context) -> None:
        """Step 5.1: a property whose value may be a resource."""
        it.new = _first(it.about, context.object)
        if it.types is not None:
            page = it.new if it.element.tag == "html" else None
            it.typed = it.current = self._known(it.about, page, it.target)

    def _without_relations(self, it: _Described, context: _Context) -> None:
        """Step 5.2."""
        it.new = _first(it.about, it.target)
        if it.new is None:
            if it.element.tag in ("html", "head", "body"):  # HTML+RDFa: these stand for the page
                it.new = context.object
            elif it.types is not None:
                it.new = self._triples.node()
            else:
                it.new, it.skip = context.object, it.properties is None
        it.typed = it.new if it.types is not None else None

    def _with_relations(self, it: _Described, context: _Context) -> None:
        """Step 6."""
        it.new = _first(it.about, context.object)
        it.current = it.target
        if it.types is not None:
            if it.about is None:
                it.current = self._known(it.current)
            it.typed = _first(it.about, it.current)

    def _add_relations(self, it: _Described, context: _Context, lists: _Lists) -> _Incomplete | None:
        """Steps 9 and 10; returns the triples that wait for their other end."""
        add = self._triples.add
        forward, backward = self._names(it.rels or "", context), self._names(it.revs or "", context)
        if it.current is None:
            it.current = self._triples.node()
            if it.in_list:
                return _Incomplete([], backward, [lists.members.setdefault(name, []) for name in forward])
            return _Incomplete(forward, backward)
        for name in forward:
            if not it.in_list:
                add(it.new, iri(name), it.current)
            elif it.current:
                lists.members.setdefault(name, []).append(it.current)
        for name in backward:
            add(it.current, iri(name), it.new)
        return None

    def _add_properties(self, it: _Described, context: _Context, lists: _Lists) -> None:
        """Step 11."""
        value = self._value(it, context)
        for name in self._names(it.properties or "", context):
            if not it.in_list:
                self._triples.add(it.new, iri(name), value)
            elif value:
                lists.members.setdefault(name, []).append(value)

    def _complete(self, around: _Context, new: str) -> None:
        """Step 12."""
        waiting, add = around.incomplete or _Incomplete(), self._triples.add
        for name in waiting.forward:
            add(around.subject, iri(name), new)
        for name in waiting.backward:
            add(new, iri(name), around.subject)
        for members in waiting.lists if new else ():
            members.append(new)

    def _local(self, element: Any, around: _Context) -> _Context:
        attr = element.attr
        context = around
        if (vocabulary := attr("vocab")) is not None:
            vocabulary = resolve_iri(self._base, vocabulary.strip(BLANKS)) if vocabulary.strip(BLANKS) else ""
            context = replace(context, vocabulary=vocabulary)
            if vocabulary:
                self._triples.add(iri(self._base), _USES_VOCABULARY, iri(vocabulary))
        declared = {
            name[6:].lower(): attr(name).strip(BLANKS)
            for name in element.attrs
            if name.startswith("xmlns:") and name[6:] != "_"
        }
        declared |= read_prefixes(attr("prefix") or "")
        if declared:
            self._prefixes += len(context.prefixes) + len(declared)
            if self._prefixes > _MAX_PREFIXES:
                raise TooMuchError("too-large")
            context = replace(context, prefixes=context.prefixes | declared)
        return context

    def _names(self, text: str, context: _Context) -> list[str]:
        """The IRIs of the names in an attribute; names without a meaning are left out."""
        found = (expand_name(each, context.prefixes, context.vocabulary) for each in names_in(text))
        return [name for name in dict.fromkeys(found) if name is not None]

    def _reference(self, text: str | None, prefixes: dict[str, str]) -> str | None:
        """The term of an `about` or `resource`: a compact IRI, in brackets or not, or an IRI reference."""
        if text is None:
            return None
        text = text.strip(BLANKS)
        safe = text.startswith("[") and text.endswith("]")
        name = text[1:-1] if safe else text
        if name.startswith("_:"):
            return self._blank(name[2:])
        found = expand_curie(name, prefixes)
        if found is None and safe:
            return None
        return iri(found if found is not None else resolve_iri(self._base, text)) or _INVALID

    def _known(self, *terms: str | None) -> str:
        """The first term that is not None, else a new blank node."""
        found = _first(*terms)
        return self._triples.node() if found is None else found

    def _blank(self, label: str) -> str:
        if label not in self._named:
            self._named[label] = self._triples.node()
        return self._named[label]

    def _target(self, element: Any, prefixes: dict[str, str]) -> str | None:
        """The term of the first of `resource`, `href` and `src` that has a meaning."""
        if (resource := self._reference(element.attr("resource"), prefixes)) is not None:
            return resource
        for name in ("href", "src"):
            if (given := element.attr(name)) is not None:
                return iri(resolve_iri(self._base, given.strip(BLANKS))) or _INVALID
        return None

    def _value(self, it: _Described, context: _Context) -> str | None:
        """The value of a property."""
        element, attr = it.element, it.element.attr
        given, datatype, time = attr("content"), attr("datatype"), attr("datetime")
        if given is None:  # HTML+RDFa: the machine-readable value of times and data
            given = attr("value") if time is None and element.tag == "data" else time
        language = self._page.language(element)
        if datatype is not None:
            kind = expand_name(datatype.strip(BLANKS), context.prefixes, context.vocabulary) or ""
            if kind in _MARKUP:
                given = getattr(element, _MARKUP[kind])
                self._triples.charge(len(given or ""))
            given = self._text(element) if given is None else given
            return literal(given, datatype=kind) if kind else literal(given, language=language)
        if given is None and not it.relates and it.target is not None:
            return it.target
        if given is None and it.typed is not None and attr("about") is None:  # nor an `about` without a meaning
            return it.typed
        timed = attr("content") is None and (time is not None or (given is None and element.tag == "time"))
        given = self._text(element) if given is None else given
        kind = (time_type(given) or "") if timed else ""
        return literal(given, datatype=kind) if kind else literal(given, language=language)

    def _text(self, element: Any) -> str:
        text = text_of(element, self._triples.step)
        self._triples.charge(len(text))
        return text

    def _add_lists(self, lists: _Lists, subject: str | None) -> None:
        """Step 14."""
        add = self._triples.add
        for name, members in lists.members.items():
            if not subject or iri(name) is None:
                continue  # its nodes would be those of no list
            nodes = [self._triples.node() for _ in members]
            add(subject, iri(name), nodes[0] if nodes else _NIL)
            for number, member in enumerate(members):
                add(nodes[number], _FIRST, member)
                add(nodes[number], _REST, nodes[number + 1] if number + 1 < len(nodes) else _NIL)


def _first(*terms: str | None) -> str | None:
    """The first term that is not None."""
    return next((term for term in terms if term is not None), None)


def _without_terms(text: str | None) -> str | None:
    """The part of a `rel` that counts together with a `property`: names that are not terms; None if nothing is left."""
    kept = [name for name in names_in(text) if ":" in name]
    return " ".join(kept) if kept else None
