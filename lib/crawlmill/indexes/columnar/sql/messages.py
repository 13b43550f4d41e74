"""Converts an error of DuckDB to one line, with the place in the statement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["explained"]

_QUOTED: Final = re.compile(r"\"([^\"]+)\"|(?:name|column|Column|Function with name|Table with name) ([\w.]+)")
_KIND: Final = re.compile(r"^(?:[A-Z][\w-]*(?: [A-Za-z]+)? Error): ")
_OURS: Final = re.compile(r"^Python exception occurred while executing the UDF: (?:\w+: )?")
_ADVICE: Final = re.compile(r"\. Use TRY\(.*| \(?(?:or )?SET \w+ *=.*")  # settings cannot be changed
_MORE: Final = re.compile(r"\n\s*(?:LINE \d+:|Candidate|Did you mean).*", re.DOTALL)


def explained(error: Exception, statements: str, names: Mapping[str, str]) -> str:
    """The message for an error.

    Args:
        error: An error of DuckDB.
        statements: The user's statements, for finding the place.
        names: DuckDB's names of the files at these locations.
    """
    text = str(error)
    what = " ".join(_OURS.sub("", _KIND.sub("", _MORE.sub("", text))).split())
    what = _ADVICE.sub("", what)
    for location, name in names.items():
        if name in what or name.partition("://")[2] in what:
            what = what.replace(name, location)
    return what + _place(text, statements)


def _place(text: str, statements: str) -> str:
    for found in _QUOTED.finditer(text):
        word = found[1] or found[2]
        place = re.search(rf"\b{re.escape(word)}\b", statements, re.IGNORECASE)
        if place is not None:
            line = statements.count("\n", 0, place.start()) + 1
            column = place.start() - (statements.rfind("\n", 0, place.start()) + 1) + 1
            return f" (line {line}, column {column})"
    return ""
