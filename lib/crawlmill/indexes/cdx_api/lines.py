"""Converts lines in a CDX API's responses to CDXJ, with the field names and the order used in clusters.

    com,example)/ 20240101000000 {"url": …, "mime": …, …, "source": "coll"}            pywb
    com,example)/ 20240101000000 {"url": …, …, "languages": "eng", "encoding": "UTF-8"} Common Crawl's deployment
    {"urlkey": "com,example)/", "timestamp": "20240101000000", "url": …}                with output=json
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 4096            CDX 7, of the Wayback Machine
    com,example)/ 20240101000000 http://example.com/ text/html 200 SHA1 - - 4096 1 x    CDX 9 and 11

Most lines need few changes: whole pages are converted and checked by the native core, or by a few regular expressions.
Other lines are parsed.
Values `-` and null mean no value; `source`, `source-coll` and `is_fuzzy` are the server's and dropped; other unknown
keys are kept, at the end. Lines of a fuzzy match are left out: nobody asked for them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.indexes.capture import ALIASES, FIELDS, parse_capture

__all__ = ["canonical_lines", "canonical_rows", "usual_lines"]

_VALUE: Final = rb'"(?!-")[ !#-\[\]-~]*+"'
_ORDER: Final = FIELDS[2:]
_PLAIN: Final = re.compile(
    rb'(?:[!-~]++ [0-9]{14} \{"url": '
    + _VALUE
    + b"".join(rb'(?:, "%s": %s)?+' % (name.encode(), _VALUE) for name in (*_ORDER[1:], "recordid", "last-modified"))
    + rb"\}\n)*+"
)
"""Lines that stand on disk as they are."""

_SERVERS: Final = re.compile(rb', "source(?:-coll)?": "[^"\\\n]*+"')
_USUAL_SERVERS: Final = 4
_SWAPPED: Final = re.compile(rb'(, "languages": "[^"\\\n]*+")(, "charset": "[^"\\\n]*+")')
_ABSENT: Final = re.compile(rb', "[a-z-]+": "-"')
_OF_SERVER: Final = ("source", "source-coll", "is_fuzzy", "urlkey", "timestamp")
_KEY: Final = re.compile(r"[^\x00-\x20\ud800-\udc7f\udd00-\udfff]+")
_TIMESTAMP: Final = re.compile(r"[0-9]{14}")


def usual_lines(text: bytes) -> bytes | None:
    """Convert whole lines of a response as `canonical_lines` does, if all are as servers write nearly all lines.

    None: some may not be, such as blank ones, or those with values that are not plain texts.
    """
    if (native := core.native()) is not None:
        lines: bytes | None = native.api_lines(text)
        return lines
    if _plain(text) == len(text):
        return text
    text = _renamed(text)
    return text if _plain(text) == len(text) else None


def canonical_lines(text: bytes) -> bytes:
    """Convert whole lines of a response to lines of CDXJ.

    Raises:
        FormatError: `bad-header`, `bad-json`: a line is not a capture.
    """
    text = _renamed(text)
    end = 0
    found: list[bytes] = []
    while end < len(text):
        start = end
        end = _plain(text, start)
        if end > start:
            found.append(text[start:end])
        if end < len(text):
            start, end = end, (text.find(b"\n", end) + 1) or len(text)
            if line := text[start:end].rstrip(b"\r\n"):
                found.append(_of_line(line))
    return b"".join(found)


def canonical_rows(rows: list[Any]) -> bytes:
    """Convert rows of columns, after a row of their names, to lines of CDXJ.

    Raises:
        FormatError: `bad-header`: a row is not a capture.
    """
    if not rows:
        return b""
    names, found = rows[0], []
    for row in rows[1:]:
        if not isinstance(names, list) or not isinstance(row, list) or len(row) != len(names):
            raise _no_capture(repr(row))
        found.append(_of_fields(dict(zip(map(str, names), row, strict=True))))
    return b"".join(found)


def _renamed(text: bytes) -> bytes:
    """The lines with the names and the order of pairs used on disk, less the server's own and those without a value.

    Unescaped quotes delimit strings, so what is searched for is names and values, never part of a value.
    """
    for _ in range(_USUAL_SERVERS):
        if not (server := _SERVERS.search(text)):
            break
        text = text.replace(server[0], b"")  # it is nearly always the same on all lines
    else:
        text = _SERVERS.sub(b"", text)
    text = text.replace(b', "encoding": "', b', "charset": "')
    if b', "languages": "' in text:
        text = _SWAPPED.sub(rb"\2\1", text)
    return _ABSENT.sub(b"", text) if b': "-"' in text else text


def _plain(text: bytes, start: int = 0) -> int:
    found = _PLAIN.match(text, start)
    return found.end() if found else start


def _of_line(line: bytes) -> bytes:
    if line.startswith(b"{"):
        return _of_fields(_parsed(line))
    capture = parse_capture(line)
    return _of_fields({**capture.fields, "urlkey": capture.urlkey, "timestamp": capture.timestamp})


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise _no_capture(line.decode("utf-8", "backslashreplace"))
    return fields


def _of_fields(fields: dict[str, Any]) -> bytes:
    key, time = fields.get("urlkey"), fields.get("timestamp")
    if (
        not isinstance(key, str)
        or not _KEY.fullmatch(key)
        or not isinstance(time, str)
        or not _TIMESTAMP.fullmatch(time)
    ):
        raise _no_capture(json.dumps(fields))
    if fields.get("is_fuzzy"):
        return b""
    kept = {ALIASES.get(name, name): value for name, value in fields.items() if value is not None and value != "-"}
    for name in _OF_SERVER:
        kept.pop(name, None)
    ordered = {name: kept.pop(name) for name in _ORDER if name in kept}
    return f"{key} {time} {json.dumps(ordered | kept)}\n".encode("utf-8", "surrogateescape")


def _no_capture(shown: str) -> FormatError:
    return FormatError("the answer holds a line that is not a capture", reason="bad-header", actual=repr(shown[:60]))
