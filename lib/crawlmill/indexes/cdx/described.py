"""The record that a WAT record describes: its type, and when it was made, which the WAT record itself does not say.

A WAT record is a `metadata` record of JSON whose `Envelope` holds the header of the record that it describes, as
`WARC-Header-Metadata` or `ARC-Header-Metadata`.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.record import Record

__all__ = ["Described", "described"]


class Described(NamedTuple):
    """What a WAT record says of another one: its type, and its date as written."""

    type: str | None
    date: str | None


def described(record: Record) -> Described | None:
    """What a metadata record describes; None if it is not a WAT record. A streamed one must still be proven."""
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
    except (FormatError, SourceError):  # too large, or lost, which whoever reads on reports
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
