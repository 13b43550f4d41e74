"""Finds indexes by name (a file, a cluster, one crawl or several), and opens them according to their first bytes.

captures.cdxj  https://host/x.cdx  x.cdxj.gz             a file of CDX or CDXJ lines
url-index.1356128792  x.pbtree                           the prefix B-tree of the 2012 crawl
DIR  https://host/DIR/  s3://…/cluster.idx               a cluster: its folder, or its cluster.idx
CC-MAIN-2024-10  latest  latest:3  2024                  crawls, by their clusters below the base URL
https://host/x-index  …/cdx  …/index  api:URL            a CDX API
api:CC-MAIN-2024-10  api:latest  api:2024                crawls, by the CDX APIs that the catalogue names
TABLE-DIR  x.parquet  table.paths                        a table of Parquet files: its folder, a file, a list of files
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crawlmill.errors import FormatError, MissingDependency, Problem, SourceError, UsageError
from crawlmill.indexes.cdx.read_through import FileReadThrough
from crawlmill.indexes.cdx.sorted_file import SortedFile
from crawlmill.indexes.cdx_api.index import API_OPTIONS, ApiOptions, CdxApi
from crawlmill.indexes.cluster.cluster import Cluster
from crawlmill.indexes.cluster.verify import ClusterCheck
from crawlmill.indexes.detect import HEAD_BYTES, check_lines, detect_index
from crawlmill.indexes.index import Index, OnProblem
from crawlmill.indexes.prefix_tree.tree import PrefixTree
from crawlmill.inputs.common_crawl.catalogue import INDEX_URL, load_catalogue
from crawlmill.inputs.index_files import FolderFiles, PipedFile, StoredFile, WebService
from crawlmill.inputs.lists import COMMON_CRAWL, Input, is_absolute
from crawlmill.inputs.tables import find_parts, is_table, lists_parts
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage
from crawlmill.storage.limits import CDX_API
from crawlmill.storage.locations import absolute, is_pipe, is_remote, join, local_path, redact
from crawlmill.storage.workers import Workers

__all__ = ["IndexPlace", "check_cluster", "cluster_idx", "find_indexes", "open_index", "open_indexes"]

_CRAWL: Final = re.compile(r"CC-[A-Z]+-[0-9]{4}(-[0-9]{2}|-[0-9]{4})?", re.IGNORECASE)
_CRAWLS: Final = re.compile(r"latest(:.*)?|[0-9]{4}")
_API: Final = re.compile(r"https?://[^?#]*(-index|/cdx|/index)(\?.*)?", re.IGNORECASE)
_SAID_TO_BE_API: Final = re.compile(r"api:(.*)", re.IGNORECASE)
_MAX_WORKERS: Final = 8


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """The location of an index, and how to open it.

    `laid_out`: it is the cluster of a crawl, with the shards next to it and without a cluster.loc. `api`: it is a CDX
    API. `base_url`: the base for a list of Parquet files. `kind`: the files whose records are wanted; `wat` and `wet`
    need a sibling index.
    """

    location: str
    laid_out: bool = False
    api: bool = False
    base_url: str | None = None
    kind: str = "warc"


def find_indexes(
    names: Sequence[str], storage: Storage, *, base_url: str | None = None, index_url: str | None = None
) -> list[IndexPlace]:
    """Find the indexes with these names; each is returned once.

    Args:
        names: As the user gives them.
        storage: Reads the catalogue of crawls, if needed.
        base_url: Where the clusters of crawls are; None: at Common Crawl.
        index_url: Where the catalogue is; None: at Common Crawl.

    Raises:
        UsageError: A name is not valid.
        SourceError, FormatError: `index_url` was given, and has no catalogue.
    """
    here = os.getcwd()  # noqa: PTH109
    base = absolute(base_url or COMMON_CRAWL, here)
    given_base = base if base_url else None
    places: list[IndexPlace] = []
    for name in names:
        if not name:
            raise UsageError("an index without a name", expected="a location, a crawl, latest or a year")
        if _CRAWL.fullmatch(name):
            places.append(_of_crawl(name.upper(), base))
        elif _CRAWLS.fullmatch(name):
            crawls = load_catalogue(storage, index_url).select(name)
            places += [_of_crawl(crawl.id, base) for crawl in crawls]
        elif _API.fullmatch(name):
            places.append(IndexPlace(name, api=True))
        elif said := _SAID_TO_BE_API.fullmatch(name):
            places += _apis(said[1], storage, index_url)
        else:
            location = name if is_absolute(name) else absolute(name, here)
            places.append(IndexPlace(cluster_idx(location) or location, base_url=given_base))
    return list(dict.fromkeys(places))


def cluster_idx(location: str) -> str | None:
    """The `cluster.idx` of a location that is a folder, by its name or on this machine; None for other locations."""
    if not is_remote(location):
        try:
            path = local_path(location)
        except SourceError:
            return None  # opening it says what is wrong
        is_folder = location and os.path.isdir(path)  # noqa: PTH112 - the method raises errors
        return str(path / "cluster.idx") if is_folder else None
    return join(location, "cluster.idx") if location.endswith("/") and not location.endswith("//") else None


def _of_crawl(crawl: str, base: str) -> IndexPlace:
    return IndexPlace(absolute(f"cc-index/collections/{crawl}/indexes/cluster.idx", base), laid_out=True)


def _apis(name: str, storage: Storage, index_url: str | None) -> list[IndexPlace]:
    """The CDX API at a URL, or those of the crawls that a name selects."""
    if re.match(r"https?://[^/]", name, re.IGNORECASE):
        return [IndexPlace(name, api=True)]
    if not _CRAWL.fullmatch(name) and not _CRAWLS.fullmatch(name):
        raise UsageError("api", expected="a URL or a crawl, such as api:CC-MAIN-2024-10", actual=repr(redact(name)))
    around = absolute(index_url or INDEX_URL, os.getcwd())  # noqa: PTH109
    crawls = load_catalogue(storage, index_url).select(name)
    return [IndexPlace(absolute(crawl.api or f"{crawl.id}-index", around), api=True) for crawl in crawls]


def open_indexes(
    places: Sequence[IndexPlace],
    storage: Storage,
    on_problem: OnProblem,
    api: ApiOptions = API_OPTIONS,
    value_bytes: int | None = None,
) -> list[Index]:
    """Open the indexes; those that cannot be opened are reported and left out.

    `api`: how CDX APIs are queried; `value_bytes`: the size of values in an index of 2012.

    Raises:
        UsageError: An index does not exist, or the file is not an index.
    """
    found: list[Index] = []
    workers: dict[str, Workers] = {}
    for place in places:
        try:
            if place.api and place.kind == "warc":
                number = min(storage.connections_to(place.location, CDX_API) or _MAX_WORKERS, _MAX_WORKERS)
                shared = workers.setdefault(place.location.split("/")[2], Workers(number))
                found.append(CdxApi(WebService(place.location, storage), on_problem, shared, api))
            else:
                found.append(open_index(place, storage, on_problem, value_bytes))
        except (SourceError, FormatError) as error:
            if error.reason in ("not-found", "unknown-format"):
                raise UsageError(f"cannot use this index: {error}") from error
            on_problem(error.located(source=redact(place.location)))
    return found


def open_index(place: IndexPlace, storage: Storage, on_problem: OnProblem, value_bytes: int | None = None) -> Index:
    """Open one index.

    Args:
        place: Where it is.
        storage: Opens its files.
        on_problem: Called with each loss while the index is read.
        value_bytes: For an index of 2012, bytes of a value; None: detect it.

    Raises:
        SourceError: It cannot be read.
        FormatError: `unknown-format`: the file is not an index.
    """
    if (table := _table_folder(place.location)) is not None:
        return _open_table(table, place, storage, on_problem)
    if is_pipe(place.location):
        return _open_pipe(place.location, storage, on_problem)
    file = StoredFile(place.location, storage)
    if place.kind != "warc" and (place.api or not _is_parquet(file)):
        raise UsageError(
            f"this index does not say where {place.kind.upper()} records are",
            source=redact(place.location),
            expected="a sibling index, as the job sibling_index builds it",
        )
    kept = file.is_kept()
    head = b""
    if kept:  # then the first bytes are cached too, if the version is still the same
        file.size()
        store = file.store()
        head = (store.get(0) if store else None) or b""
    if not head:
        with file.open(0, HEAD_BYTES) as stream:
            while len(head) < HEAD_BYTES and (piece := stream.read(HEAD_BYTES - len(head))):
                head += piece
    size = file.size()
    if is_table(head) or lists_parts(head):
        return _open_table(place.location, place, storage, on_problem)
    form, gzipped = detect_index(head, file.name)
    is_empty_cluster = not head and place.location.endswith("/cluster.idx")
    if (form == "cluster" or is_empty_cluster) and size is not None:
        loc = None if place.laid_out else _loc_of(place.location)
        cluster = Cluster(file, size, FolderFiles(place.location, storage), loc, on_problem)
        cluster.prime(head)
        return cluster
    if form == "prefix-tree" and size is not None:
        return PrefixTree(file, size, head, on_problem, value_bytes)
    is_unusual = check_lines(head, file.name, gzipped=gzipped)
    if gzipped or size is None or head.startswith(codecs.BOM_UTF8) or is_unusual:
        return FileReadThrough(file, form, on_problem, gzipped=gzipped)
    index = SortedFile(file, size, form, on_problem)
    index.prime(head)
    return index


def _open_pipe(location: str, storage: Storage, on_problem: OnProblem) -> Index:
    pipe = PipedFile(location, storage)
    form, gzipped = detect_index(pipe.head(HEAD_BYTES), pipe.name)
    if form not in ("cdx", "cdxj"):
        raise FormatError(
            "an index of this kind cannot be read from a pipe",
            reason="unknown-format",
            source=pipe.name,
            expected="CDX or CDXJ, plain or gzip",
            actual=form,
        )
    check_lines(pipe.head(HEAD_BYTES), pipe.name, gzipped=gzipped)
    return FileReadThrough(pipe, form, on_problem, gzipped=gzipped)


def _is_parquet(file: StoredFile) -> bool:
    with file.open(0, HEAD_BYTES) as stream:
        head = stream.read(HEAD_BYTES)
    return is_table(head) or lists_parts(head)


def _table_folder(location: str) -> str | None:
    """The folder of a local `cluster.idx` that does not exist, if there are Parquet files below it; else None."""
    if is_remote(location) or os.path.exists(local_path(location)):  # noqa: PTH110
        return None
    folder = local_path(location).parent
    return str(folder) if local_path(location).name == "cluster.idx" and any(folder.rglob("*.parquet")) else None


def _open_table(name: str, place: IndexPlace, storage: Storage, on_problem: OnProblem) -> Index:
    try:
        from crawlmill.indexes.columnar.lookup import TableIndex  # noqa: PLC0415 - other indexes do not need pyarrow
    except ImportError as error:
        raise MissingDependency(f"a table needs the package {error.name}: pip install 'crawlmill[columnar]'") from error
    parts = find_parts(name, storage, base_url=place.base_url)
    return TableIndex(redact(name), parts, lambda location: StoredFile(location, storage), on_problem, place.kind)


def check_cluster(location: str, storage: Storage) -> LedgerRow:
    """Read a cluster to its end, given its `cluster.idx`, and return its ledger row.

    The row's records are lines; its bytes are those of the shards.
    """
    row = LedgerRow.of(Input(location, location))
    row.format = "cluster"

    def lose(error: FormatError | SourceError) -> None:
        row.lose(Problem.of(error))

    files = FolderFiles(location, storage)
    check = ClusterCheck(StoredFile(location, storage), files, _loc_of(location), files.names(), lose)
    try:
        check.run()
    except (FormatError, SourceError) as error:
        lose(error.located(source=redact(location)))
    row.records, row.bytes = check.lines, check.bytes
    return row


def _loc_of(location: str) -> str:
    """The name of the file next to a `cluster.idx` that lists the locations of its shards."""
    path = location.partition("?")[0] if is_remote(location) else location
    name = path.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return f"{stem if dot else name}.loc"
