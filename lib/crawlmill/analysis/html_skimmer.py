r"""The names of the start tags of a page, by skimming it: several times as fast as reading it tag by tag.

Most of a page is *plain*: text, and tags that hold no "<", and no quoted value with "<" or ">" in it. In plain markup
every "<" and letter begins a start tag, which ends at the next ">", so one `findall` gives all names. What is not plain
is found by two expressions and read by the exact rules of `html_tokenizer`, from its "<" to its end:

* comments, and the elements whose content is no markup, with their content;
* a construct that holds a "<" before its first ">", or is never closed;
* a tag with a quoted value that holds "<" or ">". A quoted value begins only after "=" and spaces, so every "=" is
  looked at, wherever it stands; one that is in no tag is text.

Why that is exact: skimming goes from left to right, and everything before the place it has reached was read in the
data state. A construct that begins there and is not found by the expressions holds no "<" and, in quotes after "=",
no ">", so that in every state of the tokenizer its first ">" ends it.
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
# Two expressions, since each begins with a byte that is sought at the speed of memory.
_NOT_PLAIN = re.compile(rb"<(?:!--|(?:" + _RAW_TEXT + rb")(?=[" + _SPACE + rb"/>])|[a-zA-Z/!?][^<>]*+(?:<|\Z))")
_ODD_VALUE = re.compile(rb"=[" + _SPACE + rb"""]*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
_NAME = re.compile(rb"<([a-zA-Z][^" + _SPACE + rb"/>]*+)")
_FOREIGN = re.compile(rb"<(/?)(svg|math)(?=[" + _SPACE + rb"/>])", re.IGNORECASE)
_IN_TAG = re.compile(rb"<[a-zA-Z/][^<>]*+")


def skim_tag_names(page: bytes) -> Iterable[bytes]:
    """The names of the page's start tags, in no promised order, as they are spelled in the source.

    The same names as `html_tokenizer.start_tag_names` gives, which also takes the pages that are too long for a list of
    their tags; time is linear in the page's length.
    """
    if len(page) > AT_ONCE_BYTES:
        return start_tag_names(page)
    plain: list[bytes] = []  # markup in which every tag is plain
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
        if tag is None:  # nothing after a tag that is never closed counts
            at = len(page)
            break
        slash, name, self_closing, at = tag
        if name in foreign.depth:  # leave it in the markup, made plain: what comes after may ask for it
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
        self._construct = self._value = -1  # where the next odd ones begin; at the end of the page if there is none
        self._sought, self._tag = 0, -1  # up to `_sought`, the last "<" is at `_tag`
        self._outside = -1  # what begins here ends before `_sought`

    def first(self, at: int, look_from: int) -> int:
        """The start of the first one from `look_from` on, or the page's length; tags before `at` are read already."""
        page = self._page
        if self._construct < look_from:
            self._construct = _start(_NOT_PLAIN.search(page, look_from), page)
        if self._value < look_from:
            self._value = _start(_ODD_VALUE.search(page, look_from), page)
        while (value := self._value) < self._construct:  # which tag is it in?
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
    """How many `<svg>` and `<math>` are open after plain markup, counted on demand."""

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
