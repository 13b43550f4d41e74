r"""Translates Presto's regular expressions for DuckDB, whose RE2 lacks look-around and Java's class names.

    \P{ASCII}                 becomes a class of RE2
    (?<=/)[a-z]{2}(?=/)       becomes a split: the segments between two `/` that match [a-z]{2} as a whole

An expression that cannot be translated for RE2 is left to Python's `re`, through a function of ours.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["between", "for_re2", "is_python"]

_JAVA: Final = {
    "ASCII": r"\x00-\x7F",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Lower": "a-z",
    "Upper": "A-Z",
    "Punct": r"!-/:-@\[-`{-~",
    "Space": r" \t\n\x0B\f\r",
    "Blank": r" \t",
    "XDigit": "0-9a-fA-F",
    "Cntrl": r"\x00-\x1F\x7F",
    "Graph": "!-~",
    "Print": " -~",
}
_CLASS: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\([pP])\{(?:Is)?(" + "|".join(_JAVA) + r")\}")
_BETWEEN: Final = re.compile(r"\(\?<=(\\?[^\w\s\\^$.|?*+()\[\]{}]|\\[^\w\s])\)(.+)\(\?=\1\)", re.DOTALL)
_ATOMS: Final = re.compile(
    r"(?:(?P<literal>[\w -])|\[(?P<set>(?:[\w-])+)\]|\(\?:|\)|\||\{\d+(?:,\d*)?\}|[?*+])", re.ASCII
)


def for_re2(pattern: str) -> str:
    """The expression with Java's character classes replaced by sets."""

    def as_set(found: re.Match[str]) -> str:
        inverted = "^" if found[2] == "P" else ""
        return f"{found[1]}[{inverted}{_JAVA[found[3]]}]"

    return _CLASS.sub(as_set, pattern)


def between(pattern: str) -> tuple[str, str] | None:
    """The character and the inner expression of `(?<=c)inner(?=c)`, if `inner` cannot match the character; else None.

    The matches are then those pieces between two such characters that match `inner` as a whole.
    """
    found = _BETWEEN.fullmatch(pattern)
    if found is None:
        return None
    mark, inner = found[1].removeprefix("\\"), found[2]
    at = 0
    while at < len(inner):  # word characters, sets of them, groups, repetitions: none is a mark
        atom = _ATOMS.match(inner, at)
        if atom is None or (mark == "-" and (atom["set"] or atom["literal"] == "-")):
            return None
        at = atom.end()
    return (mark, inner) if is_python(inner) else None


def is_python(pattern: str) -> bool:
    """Whether Python's `re` accepts the expression."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
