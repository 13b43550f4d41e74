"""Fragments of pages, together with what must be counted in them.

A template is markup with slots, for which its author declares the start tags that a tokenizer must find, the visible
text, the links, and the triples. Filling the slots with phrases, addresses and tokens makes a fragment. Tags and words
are never determined by parsing the result.

Slots are written `[[kind]]` or `[[kind2]]`: `text` (a sentence), `label` (a few words), `url` (an absolute or relative
address), `token` (hexadecimal digits), `number`, `passage` (sentences with rare words), and names given by the caller.
The same slot has the same value throughout a template. Values are escaped in markup, but not elsewhere.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from crawlmill.sample.dice import Dice
from crawlmill.sample.text.links import Head, Link, metadata_links, wat_head, wat_links
from crawlmill.sample.text.prose import Lexicon, Phrase, label, passage, sentence
from crawlmill.sample.text.triples import Triple

__all__ = ["FilledHead", "Fragment", "Template", "fill"]

_SLOT = re.compile(r"\[\[([a-z]+)(\d*)\]\]")
_MAKERS = ("app", "bsp", "cms", "paper", "shop", "wc")
_PARTS = ("badge", "card", "dialog", "icon", "item", "list", "menu", "price", "tab", "teaser")
_ELEMENTS = 2_000
_HOSTS = ("www.example.com", "shop.example.org", "blog.example.net", "cdn.example.com", "static.example.org")


@dataclass(frozen=True, slots=True)
class Template:
    """Markup with slots, and its author's declarations.

    `tags`: the start tags, as `div p*2`, which may be slots; `text`: the visible text, each block on a line, without
    the title; `words`: the words in `text` outside the slots; `links`: its references, inner elements first; `triples`:
    its structured data; `head`: its head, if it begins a page.
    """

    markup: str
    tags: str
    text: str = ""
    words: str = ""
    links: tuple[Link, ...] = ()
    triples: tuple[Triple, ...] = ()
    head: Head | None = None
    utf8_only: bool = False


@dataclass(frozen=True, slots=True)
class FilledHead:
    """The head of a page: title and words, its meta tags, its base address or "", and its form in a WAT record."""

    title: str = ""
    words: tuple[str, ...] = ()
    metas: tuple[Mapping[str, str], ...] = ()
    base: str = ""
    wat: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """A filled template.

    `text` and `words` are those of the body: the title and its words are in `head`, which most fragments lack. Links
    are the JSON texts of a list's items, see `links`. `shared`: the fragment is from a pool, and the same object occurs
    in other documents.
    """

    markup: str
    tags: tuple[tuple[str, int], ...]
    text: str
    words: tuple[str, ...]
    wat_links: str
    metadata_links: str
    triples: tuple[Triple, ...]
    head: FilledHead
    shared: bool


def fill(
    template: Template, lexicon: Lexicon, dice: Dice, given: Mapping[str, Phrase] | None = None, *, shared: bool = False
) -> Fragment:
    """The template with every slot filled; `given` are values that are the same for the whole page."""
    values = dict(given or ())

    def value(slot: re.Match[str]) -> Phrase:
        name = slot[1] + slot[2]
        if name not in values:
            values[name] = _drawn(slot[1], lexicon, dice)
        return values[name]

    def filled(text: str) -> str:
        return _SLOT.sub(lambda slot: value(slot).text, text)

    def counted(text: str, words: str) -> tuple[str, ...]:
        return (*(word for slot in _SLOT.finditer(text) for word in value(slot).words), *words.split())

    def filled_all(values: Mapping[str, str]) -> dict[str, str]:
        return {name: filled(text) for name, text in values.items()}

    markup = _SLOT.sub(lambda slot: html.escape(value(slot).text), template.markup)
    links = [
        Link(link.element, filled(link.url), filled_all(link.attributes), filled(link.text)) for link in template.links
    ]
    head = _NO_HEAD
    if template.head is not None:
        title, words, base = template.head.title, template.head.words, filled(template.head.base)
        written = Head(filled(title), words, tuple(map(filled_all, template.head.metas)), base)
        head = FilledHead(written.title, counted(title, words), written.metas, base, wat_head(written, links))
    return Fragment(
        markup,
        _declared(filled(template.tags)),
        filled(template.text),
        counted(template.text, template.words),
        wat_links(links),
        metadata_links(links),
        tuple(triple.filled(filled) for triple in template.triples),
        head,
        shared,
    )


_NO_HEAD = FilledHead()


@lru_cache(maxsize=4096)
def _declared(tags: str) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for entry in tags.split():
        name, _, number = entry.partition("*")
        counts[name] += int(number or 1)
    return tuple(counts.items())


def _drawn(kind: str, lexicon: Lexicon, dice: Dice) -> Phrase:
    if kind == "text":
        return sentence(lexicon, dice)
    if kind == "label":
        return label(lexicon, dice)
    if kind == "passage":
        return passage(lexicon, dice)
    if kind == "url":
        return Phrase(_address(dice), ())
    if kind == "token":
        token = dice.token() + dice.token()
        return Phrase(token, (token,))
    if kind == "element":
        # A custom element; the name of rank n occurs 1/n times as often as the first.
        return Phrase(f"{dice.pick(_MAKERS)}-{dice.pick(_PARTS)}-{int(_ELEMENTS ** dice.random())}", ())
    if kind == "number":
        number = str(dice.between(1, 9999))
        return Phrase(number, (number,))
    raise ValueError(f"no slot is called {kind!r}")


def _address(dice: Dice) -> str:
    path = f"/{dice.pick(('a', 'item', 'p', 'news', 'tag'))}/{dice.token()}"
    drawn = dice.random()
    if drawn < 0.5:
        return path
    if drawn < 0.8:
        return f"https://{dice.pick(_HOSTS)}{path}"
    return f"{path}?id={dice.between(1, 99999)}&ref=[{dice.token()[:4]}]"
