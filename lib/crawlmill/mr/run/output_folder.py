"""The output folder of a run: written under a hidden name, and renamed when it is complete.

    part-00000 …     the result lines
    NAME …           named files written by tasks
    _ledger.jsonl    the outcome of each input (unless the user wants it elsewhere)
    _run.json        what ran, when, with which versions
    _SUCCESS         empty, written last: without it the run has not finished

If storage can rename folders (local, HDFS), the folder appears at once; on S3 its objects appear one by one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.later import later
from crawlmill.mr.run.owned_folders import OwnedFolder, remove_abandoned
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import absolute, join, local_path, without_slashes

__all__ = ["OutputFolder"]

_threads = later("concurrent.futures:ThreadPoolExecutor")

_AT_ONCE = 8

_STAGING = re.compile(r"\..+\.[0-9a-f]{8}", re.DOTALL)


class OutputFolder:
    """An output folder before it is published.

    `work` is a local folder that tasks write to, so that publishing is a mere rename; `remote_work` is the location of
    one on HDFS, which the tasks create.

    `again`: an unfinished folder, which exists only on S3, is written once more. `work`: the `remote_work` of a
    launcher that died, with the output of its tasks; files next to it were already moved there to be published.

    Raises:
        UsageError: The folder exists, or cannot be created.
    """

    def __init__(self, location: str, storage: Storage, *, again: bool = False, work: str | None = None) -> None:
        location = absolute(without_slashes(location), os.getcwd())  # noqa: PTH109
        self._storage, self._target = storage, location
        self._made: list[Path] = []
        try:
            unfinished = again and not storage.renames(location) and not storage.exists(join(location, "_SUCCESS"))
            if not unfinished and storage.exists(location):
                raise UsageError(f"the output folder exists: {redact(location)}")
            self._staging = _sibling(location) if storage.renames(location) else location
            if work is not None:
                self._staging = work.rpartition("/")[0]
            self.work = None if is_remote(location) else self._make(local_path(self._staging))
            self._owned = OwnedFolder(self.work) if self.work is not None else None
            self.remote_work: str | None = None
            if self.work is None:
                storage.make_folder(self._staging)
                self.remote_work = join(self._staging, "work") if storage.renames(location) else None
        except (SourceError, OSError) as error:
            why = (isinstance(error, OSError) and error.strerror) or error
            raise UsageError(f"cannot write to the output folder {redact(location)}: {why}") from error

    def put(self, name: str, content: bytes | Path | str) -> None:
        """Add a file: bytes, a local file, or a file at a location, which is moved if it is in this folder."""
        target = join(self._staging, name)
        if str(content) == target:  # a launcher that died has already moved it
            return
        if isinstance(content, bytes):
            with self._storage.write(target) as file:
                file.write(content)
        elif (ours := self.work or self.remote_work) is not None and str(content).startswith(f"{ours}/"):
            self._storage.rename(str(content), target)
        else:
            self._storage.copy(str(content), target)

    def publish(
        self, parts: Sequence[Path | str], files: Mapping[str, Path | str], extras: Mapping[str, bytes | Path]
    ) -> None:
        """Add the parts, named files, extra files, and _SUCCESS; then make the folder visible.

        Raises:
            CrawlmillError: Somebody else has created the folder meanwhile, or a file has the name of a part.
        """
        names = [_part_name(number, part) for number, part in enumerate(parts)]
        if twice := sorted(set(names) & set(files)):
            raise CrawlmillError(f"a task has written a file named {twice[0]}, which is the name of a part")
        everything = [*zip(names, parts, strict=True), *files.items()]
        for folder in sorted({name.rpartition("/")[0] for name in files} - {""}):
            self._storage.make_folder(join(self._staging, folder))
        # On remote storage, several files are transferred at a time.
        far = all(isinstance(content, str) for _, content in everything)
        with _threads(_AT_ONCE if far else 1) as pool:
            list(pool.map(lambda each: self.put(*each), everything))
        if self.work is not None:
            published = {name.partition("/")[0] for name in files}
            for rest in self.work.iterdir():
                if rest.is_dir() and rest.name not in published:
                    shutil.rmtree(rest)
        for name, content in extras.items():
            self.put(name, content)
        self.put("_SUCCESS", b"")
        if self.remote_work is not None:  # only now: it contains the rows, from which a ledger can be rebuilt
            self._storage.remove(self.remote_work)
        if self._owned is not None:
            self._owned.unmark()
        if self._staging != self._target:
            try:
                self._storage.rename(self._staging, self._target)
            except (CrawlmillError, OSError) as error:
                exists = isinstance(error, UsageError)
                why = "was made by somebody else" if exists else f"cannot be published ({error})"
                raise CrawlmillError(f"the output folder {why}: {redact(self._target)}") from error
        self._made.clear()

    def discard(self) -> None:
        """Remove a folder that was not published."""
        if self._owned is not None:
            self._owned.close()
        if self._staging != self._target:
            try:
                self._storage.remove(self._staging)
            except SourceError:
                pass  # the run has failed with an error of its own, perhaps this very one
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
        remove_abandoned(folder.parent, _STAGING.fullmatch)
        folder.mkdir(mode=0o777)
        return folder


def _part_name(number: int, part: Path | str) -> str:
    suffix = PurePosixPath(part).suffix if isinstance(part, str) else ""  # the suffix of a compressed part
    return f"part-{number:05}{suffix}"


def _sibling(location: str) -> str:
    parent, _, name = location.rpartition("/")
    return f"{parent}/.{name}.{os.urandom(4).hex()}"
