"""How jobs over captures read their lists: an index file is itself an input, a cluster stands for all its shards.

A line, or a list, that names a cluster (its folder or its `cluster.idx`) stands for the shards named in the
`cluster.idx`. They are found as by a look-up: by `cluster.loc`, by name, by name with `.gz`. A folder of Parquet files
without a `cluster.idx` stands for these files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from posixpath import basename
from typing import Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.indexes.cluster.places import Shards
from crawlmill.indexes.cluster.rows import parse_row, parse_rows
from crawlmill.indexes.detect import HEAD_BYTES, detect_index
from crawlmill.inputs.index_files import FolderFiles
from crawlmill.inputs.indexes import cluster_idx
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.inputs.tables import find_parts, is_table
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute, canonical, is_pipe, redact

__all__ = ["read_index_lists"]

_IDX: Final = "cluster.idx"
_LOC: Final = "cluster.loc"
_PIECE: Final = 1 << 20


def read_index_lists(
    lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs], *, files: bool = True
) -> Inputs:
    """Read the lists of a job over captures.

    Args:
        lists: The arguments of the user: input lists, index files, clusters.
        storage: Opens them.
        read: The function that reads input lists.
        files: Whether an index file in place of a list is an input; if not, it is read as a list of captures.

    Raises:
        UsageError: Raised by `read`; or the `cluster.idx` of a cluster is damaged, or cannot be read. If it cannot be
        read and is named in a list, it becomes an input that cannot be read.
    """
    here = os.getcwd()  # noqa: PTH109
    items: list[Input] = []
    rest: list[str] = []
    for given in lists:
        if files and _is_table_folder(given, here, storage):
            items += (Input(part.location, part.location) for part in find_parts(given, storage))
        elif _is_index(given, here, storage, files=files):
            items.append(Input(given, absolute(given, here)))
        else:
            rest.append(given)
    inputs = read(rest) if rest or not lists else Inputs([])
    found: dict[tuple[str, int | None, int | None], Input] = {}
    repeated = inputs.repeated
    for item in [*items, *inputs]:
        try:
            shards = _shards(item, storage) if _is_cluster(item) else [item]
        except (SourceError, FormatError) as error:
            if item in items or isinstance(error, FormatError):
                raise UsageError(f"cannot read the cluster {redact(item.given)}: {error}") from error
            # Its task reports the reason.
            shards = [item._replace(location=cluster_idx(item.location) or item.location)]
        for each in shards:
            key = (canonical(each.location), each.offset, each.length)
            repeated += key in found
            found.setdefault(key, each)
    if not found:
        raise UsageError(f"no input in {' '.join(map(redact, lists))}: the cluster is empty")
    return Inputs(list(found.values()), repeated, inputs.beside)


def _is_index(given: str, here: str, storage: Storage, *, files: bool) -> bool:
    """Whether an argument is an index file or a cluster, not a list of inputs. A pipe is a list, as stdin is."""
    location = absolute(given, here)
    if given == "-" or is_pipe(location):
        return False
    if cluster_idx(location) is not None:
        return True
    if not files:
        return basename(location.partition("?")[0]) == _IDX
    try:
        with storage.open_stream(location, 0, HEAD_BYTES) as stream:
            head = stream.read()
    except SourceError:
        return False  # it will be read as a list, which reports the error
    if not head.strip():
        return False
    if is_table(head):
        return True
    try:
        kind, _ = detect_index(head, given)
    except FormatError:
        return False
    return kind in ("cdx", "cdxj") or basename(given) == _IDX


def _is_table_folder(given: str, here: str, storage: Storage) -> bool:
    """Whether an argument is a folder with Parquet files and without a `cluster.idx`."""
    idx = cluster_idx(absolute(given, here)) if given != "-" else None
    if idx is None or storage.exists(idx):
        return False
    try:
        return any(name.endswith(".parquet") for name in storage.list(absolute(given, here)))
    except SourceError:
        return False  # it will be read as a cluster, which reports the error


def _is_cluster(item: Input) -> bool:
    if item.length is not None:
        return False
    return basename(item.location.partition("?")[0]) == _IDX or cluster_idx(item.location) is not None


def _shards(item: Input, storage: Storage) -> list[Input]:
    """All shards of a cluster. Raises: SourceError, FormatError: they cannot be determined."""
    idx = cluster_idx(item.location) or item.location
    files = FolderFiles(idx, storage)
    shards = Shards(files, _LOC)
    with storage.open_stream(idx) as stream:
        names = dict.fromkeys(parse_row(line).shard for line in parse_rows(iter(lambda: stream.read(_PIECE), b"")))
    if unlisted := [name for name in shards.unlisted(names, files.names()) if shards.may_hold_lines(name)]:
        raise FormatError("cluster.idx has no row of a shard", reason="bad-header", source=unlisted[0])
    found: dict[str, Input] = {}
    for name in names:
        candidates = [files.source(place).location for place in (*shards.places().get(name, ()), name, f"{name}.gz")]
        location = next((each for each in candidates if storage.exists(each)), candidates[-2])
        if location in found:
            raise FormatError(
                "cluster.loc gives two shards the same place", reason="bad-header", source=redact(location)
            )
        found[location] = Input(location, location)
    return list(found.values())
