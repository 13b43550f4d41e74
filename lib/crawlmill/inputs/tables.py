"""Finds tables of the columnar index by name (a folder, a crawl or several, a list of files, a file), and their parts.

DIR  s3://bucket/table/  hdfs://…        a folder: all Parquet files below it
CC-MAIN-2024-10  latest  latest:3  2024  crawls, by their lists `cc-index-table.paths.gz` below the base URL
table.paths  table.paths.gz              a list of Parquet files
x.parquet                                one of them

Only lists and folders are read here. A file counts as Parquet by its content, or in a folder by its name.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.indexes.columnar.table import TablePart
from crawlmill.inputs.common_crawl.catalogue import Crawl, load_catalogue
from crawlmill.inputs.common_crawl.path_lists import read_paths
from crawlmill.inputs.lists import COMMON_CRAWL, KEYS, is_absolute, read_lists
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute, is_remote, join, local_path, redact

__all__ = ["PARQUET", "find_annotation", "find_host_parts", "find_parts", "is_table", "lists_parts", "path_of"]

PARQUET: Final = b"PAR1"

_CRAWL: Final = re.compile(r"CC-[A-Z]+-[0-9]{4}(-[0-9]{2}|-[0-9]{4})?", re.IGNORECASE)
_HOST_INDEX: Final = "projects/host-index-testing/v2.paths.gz"
_CRAWLS: Final = re.compile(r"latest(:.*)?|[0-9]{4}")
_GZIP: Final = b"\x1f\x8b"
_MAX_HEAD: Final = 64 << 10
_BUCKET: Final = "s3://commoncrawl/"


def find_parts(
    name: str, storage: Storage, *, base_url: str | None = None, index_url: str | None = None
) -> list[TablePart]:
    """Find the parts of a table; at least one.

    Args:
        name: As the user gives it.
        storage: Reads lists and folders.
        base_url: The base for keys of Common Crawl; None: Common Crawl's.
        index_url: Where the catalogue of crawls is; None: at Common Crawl.

    Raises:
        UsageError: There is no such table.
    """
    try:
        locations = _locations(name, storage, base_url, index_url)
    except (SourceError, FormatError) as error:
        raise UsageError(f"cannot read the table {redact(name)}: {error}") from error
    if not locations:
        raise UsageError(f"no Parquet files in {redact(name)}")
    return [TablePart.of(location) for location in dict.fromkeys(locations)]


def find_host_parts(name: str, storage: Storage, *, base_url: str | None = None) -> list[TablePart]:
    """Find the parts of the host index; at least one.

    Args:
        name: A crawl, a year, `latest`, `latest:3`, or "" for all of its crawls; or a folder, a list or a
            file of your own.
        storage: Reads lists and folders.
        base_url: As for `find_parts`.

    Raises:
        UsageError: There is none, or none for this crawl.
    """
    if name and not _CRAWL.fullmatch(name) and not _CRAWLS.fullmatch(name):
        return find_parts(name, storage, base_url=base_url)
    base = absolute(base_url or COMMON_CRAWL, os.getcwd())  # noqa: PTH109
    parts = find_parts(absolute(_HOST_INDEX, base), storage, base_url=base_url)
    crawls = sorted({part.crawl or "" for part in parts}, reverse=True)
    if name.lower().startswith("latest"):
        _, _, count = name.partition(":")
        if count and not (count.isascii() and count.isdigit() and int(count[:6])):
            raise UsageError("a number of crawls", expected="latest or latest:N, N from 1", actual=name)
        wanted = set(crawls[: int(count[:6] or 1)])
    else:
        wanted = {crawl for crawl in crawls if not name or crawl == name.upper() or name in crawl.split("-")}
    if not wanted:
        raise UsageError(f"the host index has no crawl {name}", expected=f"one of {', '.join(crawls)}")
    return [part for part in parts if part.crawl in wanted or not name]


def find_annotation(name: str, storage: Storage, *, base_url: str | None = None) -> list[TablePart]:
    """Find the parts of an annotation: a file of any kind, the files of a folder, or a list of Parquet files.

    Raises:
        UsageError: There are none.
    """
    here = os.getcwd()  # noqa: PTH109
    try:
        location = _below(name, base_url, here)
        path = path_of(location)
        if (path is not None and os.path.isdir(path)) or (path is None and location.endswith("/")):  # noqa: PTH112
            names = (each for each in storage.list(location) if not re.search(r"(\A|/)[._]", each))
            locations = [join(location, each) for each in sorted(names)]
        else:
            with storage.open_stream(location, 0, _MAX_HEAD) as stream:
                head = stream.read(_MAX_HEAD)
            if is_table(head) or not lists_parts(head):
                locations = [location]
            else:
                locations = [item.location for item in read_lists([name], storage, base_url=base_url)]
    except (SourceError, FormatError) as error:
        raise UsageError(f"cannot read the annotation {redact(name)}: {error}") from error
    if not locations:
        raise UsageError(f"no files in {redact(name)}")
    return [TablePart.of(each) for each in dict.fromkeys(locations)]


def _below(name: str, base_url: str | None, here: str) -> str:
    """A location as given, or below the base URL if it is a key of Common Crawl."""
    if is_absolute(name) or not name.startswith(KEYS) or os.path.exists(name):  # noqa: PTH110
        return name if is_absolute(name) else absolute(name, here)
    return absolute(name, absolute(base_url or COMMON_CRAWL, here))


def is_table(head: bytes) -> bool:
    """Whether a file with these first bytes is Parquet."""
    return head.startswith(PARQUET)


def lists_parts(head: bytes) -> bool:
    """Whether a file with these first bytes, plain or gzip, is a list whose first line names a Parquet file."""
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, _MAX_HEAD)
        except zlib.error:
            return False
    lines = (line.strip() for line in head.split(b"\n"))
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.endswith(b".parquet") and b"\0" not in first


def path_of(location: str) -> str | None:
    """The path of a location on this machine; None for other locations."""
    return None if is_remote(location) else str(local_path(location))


def _locations(name: str, storage: Storage, base_url: str | None, index_url: str | None) -> list[str]:
    if not name:
        raise UsageError("a table without a name", expected="a folder, a crawl, a list of Parquet files")
    here = os.getcwd()  # noqa: PTH109
    base = absolute(base_url or COMMON_CRAWL, here)
    if _CRAWL.fullmatch(name):
        return _of_crawls([Crawl(name.upper(), name)], storage, base)
    if _CRAWLS.fullmatch(name):
        return _of_crawls(load_catalogue(storage, index_url).select(name), storage, base)
    if name.startswith(_BUCKET) and base_url is not None:
        name = absolute(name.removeprefix(_BUCKET), base)
    location = name if is_absolute(name) else absolute(name, here)
    path = path_of(location)
    if (path is not None and os.path.isdir(path)) or (path is None and location.endswith("/")):  # noqa: PTH112
        return _of_folder(location, storage)
    with storage.open_stream(location, 0, len(PARQUET)) as stream:
        head = stream.read()
    if is_table(head) or location.partition("?")[0].endswith(".parquet"):  # if it is not Parquet, its reader says so
        return [location]
    return [item.location for item in read_lists([name], storage, base_url=base_url)]


def _of_crawls(crawls: list[Crawl], storage: Storage, base: str) -> list[str]:
    return [
        absolute(key, base)
        for crawl in crawls
        for key in read_paths(storage, crawl, "cc-index-table", base_url=base, segment=None)
    ]


def _of_folder(location: str, storage: Storage) -> list[str]:
    names = (name for name in storage.list(location) if not re.search(r"(\A|/)[._]", name))
    return [join(location, name) for name in names if name.endswith(".parquet") or "/part-" in f"/{name}"]
