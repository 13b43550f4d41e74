"""The results of a run, for jobs that make more files from them (`finish`) before the output is published."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from crawlmill.errors import CrawlmillError
from crawlmill.ledger.summary import Summary
from crawlmill.mr.task.files import TaskFile, check_name
from crawlmill.storage import Storage
from crawlmill.storage.interface import Stream

__all__ = ["Results", "copy_to", "named", "open_place"]

_CHUNK: Final = 1 << 20


class Results:
    """The results of a run before publishing.

    `summary` is that of the ledger, `began_s` the start of the run in seconds since 1970.
    """

    def __init__(
        self,
        parts: Sequence[Path | str],
        files: dict[str, Path | str],
        storage: Storage,
        scratch: Path,
        read: Callable[[bytes], tuple[Any, Any]],
        summary: Summary,
        began_s: float,
    ) -> None:
        self.summary, self.began_s = summary, began_s
        self.added: dict[str, Path] = {}
        """What `write` has written, by name."""
        self._parts, self._files, self._storage, self._scratch, self._read = parts, files, storage, scratch, read

    @property
    def files(self) -> list[str]:
        """The names of the files written by tasks, sorted."""
        return sorted(self._files)

    def open(self, name: str) -> Stream:
        """Open a file written by a task. Raises: KeyError, SourceError."""
        return open_place(self._files[name], self._storage)

    def size_of(self, name: str) -> int:
        """The size in bytes of a file written by a task. Raises: KeyError, SourceError."""
        return self._storage.size_of(str(self._files[name]))

    def lines(self) -> Iterator[bytes]:
        """The lines written by the last step, with line ends; their order depends on the engine."""
        for part in self._parts:
            with open_place(part, self._storage) as stream:
                yield from _lines(stream)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """The pairs yielded by the last step; their order depends on the engine."""
        return (self._read(line.rstrip(b"\r\n")) for line in self.lines())

    @contextmanager
    def write(self, name: str) -> Iterator[BinaryIO]:
        """Add a file to the output, to be published with the others.

        Raises:
            ValueError: The name is not valid for a file, or already used.
        """
        check_name(name)
        if name in self.added or name in self._files:
            raise ValueError(f"the output has a file {name} already")
        path = self._scratch / f"added-{len(self.added)}"
        with path.open("wb") as file:
            yield file
        self.added[name] = path


def named(files: Iterable[TaskFile]) -> dict[str, Path | str]:
    """The files of a run by name. Raises: CrawlmillError: Two tasks have written files with the same name."""
    found: dict[str, Path | str] = {}
    for file in files:
        if file.name in found:
            raise CrawlmillError(f"two tasks have written the file {file.name}: nothing is published")
        found[file.name] = file.place
    return found


def open_place(place: Path | str, storage: Storage) -> Stream:
    """Open a local file, or one at a location, for reading. Raises: SourceError."""
    return storage.open_stream(str(place))


def copy_to(file: BinaryIO, source: Path | str, storage: Storage) -> None:
    """Append a local file, or one at a location, to an open file."""
    with open_place(source, storage) as stream:
        shutil.copyfileobj(stream, file, _CHUNK)


def _lines(stream: Stream) -> Iterator[bytes]:
    """The lines of a stream, read in pieces, since not all streams of storage can iterate over lines."""
    rest = b""
    while piece := stream.read(_CHUNK):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest
