r"""Finds the names of the start tags in the source of an HTML page, by the WHATWG tokenizer.

Spec: HTML Living Standard, section 13.2.5 "Tokenization" (https://html.spec.whatwg.org/multipage/parsing.html).
Pages are bytes in any ASCII-compatible encoding; only ASCII is examined. "Space" is TAB, LF, FF, CR or SP. From the
data state:

    what begins         continues until                                  counts
    < letter            the tag's end                                   its name, if the page does not end before
    </ letter           the tag's end                                   no
    <!--                > or -> at once, else the first --> or --!>     no
    <!  <?  </ other    the first >                                     no
    < other             this one byte is text                           no

A name ends at a space, "/" or ">". Attributes follow, separated by spaces and "/". An attribute's name begins with any
byte but ">" (also with "=", a quote, "<") and ends at a space, "/", ">" or "="; after a "=", with optional spaces
around it, a value in " or ' ends at that quote and may contain anything, an unquoted one ends at a space or ">". A ">"
outside quoted values ends the tag; the tag is self-closing if a "/" that is not in a value is right before it.

Some start tags are followed by text without markup, up to "</", the same name in any case, and a space, "/" or ">":

    title textarea                           RCDATA
    style xmp iframe noembed noframes        RAWTEXT (scripting is off: noscript contains markup)
    script                                   script data, see below
    plaintext                                PLAINTEXT: there is no end tag, it is the rest of the page

In script data "<!--" begins escaped text, which ends with "-->"; its dashes may be those of "<!--". In escaped text
"<script" followed by a space, "/" or ">" begins double-escaped text, in which "</script" and such a byte end the double
escape and not the script; "-->" ends both.

Deviations, all because no tree is built:
* Raw text begins wherever such a tag is (in a `<select>`, in SVG), except after a self-closing tag inside an open
`<svg>` or `<math>`. It is open if there were more start tags of that name (self-closing ones not counted) than end
tags; an end tag without a start tag is ignored.
* `<![CDATA[` begins a bogus comment, which ends at the first ">", in SVG and MathML too.

Two implementations return the same names: one expression, which reads a page of ordinary constructs in one call, and a
loop. A third (`tag_reader`) also returns the attributes of chosen tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "AT_ONCE_BYTES",
    "CONSTRUCT",
    "CONTENT",
    "Foreign",
    "attributes_in",
    "content_end",
    "read_tag",
    "start_tag_names",
    "tag_reader",
]

# Longer pages are read by the loop, which holds no list of their tags.
AT_ONCE_BYTES = 6 << 20

_RAW_TEXT = ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp", "plaintext")


def _repeat(body: str) -> str:
    """`body` as often as it matches, without backtracking, so that every page takes linear time.

    The empty alternative changes nothing, but without it `re` before 3.11.5 continues where the last, failed attempt
    stopped.
    """
    return rf"(?:{body}|)*+"


def _any_case(word: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_SPACE = r"\t\n\f\r "
_SPACES = rf"[{_SPACE}]*+"
_NAME_ENDS = rf"(?=[{_SPACE}/>])"
_NAME = rf"[a-zA-Z][^{_SPACE}/>]*+"
_ALL = r"[\s\S]*+"

# The exact rest of a tag; the group contains the text between the last attribute and the ">".
_VALUE = rf""""[^"]*+"|'[^']*+'|(?!["'])[^{_SPACE}>]*+"""
_ATTRIBUTE = rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+(?:{_SPACES}={_SPACES}(?:{_VALUE})|(?!{_SPACES}=))"
_REST = rf"{_repeat(_ATTRIBUTE)}[{_SPACE}/]*+>"
_REST_AND_SLASH = rf"{_repeat(_ATTRIBUTE)}([{_SPACE}/]*+)>"

# The same if no attribute is odd, from inside or after a name without "=": a "=" right after a byte other than a space
# or "/" then ends an attribute name, and once there are no more quotes, the first ">" ends the tag in every state.
_USUAL_VALUE = rf""""[^"]*+"|'[^']*+'|[^{_SPACE}"'>][^{_SPACE}>]*+"""
_USUAL_REST = rf"""{_repeat(rf'''[^>"'=]++(?<![{_SPACE}/])=(?:{_USUAL_VALUE})''')}[^>"']*+>"""

