"""The layout of a table: columns, partitions, file names.

    crawl=CC-MAIN-2024-10/subset=warc/part-00000.c000.gz.parquet

A row is a capture. The crawl and the subset are not columns of the files: they are in the folder names. Both follow
from the name of the WARC file: `crawl-data/CRAWL/segments/SEGMENT/SUBSET/…`, with or without `common-crawl/` before it,
and `crawl-data/CC-NEWS/YYYY/MM/CC-NEWS-…`, which is the crawl CC-NEWS-YYYY-MM and the subset news-warc.

Spec: https://github.com/commoncrawl/cc-index-table (the flat schema)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

__all__ = [
    "CODECS",
    "COLUMNS",
    "PARTITIONED_BY",
    "RECORD_ID",
    "SIBLINGS",
    "Column",
    "Partition",
    "columns",
    "crawl_word",
    "part_name",
    "partition_of",
    "partition_of_path",
]


class Column(NamedTuple):
    """A column: its name, its type, and whether it may be null.

    Types are `string`, `int16`, `int32`, `double`, `timestamp` and `uuid`.
    `field` is the field of a CDXJ line with its value; None if it is derived from others.
    """

    name: str
    type: str = "string"
    nullable: bool = False
    field: str | None = None


COLUMNS: Final = (
    Column("url_surtkey"),
    Column("url", field="url"),
    Column("url_host_name"),
    Column("url_host_tld", nullable=True),
    Column("url_host_2nd_last_part", nullable=True),
    Column("url_host_3rd_last_part", nullable=True),
    Column("url_host_4th_last_part", nullable=True),
    Column("url_host_5th_last_part", nullable=True),
    Column("url_host_registry_suffix", nullable=True),
    Column("url_host_registered_domain", nullable=True),
    Column("url_host_private_suffix", nullable=True),
    Column("url_host_private_domain", nullable=True),
    Column("url_host_name_reversed", nullable=True),
    Column("url_protocol"),
    Column("url_port", "int32", nullable=True),
    Column("url_path"),
    Column("url_query", nullable=True),
    Column("fetch_time", "timestamp"),
    Column("fetch_status", "int16", field="status"),
    Column("fetch_redirect", nullable=True, field="redirect"),
    Column("content_digest", nullable=True, field="digest"),
    Column("content_mime_type", nullable=True, field="mime"),
    Column("content_mime_detected", nullable=True, field="mime-detected"),
    Column("content_charset", nullable=True, field="charset"),
    Column("content_languages", nullable=True, field="languages"),
    Column("content_truncated", nullable=True, field="truncated"),
    Column("warc_filename", field="filename"),
    Column("warc_record_offset", "int32", field="offset"),
    Column("warc_record_length", "int32", field="length"),
    Column("warc_segment"),
)
"""The columns of a file, in their order. A status is -1 where there is none."""

RECORD_ID: Final = Column("warc_record_id", "uuid", nullable=True, field="recordid")
"""The 16 bytes of the UUID of a record, since CC-MAIN-2026-30: before `warc_filename`, where a table has it."""

PARTITIONED_BY: Final = ("crawl", "subset")

SIBLINGS: Final = ("wat", "wet")
"""What a sibling index knows besides WARC."""

CODECS: Final = {"gzip": "gz", "zstd": "zstd"}
"""How pages are compressed, and what the names of such files hold."""

_WORD: Final = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}"
_SEGMENTS: Final = re.compile(
    rf"(?:common-crawl/)?crawl-data/({_WORD})/segments/([^/]+)/(crawldiagnostics|robotstxt|warc|wat|wet)/"
)
_NEWS: Final = re.compile(r"(?:common-crawl/)?crawl-data/CC-NEWS/([0-9]{4})/([0-9]{2})/CC-NEWS-([0-9]+-[0-9]+)?")
_PATH: Final = re.compile(r"crawl=([^/]*)/(?:subset=([^/]*)/)?[^/]*\Z")


class Partition(NamedTuple):
    """The place of a capture's row: its crawl and subset; and the segment of the crawl, or ''."""

    crawl: str
    subset: str
    segment: str = ""


def columns(*, record_ids: bool = False) -> tuple[Column, ...]:
    """The columns of a table, with or without `warc_record_id`."""
    if not record_ids:
        return COLUMNS
    at = next(n for n, column in enumerate(COLUMNS) if column.name == "warc_filename")
    return (*COLUMNS[:at], RECORD_ID, *COLUMNS[at:])


@lru_cache(100_000)
def partition_of(filename: str) -> Partition | None:
    """The partition according to the name of a WARC file; None if it is not in Common Crawl's layout."""
    if found := _SEGMENTS.match(filename):
        crawl, segment, subset = found.groups()
        return Partition(crawl, subset, segment)
    if found := _NEWS.match(filename):
        year, month, segment = found.groups()
        return Partition(f"CC-NEWS-{year}-{month}", "news-warc", segment or "")
    return None


def partition_of_path(path: str) -> tuple[str | None, str | None]:
    """Crawl and subset of a table's file, from its folders; each is None if the path does not have it."""
    found = _PATH.search(path.partition("?")[0])
    return (unquote(found[1]), found[2] and unquote(found[2])) if found else (None, None)


def crawl_word(text: str) -> str:
    """Check the name of a crawl or a subset from an option. Raises: ValueError: It cannot name a folder."""
    if not re.fullmatch(_WORD, text):
        raise ValueError(text)
    return text


def part_name(folder: str, number: int, compression: str) -> str:
    """The name of a part: `crawl=…/subset=…/part-00000.c000.gz.parquet`."""
    return f"{folder}/part-{number:05}.c000.{CODECS[compression]}.parquet"
