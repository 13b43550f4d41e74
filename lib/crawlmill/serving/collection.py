"""The collection that pywb serves: an index with pages, and the places of the archives.

The index is always a cluster (ZipNum), since pywb counts pages only for these: the one in the folder, or one built from
the folder's archives. Its second level is copied, together with the places of its shards, so that pywb finds all fields
in it; shards and archives stay where they are, and nothing is written to the folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crawlmill.codecs.gzip_member import MAGIC
from crawlmill.codecs.inflate import inflate_head
from crawlmill.errors import CrawlmillError, FormatError, SourceError, UsageError
from crawlmill.formats.reader import READ_OPTIONS
from crawlmill.formats.starts import is_crawl_data
from crawlmill.indexes.cdx.archive import ArchiveLines, IndexOptions
from crawlmill.indexes.cluster.places import read_places
from crawlmill.indexes.cluster.rows import parse_row, parse_rows
from crawlmill.indexes.cluster.shards import Member, ShardWriter, cluster_idx, shard_name
from crawlmill.inputs.index_files import FolderFiles
from crawlmill.inputs.indexes import cluster_idx as idx_of
from crawlmill.inputs.indexes import find_indexes
from crawlmill.inputs.lists import COMMON_CRAWL, Input
from crawlmill.inputs.reading import Reading
from crawlmill.sorting import sort_lines
from crawlmill.storage import Storage, redact
from crawlmill.storage.locations import absolute, is_remote, local_path

__all__ = ["COLLECTION", "Prepared", "prepare"]

COLLECTION: Final = "crawl"
"""What the collection is called in addresses."""

_CRAWL: Final = re.compile(r"CC-[A-Z]+-[0-9]{4}(-[0-9]{2}|-[0-9]{4})?", re.IGNORECASE)
_LINES: Final = 3000
_SORT_BYTES: Final = 64 << 20
_PIECE: Final = 1 << 20
_HEAD: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Prepared:
    """A collection: the number of archives that were indexed (0 for an existing cluster), and of their captures."""

    archives: int
    captures: int
    damaged: int


def prepare(target: str, work: Path, storage: Storage, *, base_url: str | None, say: Callable[[str], None]) -> Prepared:
    """Write the files for pywb to a folder.

    Args:
        target: A local folder, the location of a cluster, or a crawl.
        work: The folder to write to.
        storage: Reads the index of a crawl.
        base_url: Where to find the files of crawls; None: at Common Crawl.
        say: Called with problems of archives.

    Raises:
        UsageError: The folder does not exist, or contains nothing that can be served.
        SourceError, FormatError: An index cannot be read.
    """
    here = os.getcwd()  # noqa: PTH109
    base = absolute(base_url or COMMON_CRAWL, here).rstrip("/") + "/"
    if _CRAWL.fullmatch(target) and not Path(target).exists():
        idx = find_indexes([target], storage, base_url=base_url)[0].location
        _take_cluster(idx, work, storage, has_loc=False)
        _write_config(work, [base])
        return Prepared(0, 0, 0)
    location = absolute(target, here)
    if is_remote(location):
        _take_cluster(idx_of(location) or location, work, storage, has_loc=True)
        _write_config(work, [base])
        return Prepared(0, 0, 0)
    folder = local_path(location)
    if not folder.is_dir():
        raise UsageError("not a folder, and not a crawl such as CC-MAIN-2024-10", source=redact(target))
    try:
        found = next(
            (path for path in (folder / "cluster.idx", *sorted(folder.rglob("cluster.idx"))) if path.is_file()), None
        )
        archives = [] if found else [path for path in sorted(folder.rglob("*")) if _is_archive(path)]
    except OSError as error:
        raise UsageError(f"cannot read the folder: {error.strerror}", source=redact(target)) from error
    if found is not None:
        _take_cluster(str(found), work, storage, has_loc=True)
        _write_config(work, [f"{folder}/", f"{found.parent}/", base])
        return Prepared(0, 0, 0)
    if not archives:
        raise UsageError("nothing to serve: there is no archive and no cluster in this folder", source=redact(target))
    prepared = _index(folder, archives, work, storage, say)
    if not prepared.captures:
        raise UsageError("nothing to serve: the archives in this folder hold no captures", source=redact(target))
    _write_config(work, [f"{folder}/"])
    return prepared


def _is_archive(path: Path) -> bool:
    if not path.is_file() or path.name.startswith(("_", ".")):
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(MAGIC):
        try:
            head = inflate_head(head, 512)
        except ValueError:
            return False
    return is_crawl_data(head) and not head.startswith(b"SEQ")


def _index(folder: Path, archives: list[Path], work: Path, storage: Storage, say: Callable[[str], None]) -> Prepared:
    """Build a cluster of one shard."""
    damaged = 0
    options = IndexOptions()

    def lines() -> Iterator[bytes]:
        nonlocal damaged
        for path in archives:
            reading = Reading(Input(str(path), str(path)), storage, READ_OPTIONS, options.selection, streamed=True)
            indexed = ArchiveLines(str(path.relative_to(folder)), options)
            reading.counter = indexed.counter
            yield from indexed.of(reading)
            damaged += reading.row.outcome != "ok"
            for problem in reading.row.problems:
                say(f"{problem.reason}: {problem.message}")

    members: list[tuple[str, Member]] = []
    name = shard_name(0)
    with (work / name).open("wb") as file, sort_lines(lines(), work, _SORT_BYTES) as ordered:
        shard = ShardWriter(file, _LINES)
        for chunk in ordered.chunks():
            members += [(name, member) for member in shard.write(chunk.split(b"\n")[:-1])]
        members += [(name, member) for member in shard.close()]
    with (work / "cluster.idx").open("wb") as file:
        file.writelines(cluster_idx(members))
    (work / "cluster.loc").write_text(f"{name}\t{work / name}\n", encoding="utf-8")
    return Prepared(len(archives), sum(member.lines for _, member in members), damaged)


def _take_cluster(idx: str, work: Path, storage: Storage, *, has_loc: bool) -> None:
    """Copy the second level of a cluster, numbering the rows, and write the places of its shards."""
    files = FolderFiles(idx, storage)
    places = read_places(files.source("cluster.loc")) if has_loc else {}
    names: dict[str, None] = {}
    before = b""
    try:
        with storage.open_stream(idx) as stream, (work / "cluster.idx").open("wb") as file:
            rows = parse_rows(iter(lambda: stream.read(_PIECE), b""))
            for number, line in enumerate(rows, 1):
                row = parse_row(line)
                if row.start < before:
                    raise UsageError(
                        "the rows of cluster.idx are out of order: pywb would miss captures", source=redact(idx)
                    )
                before = row.start
                names[row.shard] = None
                file.write(
                    b"%s\t%s\t%d\t%d\t%d\n"
                    % (row.start, row.shard.encode("utf-8", "surrogateescape"), row.offset, row.length, number)
                )
    except (SourceError, FormatError) as error:
        raise UsageError(f"cannot read the cluster: {error}") from error
    if not names:
        raise UsageError("nothing to serve: the cluster is empty", source=redact(idx))
    with (work / "cluster.loc").open("w", encoding="utf-8", errors="surrogateescape") as text:
        for name in names:
            text.write(f"{name}\t{_place_of(name, places, files, storage)}\n")


def _place_of(name: str, places: dict[str, list[str]], files: FolderFiles, storage: Storage) -> str:
    candidates = [files.source(place).location for place in (*places.get(name, ()), name, f"{name}.gz")]
    if is_remote(candidates[-2]) and not places:
        return candidates[-2]
    try:
        return next((each for each in candidates if storage.exists(each)), candidates[-2])
    except CrawlmillError:
        return candidates[0]


def _write_config(work: Path, archives: list[str]) -> None:
    collection = {"index": str(work / "cluster.idx"), "archive_paths": list(dict.fromkeys(archives))}
    config = {"collections": {COLLECTION: collection}, "enable_auto_colls": False}
    (work / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
