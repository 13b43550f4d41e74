"""The sibling index: a table of pages that says where each is in WARC, WAT and WET files.

    crawl=CC-MAIN-2026-30/part-00000.gz.parquet

It is an annotation: `url_surtkey`, `crawl` (the folder) and `fetch_time` are the keys of the index that it joins.
Columns that also exist in a table of captures have the same meaning. Offsets have 64 bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final

import pyarrow as pa

from crawlmill.indexes.columnar.layout import SIBLINGS
from crawlmill.indexes.columnar.rows import uuid_bytes
from crawlmill.indexes.columnar.writer import open_writer, write_rows

__all__ = ["sibling_fields", "write_sibling_rows"]

_TIME: Final = pa.timestamp("ms", tz="UTC")
_SCHEMA: Final = pa.schema(
    [
        pa.field("url_surtkey", pa.string(), nullable=False),
        pa.field("url", pa.string(), nullable=False),
        pa.field("fetch_time", _TIME, nullable=False),
        pa.field("last_modified", _TIME),
        pa.field("warc_record_id", pa.binary(16)),
        *(
            pa.field(f"{kind}_{name}", kinds, nullable=kind != "warc")
            for kind in ("warc", *SIBLINGS)
            for name, kinds in (("filename", pa.string()), ("record_offset", pa.int64()), ("record_length", pa.int64()))
        ),
    ]
)


def sibling_fields(kind: str) -> dict[str, str]:
    """The fields of a CDXJ line with the place of a record of this kind, and their columns."""
    return {
        "url": "url",
        "length": f"{kind}_record_length",
        "offset": f"{kind}_record_offset",
        "filename": f"{kind}_filename",
    }


def write_sibling_rows(file: BinaryIO, lines: Iterable[bytes], *, compression: str) -> None:
    """Write a whole file from the lines of `extraction.beside`, in order and without line ends; it stays open."""
    with open_writer(file, _SCHEMA, version="2.6", compression=compression) as writer:
        write_rows(writer, map(_row, lines), dict.get)


def _row(line: bytes) -> dict[str, Any]:
    key, timestamp, text = line.split(b" ", 2)
    fields: dict[str, Any] = json.loads(text)
    row = {
        "url_surtkey": key.decode(),
        "url": fields["url"],
        "fetch_time": _moment(timestamp.decode()),
        "last_modified": _moment(fields.get("last-modified", "")),
        "warc_record_id": uuid_bytes(fields.get("recordid")),
        "warc_filename": fields["filename"],
        "warc_record_offset": int(fields["offset"]),
        "warc_record_length": int(fields["length"] or 0),
    }
    for kind in SIBLINGS:
        if kind in fields:
            offset, length, name = fields[kind]
            row.update({f"{kind}_record_offset": offset, f"{kind}_record_length": length, f"{kind}_filename": name})
    return row


def _moment(stamp: str) -> datetime | None:
    try:
        return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC) if stamp else None
    except ValueError:
        return None
