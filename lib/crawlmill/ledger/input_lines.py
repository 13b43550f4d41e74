"""How the line that names an input in a list is written, and hints about lines that name nothing."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from crawlmill.terminal.text import json_visible, visible

__all__ = ["CDXJ", "COLUMNS", "as_line", "hint_for", "is_cdxj", "json_of", "may_be_location"]

CDXJ: Final = re.compile(r"\S+ [0-9]{1,17} (\{.*\})")
_BLANKS: Final = re.compile(r"(?!\S+\t[0-9]+\t[0-9]+\Z)\S+[ \t]+[0-9]+[ \t]+[0-9]+")
_LIKE_A_NAME: Final = re.compile(r"[^\s:]*([/.]|[-_]?[0-9])[^\s:]*(\t.*)?|\S+ [0-9]+ \{.*")
_GLOB: Final = re.compile(r"[*?]|\[[^\]]+\]|\{[^}]*,[^}]*\}")
_CAPTURE: Final = re.compile(r"\{|\S+ [0-9]{14} ")
_ANY_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_decode: Final = json.JSONDecoder().raw_decode
COLUMNS: Final = ("warc_filename", "warc_record_offset", "warc_record_length")


def is_cdxj(line: str) -> bool:
    """Whether a line is read as CDXJ."""
    return CDXJ.fullmatch(line) is not None


def json_of(text: str) -> Any:
    """What `json.loads` returns for a text without blanks around it, of which it looks for none: lists are long.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    value, end = _decode(text)
    return value if end == len(text) else json.loads(text)


def hint_for(line: str) -> str | None:
    """What is probably wrong with a line whose location does not exist; None if unknown."""
    if _BLANKS.fullmatch(line):
        return "LOCATION, OFFSET and LENGTH are separated by tabs, not by blanks"
    if len(line) > 1 and line[0] == line[-1] and line[0] in "\"'":
        return "quotes are part of the name: leave them out"
    if line.startswith("~"):
        return "~ is not expanded in a list: write the path out"
    if not _ANY_SCHEME.match(line) and _GLOB.search(line) and not _CAPTURE.match(line):
        return "patterns are not expanded in a list: name each file, e.g. by `ls -d PATTERN > x.paths`"
    return None


def may_be_location(line: str) -> bool:
    """Whether a line looks like a file name, a path or a URI, rather than a word or a sentence."""
    return line.startswith(("{", "/")) or bool(_ANY_SCHEME.match(line) or _LIKE_A_NAME.fullmatch(line))


def as_line(location: str, offset: int | None, length: int | None) -> str:
    """The line that names an input; as JSON if a plain line could not, or would contain control characters."""
    plain = location if length is None else f"{location}\t{offset}\t{length}"
    odd = visible(location) != location or location != location.strip() or location.startswith(("#", "{", "\ufeff"))
    if not odd and not is_cdxj(plain) and COLUMNS[0] not in location:
        return plain
    span = {} if length is None else {"offset": offset, "length": length}
    return json_visible(json.dumps({"filename": location, **span}))
