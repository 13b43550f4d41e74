"""The record that a WAT record describes: its type, and its date, which differs from that of the WAT record.

A WAT record is a `metadata` record with JSON whose `Envelope` contains the header of the described record, as
`WARC-Header-Metadata` or `ARC-Header-Metadata`.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.record import Record

__all__ = ["Described", "described"]


class Described(NamedTuple):
    """What a WAT record says about the described record: its type, and its date as written."""

    type: str | None
    date: str | None


def described(record: Record) -> Described | None:
    """Parse a metadata record; None if it is not a WAT record. The caller must still verify a streamed record."""
    if not (record.content_type or "").lower().startswith("application/json"):
        return None
    try:
        envelope = json.loads(record.block.tail(0, record.max_body))["Envelope"]
        if "ARC-Header-Metadata" in envelope:
            header = envelope["ARC-Header-Metadata"]
            kind = "filedesc" if str(header.get("Target-URI", "")).startswith("filedesc:") else "response"
            return Described(kind, _text(header.get("Date")))
        header = envelope["WARC-Header-Metadata"]
        return Described(_text(header.get("WARC-Type")), _text(header.get("WARC-Date")))
    except (FormatError, SourceError):  # too large, or lost, which is reported when reading continues
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
