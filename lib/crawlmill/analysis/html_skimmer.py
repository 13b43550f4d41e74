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

from crawlmill.analysis.html_tokenizer import AT_ONCE_BYTES, CONSTRUCT, CONTENT, TAG_END, start_tag_names

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
    foreign = _Foreign()
    at = look_from = 0
    odd_construct, odd_value = -1, -1  # where the next ones begin; len(page) if there is none
    sought, tag, outside = (
        0,
        -1,
        -1,
    )  # up to `sought`, the last "<" is at `tag`; what begins at `outside` ends before `sought`
    while True:
        if odd_construct < look_from:
            odd_construct = _start(_NOT_PLAIN.search(page, look_from), page)
        if odd_value < look_from:
            odd_value = _start(_ODD_VALUE.search(page, look_from), page)
        start = odd_construct
        if odd_value < start:  # which tag is it in?
            tag = max(page.rfind(b"<", max(sought, at), odd_value), tag)
            sought = odd_value
            inside = _IN_TAG.match(page, tag) if tag >= at and tag != outside else None
            if inside is None or inside.end() < odd_value:
                outside = tag
                odd_value = _start(_ODD_VALUE.search(page, odd_value + 1), page)
                continue
            start = tag
        if start == len(page):
            break
        construct = CONSTRUCT.match(page, start)
        if construct is None:  # "<" or "</" at the end of the page
            look_from = start + 1
            continue
        plain.append(page[at:start])
        at = look_from = construct.end()
        slash, spelling = construct.groups()
        if spelling is None:
            continue
        end = TAG_END.match(page, at)
        if end is None:  # never closed: nothing behind it counts
            at = len(page)
            break
        at = look_from = end.end()
        name = spelling.lower()
        self_closing = end[1].endswith(b"/")
        if name in foreign.open:  # leave it in the markup, made plain: what comes after may ask for it
            plain.append(b"<" + slash + spelling + (b"/>" if self_closing else b">"))
        elif not slash:
            names.append(spelling)
            content = CONTENT.get(name)
            if content is not None and not (self_closing and foreign.is_open_behind(plain)):
                raw_text = content.match(page, at)
                at = look_from = raw_text.end() if raw_text else at
    plain.append(page[at:])
    return names + _NAME.findall(b" ".join(plain))


def _start(found: re.Match[bytes] | None, page: bytes) -> int:
    return len(page) if found is None else found.start()


class _Foreign:
    """How many `<svg>` and `<math>` are open, counted on demand."""

    def __init__(self) -> None:
        self.open = {b"svg": 0, b"math": 0}
        self._counted = 0

    def is_open_behind(self, plain: list[bytes]) -> bool:
        for markup in plain[self._counted :]:
            for tag in _FOREIGN.finditer(markup):
                name = tag[2].lower()
                end = TAG_END.match(markup, tag.end())
                if tag[1]:
                    self.open[name] -= self.open[name] > 0
                elif end is not None and not end[1].endswith(b"/"):
                    self.open[name] += 1
        self._counted = len(plain)
        return any(self.open.values())
