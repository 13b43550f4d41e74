"""A capture, which is one line of an index: its key, its time, and its fields, named as in CDXJ.

    com,example)/ 20240101000000 {"url": "http://example.com/", "mime": "text/html", …}                      CDXJ
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 - - 1024 4096 x.warc.gz              CDX 11
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 - 4096 x.warc.gz                     CDX 9

CDX files with 10 columns lack the length, those with 8 also lack redirect and robot flags. Three columns about the
original of a revisit may follow in each. Lines with 7 columns are those of the Wayback Machine's API, which end with
the length. A `-` means no value.

Spec: https://archive.org/web/researcher/cdx_file_format.php for the columns; CDXJ as published by Common Crawl. Keys
may contain `{`, so lines are split at their first two blanks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.later import later

__all__ = ["ALIASES", "FIELDS", "Capture", "disk_fields", "disk_name", "parse_capture"]

FIELDS: Final = (
    "urlkey",
    "timestamp",
    "url",
    "mime",
    "mime-detected",
    "status",
    "digest",
    "length",
    "offset",
    "filename",
    "charset",
    "languages",
    "truncated",
    "redirect",
)
"""The usual fields, in the order of Common Crawl's lines."""

ALIASES: Final = {"original": "url", "mimetype": "mime", "statuscode": "status", "encoding": "charset"}
"""What CDX APIs call a field, and what it is called on disk."""

_API_NAMES: Final = {disk: api for api, disk in ALIASES.items()}
_API_FIELDS: Final = frozenset(ALIASES)
_ORIGINAL: Final = ("orig.length", "orig.offset", "orig.filename")
_COLUMNS: Final = {
    11: ("url", "mime", "status", "digest", "redirect", "robotflags", "length", "offset", "filename"),
    10: ("url", "mime", "status", "digest", "redirect", "robotflags", "offset", "filename"),
    9: ("url", "mime", "status", "digest", "redirect", "offset", "filename"),
    8: ("url", "mime", "status", "digest", "offset", "filename"),
    7: ("url", "mime", "status", "digest", "length"),
}
_COLUMNS_BY_NUMBER: Final = _COLUMNS | {14: _COLUMNS[11] + _ORIGINAL, 12: _COLUMNS[9] + _ORIGINAL}
_TIMESTAMP: Final = re.compile(rb"[0-9]{14}")
_SHOWN: Final = 60

_published_fields: Callable[[dict[str, Any]], dict[str, int]] = later(
    "crawlmill.indexes.prefix_tree.items:published_fields"
)


def disk_name(field: str) -> str:
    """The field name on disk for a name that may be an API's."""
    return ALIASES.get(field, field)


@dataclass(frozen=True, slots=True)
class Capture:
    """One capture. `fields` are those of the line, in order; texts, unless the line's JSON has other types."""

    urlkey: str
    timestamp: str
    fields: dict[str, Any]

    def get(self, field: str) -> str | None:
        """The text of a field, by its name on disk or in an API; None if it is absent."""
        name = ALIASES.get(field, field)
        if name == "urlkey":
            return self.urlkey
        if name == "timestamp":
            return self.timestamp
        value = self.fields.get(name)
        if value is None and name in _API_NAMES:
            value = self.fields.get(_API_NAMES[name])
        return value if value is None or isinstance(value, str) else json.dumps(value)

    def to_json(self) -> dict[str, Any]:
        """A flat object: `urlkey`, `timestamp`, and the fields by their names on disk; without values that are `-`.

        A capture of the index of 2012 (with a `key`) also has the five fields that this index was published with.
        """
        flat = {"urlkey": self.urlkey, "timestamp": self.timestamp}
        for name, value in self.fields.items():
            if value is not None and value != "-":
                flat.setdefault(ALIASES.get(name, name), value)
        return flat | _published_fields(self.fields) if "key" in self.fields else flat


def disk_fields(line: bytes) -> tuple[bytes, bytes, dict[str, Any]]:
    """Parse a line into key, timestamp, and fields by their names on disk.

    If a field occurs under both names, the one on disk is used, unless it is null.

    Raises:
        FormatError: As for `parse_capture`.
    """
    key, timestamp, fields = _parsed(line)
    if not _API_FIELDS.isdisjoint(fields):
        for api, disk in ALIASES.items():
            if fields.get(disk) is None and api in fields:
                fields[disk] = fields[api]
    return key, timestamp, fields


def parse_capture(line: bytes) -> Capture:
    """Parse a line, with or without its line end.

    Raises:
        FormatError: `bad-header`: it has fewer than three fields, no timestamp of 14 digits, or a number of columns
        that no CDX format has; `bad-json`: its JSON is not an object.
    """
    key, timestamp, fields = _parsed(line)
    return Capture(key.decode("utf-8", "surrogateescape"), timestamp.decode("ascii"), fields)


def _parsed(line: bytes) -> tuple[bytes, bytes, dict[str, Any]]:
    line = line.rstrip(b"\r\n")
    parts = line.split(b" ", 2)
    if len(parts) < 3 or not _TIMESTAMP.fullmatch(parts[1]) or not parts[0]:
        raise FormatError(
            "not a line of an index",
            reason="bad-header",
            expected="a urlkey, 14 digits, and JSON or columns",
            actual=_shown(line),
        )
    key, timestamp, rest = parts
    if rest.startswith(b"{"):
        fields = _of_json(rest)
    else:
        columns = rest.decode("utf-8", "surrogateescape").split(" ")
        names = _COLUMNS_BY_NUMBER.get(len(columns) + 2)
        if names is None:
            raise FormatError(
                "not a line of an index",
                reason="bad-header",
                expected="JSON, or 7 to 12 or 14 columns of CDX",
                actual=f"{len(columns) + 2} columns in {_shown(line)}",
            )
        fields = dict(zip(names, columns, strict=True))
    return key, timestamp, fields


def _of_json(text: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = str(error).partition(":")[0] if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise FormatError(
            "the JSON of an index line does not parse", reason="bad-json", actual=f"{what} in {_shown(text)}"
        ) from None
    if not isinstance(fields, dict):  # cannot happen, since it begins with a brace
        raise FormatError("the JSON of an index line is not an object", reason="bad-json", actual=_shown(text))
    return fields


def _shown(line: bytes) -> str:
    text = line[: _SHOWN + 1].decode("utf-8", "backslashreplace")
    text = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else ""))
