"""The output folder of a run: filled where nobody looks, and shown when it is whole.

    part-00000 …     the result lines
    _ledger.jsonl    what became of each input (unless the user wants it elsewhere)
    _run.json        what ran, when, with which versions
    _SUCCESS         empty, written last: without it a run is not finished

Where storage can rename folders (local, HDFS) the folder appears at once; on S3 its objects appear one by one.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import absolute, join, local_path

__all__ = ["OutputFolder", "copy_to"]

_CHUNK = 1 << 20
_AT_ONCE = 8


class OutputFolder:
    """A folder in the making.

    `work` is a local folder for tasks to write in, where publishing is then a mere rename; `remote_work` the location
    of one on HDFS, which is for the tasks to make.

    `again`: an unfinished folder, which only S3 has, is filled once more.

    Raises:
        UsageError: The folder exists, or cannot be made.
    """

    def __init__(self, location: str, storage: Storage, *, again: bool = False) -> None:
        location = absolute(location.rstrip("/") or "/", os.getcwd())  # noqa: PTH109
        self._storage, self._target = storage, location
        self._made: list[Path] = []
        try:
            unfinished = again and not storage.renames(location) and not storage.exists(join(location, "_SUCCESS"))
            if not unfinished and storage.exists(location):
                raise UsageError(f"the output folder exists: {redact(location)}")
            self._staging = _sibling(location) if storage.renames(location) else location
            self.work = None if is_remote(location) else self._make(local_path(self._staging))
            self.remote_work: str | None = None
            if self.work is None:
                storage.make_folder(self._staging)
                self.remote_work = join(self._staging, "work") if storage.renames(location) else None
        except (SourceError, OSError) as error:
            raise UsageError(f"cannot write to the output folder {redact(location)}: {error}") from error

    def put(self, name: str, content: bytes | Path | str) -> None:
        """Add a file: these bytes, or a local file or one at a location, which may be moved."""
        if self.work is not None and isinstance(content, Path) and self.work in content.parents:
            content.rename(self.work / name)
            return
        if self.remote_work is not None and isinstance(content, str) and content.startswith(f"{self.remote_work}/"):
            self._storage.rename(content, join(self._staging, name))
            return
        if isinstance(content, str):
            self._storage.copy(content, join(self._staging, name))
            return
        with self._storage.write(join(self._staging, name)) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                copy_to(file, content, self._storage)

    def publish(self, parts: Sequence[Path | str], extras: dict[str, bytes | Path]) -> None:
        """Put the parts, what goes with them, and _SUCCESS; then show the folder.

        Raises:
            CrawlmillError: Somebody else has made the folder meanwhile.
        """
        # Where bytes lie that are far from here, several at a time are on their way.
        with ThreadPoolExecutor(_AT_ONCE if all(isinstance(part, str) for part in parts) else 1) as pool:
            list(pool.map(self._put_part, *zip(*enumerate(parts), strict=True)) if parts else ())
        if self.remote_work is not None:
            self._storage.remove(self.remote_work)
        if self.work is not None:
            for rest in self.work.iterdir():
                if rest.is_dir():
                    shutil.rmtree(rest)
        for name, content in extras.items():
            self.put(name, content)
        self.put("_SUCCESS", b"")
        if self._staging != self._target:
            try:
                self._storage.rename(self._staging, self._target)
            except (UsageError, OSError) as error:
                raise CrawlmillError(f"the output folder was made by somebody else: {redact(self._target)}") from error
        self._made.clear()

    def _put_part(self, number: int, part: Path | str) -> None:
        suffix = PurePosixPath(part).suffix if isinstance(part, str) else ""  # of a compressed one
        self.put(f"part-{number:05}{suffix}", part)

    def discard(self) -> None:
        """Leave nothing behind of a folder that was not published."""
        if self._staging != self._target:
            try:
                self._storage.remove(self._staging)
            except SourceError:
                pass  # the run has failed for a reason of its own, perhaps this very one
        for folder in reversed(self._made):
            try:
                folder.rmdir()
            except OSError:
                break

    def _make(self, folder: Path) -> Path:
        missing = [parent for parent in folder.parents if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir()
            self._made.append(parent)
        folder.mkdir(mode=0o777)
        return folder


def copy_to(file: BinaryIO, source: Path | str, storage: Storage) -> None:
    """Append a local file, or one at a location, to an open one."""
    with source.open("rb") if isinstance(source, Path) else storage.open_stream(source) as stream:
        shutil.copyfileobj(stream, file, _CHUNK)


def _sibling(location: str) -> str:
    parent, _, name = location.rpartition("/")
    return f"{parent}/.{name}.{secrets.token_hex(4)}"
