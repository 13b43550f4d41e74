"""Writes captures as lines in three formats: CDXJ as by Common Crawl, and the classic CDX with 11 and 9 columns.

    com,example)/ 20240101000000 {"url": "http://example.com/", "mime": "text/html", …, "filename": "x.warc.gz"}
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 - - 1024 4096 x.warc.gz
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 - 4096 x.warc.gz

The JSON is ASCII, with other characters escaped. In columns, blanks, control characters and non-ASCII characters are
percent-encoded; `-` means a missing value.

Spec: https://archive.org/web/researcher/cdx_file_format.php
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from crawlmill.formats.exchange import Detected
from crawlmill.urls.escapes import escape_unprintable

__all__ = ["FORMATS", "HEADERS", "LineMaker", "cdxj_line", "detected_json"]

LineMaker = Callable[[str, str, Mapping[str, str]], str]
"""Makes the line of a urlkey, a timestamp of 14 digits, and fields by their names on disk; it has no line end."""

HEADERS: Final = {"cdx11": " CDX N b a m s k r M S V g", "cdx9": " CDX N b a m s k r V g"}
"""The first line of a file of each format that has one."""

_COLUMNS: Final = {
    "cdx11": ("url", "mime", "status", "digest", "redirect", "robotflags", "length", "offset", "filename"),
    "cdx9": ("url", "mime", "status", "digest", "redirect", "offset", "filename"),
}
_PLAIN: Final = re.compile(r"[!-~]+")
_encode: Final = json.JSONEncoder().encode


def cdxj_line(urlkey: str, timestamp: str, fields: Mapping[str, str]) -> str:
    """The line of a capture in CDXJ, with its fields in the given order."""
    return f"{urlkey} {timestamp} {_encode(fields)}"


@lru_cache(maxsize=1024)
def detected_json(found: Detected) -> str:
    """What was detected for a page, as JSON that continues the fields of a line: it begins with a comma."""
    fields = {"charset": found.charset, "languages": ",".join(found.languages)}
    return "".join(f', "{name}": {_encode(value)}' for name, value in fields.items() if value)


def _columns_line(columns: tuple[str, ...]) -> LineMaker:
    def line(urlkey: str, timestamp: str, fields: Mapping[str, str]) -> str:
        return " ".join((urlkey, timestamp, *(_column(fields.get(name)) for name in columns)))

    return line


def _column(value: str | None) -> str:
    if not value:
        return "-"
    if _PLAIN.fullmatch(value):
        return value
    return escape_unprintable(value.encode("utf-8", "surrogatepass")).decode("ascii")


FORMATS: Final[dict[str, LineMaker]] = {
    "cdxj": cdxj_line,
    "cdx11": _columns_line(_COLUMNS["cdx11"]),
    "cdx9": _columns_line(_COLUMNS["cdx9"]),
}
"""What makes the lines of each format, by its name."""
