"""Captures as JSON, one object per line, as printed by `crawlmill lookup --output json`, also for the index of 2012.

They are converted to lines of CDXJ: `urlkey` (of 2012: `key`) and `timestamp` (of 2012: `arcFileDate`, milliseconds)
move to the front, and all fields are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError
from crawlmill.formats.reader import Account, OpenInput, Request
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.blocks import MAX_LINE

__all__ = ["begins_json_captures", "read"]

_PIECE: Final = 1 << 20
_START: Final = re.compile(rb"\s*\{[^\n]*\"url\":")
_EARLIEST: Final = "19700101000000"


def begins_json_captures(data: bytes) -> bool:
    """Whether text begins with a capture as JSON."""
    return _START.match(data) is not None


def _line_of(text: bytes) -> bytes:
    """The line of CDXJ. Raises: ValueError, KeyError, TypeError, OverflowError: It is not a capture."""
    fields = json.loads(text)
    key = fields.get("urlkey") or fields.get("key") or "-"
    timestamp = fields.get("timestamp") or _timestamp_of(fields)
    if not isinstance(fields["url"], str) or not re.fullmatch(r"\d{14}", timestamp, re.ASCII):
        raise ValueError("no url, or no timestamp")
    return f"{''.join(key.split())} {timestamp} {json.dumps(fields)}".encode("ascii", "backslashreplace")


def _timestamp_of(fields: dict[str, Any]) -> str:
    moment = datetime.fromtimestamp(int(fields["arcFileDate"]) // 1000, UTC)
    return f"{moment:%Y%m%d%H%M%S}".zfill(len(_EARLIEST))


def _lines(source: ByteSource) -> Iterator[bytes]:
    rest = b""
    while piece := source.read(_PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        if len(rest) > MAX_LINE:
            raise FormatError("a line that does not end", reason="too-large", expected=f"at most {MAX_LINE} bytes")
    if rest:
        yield rest


def read(opened: OpenInput, request: Request, account: Account) -> Iterator[Block]:  # noqa: ARG001 - the interface
    """The captures of an input, in blocks; see `Reader`."""
    offset = opened.start
    for number, text in enumerate(_lines(opened.from_start()), 1):
        if text.strip():
            if account.format is None:
                account.found("captures")
            try:
                line = _line_of(text)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError, RecursionError) as error:
                account.lose(
                    FormatError(f"line {number} is not a capture: {error}", reason="bad-header", offset=offset)
                )
            else:
                account.count(1)
                yield Block(offset, line + b"\n", 1, number)
        offset += len(text) + 1
