"""Plain readings of HTML, for these tests alone: by html5lib's tokenizer, and a quick one for whole crawls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes

RAW_TEXT = {"style", "xmp", "iframe", "noembed", "noframes"}
LINKS = {"a": "href", "img": "src", "form": "action", "area": "href", "iframe": "src"}
REFERRING = {
    "a": "href",
    "area": "href",
    "frame": "src",
    "iframe": "src",
    "script": "src",
    "link": "href",
    "img": "src",
}


@dataclass
class Reading:
    tags: Counter[str] = field(default_factory=Counter)
    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    metas: list[dict[str, str]] = field(default_factory=list)
    base: str = ""
    ends_in_data: bool = False


def read_markup(markup: str) -> Reading:
    """What html5lib's tokenizer finds, its state switched after start tags as the tree builder would (no scripting)."""
    found = Reading()
    tokenizer = HTMLTokenizer(markup)
    hidden, in_svg = "", False
    for token in tokenizer:
        kind, name = token["type"], token.get("name", "")
        if kind == tokenTypes["StartTag"]:
            found.tags[name] += 1
            if name in LINKS and LINKS[name] in token["data"]:
                found.links.append((f"{name.upper()}@/{LINKS[name]}", token["data"][LINKS[name]]))
            if name in REFERRING and REFERRING[name] in token["data"]:
                found.elements.append((name, dict(token["data"])))
            if name == "meta":
                found.metas.append(dict(token["data"]))
            if name == "base":
                found.base = token["data"].get("href", "")
            if name in RAW_TEXT:
                tokenizer.state = tokenizer.rawtextState
            elif name in ("textarea", "title"):
                tokenizer.state = tokenizer.rcdataState
            elif name == "script":
                tokenizer.state = tokenizer.scriptDataState
            elif name == "plaintext":
                tokenizer.state = tokenizer.plaintextState
            in_svg |= name == "svg"
            if name in RAW_TEXT | {"script", "textarea"} or (name == "title" and in_svg):
                hidden = name
        elif kind == tokenTypes["EndTag"]:
            hidden = "" if name == hidden else hidden
            in_svg &= name != "svg"
        elif kind in (tokenTypes["Characters"], tokenTypes["SpaceCharacters"]) and not hidden:
            found.text += token["data"]
    found.ends_in_data = tokenizer.state == tokenizer.dataState
    return found


_ATTRIBUTE = rb"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>))|(?!\s*=))"""
_TOKEN = re.compile(
    rb"(?is)<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<([a-z][^\s/>]*+)(?>(?:[\s/]++|" + _ATTRIBUTE + rb")*+)>"
    rb"|</[a-z][^\s/>]*+(?>(?:[\s/]++|" + _ATTRIBUTE + rb")*+)>"
    rb"|(</?[a-z])"
    rb"|<[!?/][^>]*+>?"
)
_SCRIPT = re.compile(rb"(?i)(<!--)|(-->)|<(/?)script(?=[\s/>])")


def quick_tags(page: bytes) -> Counter[str]:
    """The start tags of a page of an ASCII-compatible charset, by one regular expression between raw texts."""
    names = (name.lower().decode("utf-8", "replace") for name in _start_tags(page))
    return Counter(names)


def _start_tags(page: bytes) -> Iterator[bytes]:
    position = 0
    while token := _TOKEN.search(page, position):
        if token[2]:
            return  # a tag that never ends
        position = token.end()
        if token[1] is None:
            continue
        yield token[1]
        name = token[1].lower()
        if name == b"plaintext":
            return
        if name == b"script":
            position = _end_of_script(page, position)
        elif name.decode("latin-1") in RAW_TEXT | {"textarea", "title"}:
            end = re.compile(rb"(?i)</" + name + rb"(?=[\s/>])").search(page, position)
            position = end.start() if end else len(page)


def _end_of_script(page: bytes, position: int) -> int:
    escaped = nested = False
    for mark in _SCRIPT.finditer(page, position):
        if mark[1]:
            escaped = True
        elif mark[2]:
            escaped = nested = False
        elif not mark[3]:
            nested = escaped
        elif nested:
            nested = False
        else:
            return mark.start()
    return len(page)