_BOGUS_COMMENT = r"[^>]*+(?:>|)"
_COMMENT = rf"--(?:-?>|[^-]*+{_repeat(r'-(?!-!?>)[^-]*+')}(?:--!?>|))"
_DECLARATION = rf"!(?:{_COMMENT}|{_BOGUS_COMMENT})"
_END_TAG = rf"/(?:{_NAME}{_REST}|(?=[a-zA-Z]){_ALL}|{_BOGUS_COMMENT})"
_USUAL_END_TAG = r"""/[a-zA-Z][^<>"']*+>"""

# From the data state to the next start tag.
_OTHER = rf"{_USUAL_END_TAG}|{_DECLARATION}|{_END_TAG}|[?]{_BOGUS_COMMENT}|[^a-zA-Z/!?<]|(?=<)"
_BETWEEN = rf"[^<]*+{_repeat(rf'<(?:{_OTHER})[^<]*+')}"


def _raw_text(name: str) -> str:
    """The text after the start tag, up to its end tag or the end of the page."""
    if name == "plaintext":
        return _ALL
    word = _any_case(name)
    if name != "script":
        return rf"[^<]*+{_repeat(rf'<(?!/{word}{_NAME_ENDS})[^<]*+')}"
    tag = word + _NAME_ENDS
    double = rf"<{tag}{_repeat(rf'[^<-]++|-(?!->)|<(?!/{tag})')}(?:</{word}|(?!<))"
    escaped = rf"<!--(?:-?>|{_repeat(rf'[^<-]++|-(?!->)|<(?!/?{tag})|{double}')}(?:-->|))"
    return rf"[^<]*+{_repeat(rf'<(?!/{tag}|!--)[^<]*+|{escaped}[^<]*+')}"


def _start_tag() -> str:
    """A start tag, the raw text after it, and the text up to the next one; the group is its name.

    Or, with an empty group, the rest of the page from a tag that this expression does not handle: one that is never
    closed, one with "=" in its name, and a raw text element that may be self-closing, which depends on the tags before.
    """
    first, second = ("".join(sorted({name[at] + name[at].upper() for name in _RAW_TEXT})) for at in (0, 1))
    any_name = "|".join(map(_any_case, _RAW_TEXT))
    alternatives = [
        rf"(?![{first}][{second}]){_USUAL_REST}",  # most names differ from all raw text elements in two letters
        *(rf"{_any_case(name)}{_NAME_ENDS}(?:{_USUAL_REST}|{_REST})(?<!/>){_raw_text(name)}" for name in _RAW_TEXT),
        rf"(?!(?:{any_name}){_NAME_ENDS})(?:{_USUAL_REST}|{_NAME}{_REST})",
    ]
    name = rf"(?=([a-zA-Z][^{_SPACE}/>=]*+)[{_SPACE}/>])"
    return rf"<(?:{name}(?:{'|'.join(alternatives)}){_BETWEEN}|{_ALL})"


_LEAD = re.compile(_BETWEEN.encode())
_START_TAG = re.compile(_start_tag().encode())

# For the loop: the next construct, for a tag only its name; and the pieces that follow it.
CONSTRUCT = re.compile(rf"<(?:(/?)({_NAME})|{_DECLARATION}|[/?]{_BOGUS_COMMENT})".encode())
TAG_END = re.compile(_REST_AND_SLASH.encode())
CONTENT = {name.encode(): re.compile(_raw_text(name).encode()) for name in _RAW_TEXT}

_NAME_AND_VALUE = re.compile(
    rf"""[{_SPACE}/]*+([^{_SPACE}/>][^{_SPACE}/>=]*+)"""
    rf"""(?:{_SPACES}={_SPACES}(?:"([^"]*+)"|'([^']*+)'|([^{_SPACE}"'][^{_SPACE}]*+|)))?+""".encode()
)


def start_tag_names(page: bytes) -> Iterable[bytes]:
    """The names of the page's start tags, in order, as spelled in the source.

    `page` is in an ASCII-compatible encoding; names keep their case, NUL and undecodable bytes. Time is linear in the
    page's length.

    Spec: HTML Living Standard, 13.2.5, with the deviations named above.
    """
    if len(page) <= AT_ONCE_BYTES:
        lead = _LEAD.match(page)
        # Nothing after the last ">" counts; without it, a page truncated within a tag does not need the loop.
        names: list[bytes] = _START_TAG.findall(page, lead.end() if lead else 0, page.rfind(b">") + 1)
        if not names or names[-1]:
            return names
    return _walk(page)


