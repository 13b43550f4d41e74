r"""Finds the names of a page's start tags by skimming, several times as fast as reading it tag by tag.

Most of a page is *plain*: text, and tags that contain no "<", and no quoted value with "<" or ">" in it. In plain
markup every "<" followed by a letter begins a start tag, which ends at the next ">", so one `findall` returns all
names. What is not plain is found by two expressions and read by the exact rules of `html_tokenizer`, from its "<" to
its end:

* comments, and the elements whose content is not markup, with their content;
* a construct with a "<" before its first ">", or one that is never closed;
* a tag with a quoted value that contains "<" or ">". A quoted value begins only after "=" and spaces, so every "=" is
  examined, wherever it is; one that is not in a tag is text.

Why this is exact: skimming goes from left to right, and everything before the current position was read in the data
state. A construct that begins there and is not found by the expressions contains no "<" and, in quotes after "=", no
">", so that in every state of the tokenizer its first ">" ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawlmill.analysis.html_tokenizer import (
    AT_ONCE_BYTES,
    CONSTRUCT,
    CONTENT,
    Foreign,
    content_end,
    read_tag,
    start_tag_names,
)

__all__ = ["skim_tag_names"]

_SPACE = rb"\t\n\f\r "
_RAW_TEXT = (
    rb"[sS](?:[cC][rR][iI][pP][tT]|[tT][yY][lL][eE])|[tT](?:[iI][tT][lL][eE]|[eE][xX][tT][aA][rR][eE][aA])"
    rb"|[iI][fF][rR][aA][mM][eE]|[nN][oO](?:[eE][mM][bB][eE][dD]|[fF][rR][aA][mM][eE][sS])|[xX][mM][pP]"
    rb"|[pP][lL][aA][iI][nN][tT][eE][xX][tT]"
)
# Two expressions, since each begins with a byte that can be searched for at memory speed.
_NOT_PLAIN = re.compile(rb"<(?:!--|(?:" + _RAW_TEXT + rb")(?=[" + _SPACE + rb"/>])|[a-zA-Z/!?][^<>]*+(?:<|\Z))")
_ODD_VALUE = re.compile(rb"=[" + _SPACE + rb"""]*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
_NAME = re.compile(rb"<([a-zA-Z][^" + _SPACE + rb"/>]*+)")
_FOREIGN = re.compile(rb"<(/?)(svg|math)(?=[" + _SPACE + rb"/>])", re.IGNORECASE)
_IN_TAG = re.compile(rb"<[a-zA-Z/][^<>]*+")


def skim_tag_names(page: bytes) -> Iterable[bytes]:
    """The names of the page's start tags, in no particular order, as spelled in the source.

    The names are the same as from `html_tokenizer.start_tag_names`, which also handles pages too long for a list of
    their tags; time is linear in the page's length.
    """
    if len(page) > AT_ONCE_BYTES:
        return start_tag_names(page)
    plain: list[bytes] = []  # markup with only plain tags
    names: list[bytes] = []
    foreign, odd = _ForeignInPlain(plain), _OddConstructs(page)
    at = look_from = 0
    while (start := odd.first(at, look_from)) < len(page):
        construct = CONSTRUCT.match(page, start)
        if construct is None:  # "<" or "</" at the end of the page
            look_from = start + 1
            continue
        plain.append(page[at:start])
        at = look_from = construct.end()
        if construct[2] is None:
            continue
        tag = read_tag(page, construct)
        if tag is None:  # tags after one that is never closed do not count
            at = len(page)
            break
        slash, name, self_closing, at = tag
        if name in foreign.depth:  # keep it in the markup, made plain, since later tags may depend on it
            plain.append(b"<" + slash + construct[2] + (b"/>" if self_closing else b">"))
        elif not slash:
            names.append(construct[2])
            if name in CONTENT and not (self_closing and foreign.is_open()):
                at = content_end(page, name, at)
        look_from = at
    plain.append(page[at:])
    return names + _NAME.findall(b" ".join(plain))


class _OddConstructs:
    """Finds the constructs of a page that are not plain, from left to right."""

    def __init__(self, page: bytes) -> None:
        self._page = page
        self._construct = self._value = -1  # the next odd ones; the page's length if there is none
        self._sought, self._tag = 0, -1  # up to `_sought`, the last "<" is at `_tag`
        self._outside = -1  # the construct here ends before `_sought`

    def first(self, at: int, look_from: int) -> int:
        """The start of the first one from `look_from` on, or the page's length; tags before `at` were read already."""
        page = self._page
        if self._construct < look_from:
            self._construct = _start(_NOT_PLAIN.search(page, look_from), page)
        if self._value < look_from:
            self._value = _start(_ODD_VALUE.search(page, look_from), page)
        while (value := self._value) < self._construct:  # find the tag that contains it
            self._tag = tag = max(page.rfind(b"<", max(self._sought, at), value), self._tag)
            self._sought = value
            inside = _IN_TAG.match(page, tag) if tag >= at and tag != self._outside else None
            if inside is not None and inside.end() >= value:
                return tag
            self._outside = tag
            self._value = _start(_ODD_VALUE.search(page, value + 1), page)
        return self._construct


def _start(found: re.Match[bytes] | None, page: bytes) -> int:
    return len(page) if found is None else found.start()


class _ForeignInPlain(Foreign):
    """The number of `<svg>` and `<math>` open after plain markup, counted on demand."""

    def __init__(self, plain: list[bytes]) -> None:
        super().__init__()
        self._plain, self._counted = plain, 0

    def is_open(self) -> bool:
        for markup in self._plain[self._counted :]:
            for construct in _FOREIGN.finditer(markup):
                if tag := read_tag(markup, construct):
                    self.see(tag[0], tag[1], self_closing=tag[2])
        self._counted = len(self._plain)
        return super().is_open()
