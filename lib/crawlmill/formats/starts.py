"""How crawl files begin: recognises them by their first bytes, without what reads them.

| first bytes | begin |
|---|---|
| `1f 8b 08` | gzip members; the content of the first one decides |
| `28 b5 2f fd`, or a skippable frame | Zstandard frames, which only archives are read from |
| `WARC/` | plain WARC |
| a URL line | plain ARC |
| `SEQ` | a SequenceFile |
| `PAR1` | a Parquet file |
"""

from __future__ import annotations

import zlib
from typing import Final

from crawlmill.codecs.gzip_member import MAGIC
from crawlmill.codecs.zstd import begins_zstd
from crawlmill.formats.url_line import is_arc_start

__all__ = [
    "HEADS",
    "begins_archive",
    "is_crawl_data",
    "is_parquet",
    "is_record_start",
    "is_sequencefile",
    "is_warc_start",
]

HEADS: Final = 3072
"""Bytes of a record, or of what a member holds, that show nearly all record headers with their HTTP headers."""


def is_warc_start(data: bytes) -> bool:
    """Whether these bytes begin with a WARC version line, which may be incomplete."""
    return data.startswith(b"WARC/")


def is_record_start(data: bytes) -> bool:
    """Whether these bytes begin with the header of a WARC or ARC record, which may be incomplete."""
    return is_warc_start(data) or is_arc_start(data)


def begins_archive(data: bytes) -> bool:
    """Whether a file begins with a record: plain, in a frame, or in a gzip member that is intact as far as it goes."""
    if not data.startswith(MAGIC):
        return is_record_start(data) or begins_zstd(data)
    try:
        return is_record_start(zlib.decompressobj(31).decompress(data, HEADS))
    except zlib.error:
        return False


def is_sequencefile(data: bytes) -> bool:
    """Whether a file that begins with these bytes is, or was meant to be, a SequenceFile."""
    return data[:3] == b"SEQ"


def is_parquet(data: bytes) -> bool:
    """Whether a file that begins with these bytes is, or was meant to be, a Parquet file."""
    return data.startswith(b"PAR1")


def is_crawl_data(data: bytes) -> bool:
    """Whether the first bytes of a file (decompressed, if gzipped) begin an archive or a SequenceFile."""
    return is_record_start(data) or begins_zstd(data) or (is_sequencefile(data) and data[3:4] < b"\x20")