def read_tag(page: bytes, construct: re.Match[bytes]) -> tuple[bytes, bytes, bool, int] | None:
    """The tag that begins with a construct with a name; None if the page ends before the tag does.

    Returns its slash if it is an end tag, its name in lower case, whether it is self-closing, and its end offset.
    """
    end = TAG_END.match(page, construct.end())
    if end is None:
        return None
    return construct[1], construct[2].lower(), end[1].endswith(b"/"), end.end()


def content_end(page: bytes, name: bytes, at: int) -> int:
    """The end of the raw text that begins at `at`, after the start tag of such an element."""
    raw_text = CONTENT[name].match(page, at)
    return raw_text.end() if raw_text else at


class Foreign:
    """The number of open `<svg>` and `<math>`."""

    def __init__(self) -> None:
        self.depth = {b"svg": 0, b"math": 0}

    def see(self, slash: bytes, name: bytes, *, self_closing: bool) -> None:
        """Count a tag of one of these names."""
        if slash:
            self.depth[name] -= self.depth[name] > 0
        else:
            self.depth[name] += not self_closing

    def is_open(self) -> bool:
        """Whether any is open."""
        return any(self.depth.values())


def _walk(page: bytes) -> Iterator[bytes]:
    """Read construct by construct, counting open `<svg>` and `<math>`."""
    foreign = Foreign()
    at = 0
    while construct := CONSTRUCT.search(page, at):
        at = construct.end()
        if construct[2] is None:
            continue
        tag = read_tag(page, construct)
        if tag is None:
            return
        slash, name, self_closing, at = tag
        if name in foreign.depth:
            foreign.see(slash, name, self_closing=self_closing)
        if not slash:
            yield construct[2]
            if name in CONTENT and not (self_closing and foreign.is_open()):
                at = content_end(page, name, at)


def tag_reader(names: Iterable[bytes]) -> Callable[[bytes], Iterator[tuple[bytes, bytes]]]:
    """A reader of the start tags with these names (lower case): it yields the name and the text between it and ">".

    It yields them in order, for the same pages as `start_tag_names`. Time is linear in the page's length.
    """
    wanted = frozenset(names)
    apart = "|".join(_any_case(name) for name in sorted({*_RAW_TEXT, "svg", "math", *(n.decode() for n in wanted)}))
    usual = rf"(?=[a-zA-Z][^{_SPACE}/>=]*+[{_SPACE}/>]){_USUAL_REST}"
    plain_tag = rf"(?!(?:{apart}){_NAME_ENDS})(?:{usual}|{_NAME}{_REST})"
    foreign_end = rf"/(?:{_any_case('svg')}|{_any_case('math')}){_NAME_ENDS}"
    passed_by = re.compile(rf"[^<]*+{_repeat(rf'<(?!{foreign_end})(?:{_OTHER}|{plain_tag})[^<]*+')}".encode())

    def read(page: bytes) -> Iterator[tuple[bytes, bytes]]:
        foreign = Foreign()
        at = 0
        while True:
            passed = passed_by.match(page, at)
            at = passed.end() if passed else at
            construct = CONSTRUCT.match(page, at)
            if construct is None:  # "<" or "</" at the end of the page, or nothing
                if at >= len(page) - 1:
                    return
                at += 1
                continue
            at = name_end = construct.end()
            if construct[2] is None:
                continue
            tag = read_tag(page, construct)
            if tag is None:
                return
            slash, name, self_closing, at = tag
            if name in foreign.depth:
                foreign.see(slash, name, self_closing=self_closing)
            if slash:
                continue
            if name in wanted:
                yield name, page[name_end : at - 1]
            if name in CONTENT and not (self_closing and foreign.is_open()):
                at = content_end(page, name, at)

    return read


def attributes_in(tag: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The attributes of a tag from `tag_reader`: names in lower case and values, in order."""
    for name, double, single, bare in _NAME_AND_VALUE.findall(tag):
        yield name.lower(), double or single or bare
