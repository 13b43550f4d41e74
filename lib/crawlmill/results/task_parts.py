"""The parts that tasks have left in a format other than pairs: each task of the last step a file, and perhaps a note.

A note is a small file beside a part, which says how many of its cells a spreadsheet takes for formulas. Like the part,
it counts only if the attempt that wrote it does; it is not published.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from crawlmill.results.delimited import DELIMITERS
from crawlmill.results.parts import find_parts, part_name
from crawlmill.results.writers import PartFormat, PartWriter
from crawlmill.storage import Storage

if TYPE_CHECKING:  # of a layer above
    from contextlib import AbstractContextManager
    from typing import Protocol

    class NamedFiles(Protocol):
        """What takes the files of a task; `crawlmill.mr.task.files.TaskFiles` is one."""

        def write(self, name: str) -> AbstractContextManager[BinaryIO]:
            """A file of this name."""


__all__ = ["TaskParts", "write_part"]

_NOTE: Final = "formulas-of-"
_MAX_NOTE: Final = 100
_PIECE: Final = 1 << 20


@contextmanager
def write_part(files: NamedFiles, number: int, form: PartFormat) -> Iterator[PartWriter]:
    """Takes the result lines of the task of this number, as a part among the files of the task."""
    name = part_name(number, form.name)
    with files.write(name) as file, form.open(file) as part:
        yield part
    if part.formulas:
        with files.write(_NOTE + name) as note:
            note.write(b"%d" % part.formulas)


class TaskParts:
    """The parts of a run, from the files of its tasks by name; an empty one if no task has written any.

    `files` are those to be published.
    """

    def __init__(self, files: Mapping[str, Path | str], form: PartFormat, storage: Storage, scratch: Path) -> None:
        self._form, self._storage = form, storage
        self._notes = [place for name, place in files.items() if name.startswith(_NOTE)]
        self.files = {name: place for name, place in files.items() if not name.startswith(_NOTE)}
        self._parts = [part.name for part in find_parts(self.files) if part.format == form.name]
        if not self._parts:
            empty = scratch / "empty-part"
            with empty.open("wb") as file, form.open(file):
                pass
            self._parts = [part_name(0, form.name)]
            self.files[self._parts[0]] = empty

    def formulas(self) -> int:
        """How many cells a spreadsheet takes for formulas. Raises: SourceError, FormatError."""
        return sum(int(self._storage.read_all(str(place), limit=_MAX_NOTE)) for place in self._notes)

    def print(self, file: BinaryIO) -> None:
        """Copy all parts to a file, one after another, under one header. Raises: SourceError, OSError."""
        for number, name in enumerate(self._parts):
            with self._storage.open_stream(str(self.files[name])) as stream:
                if number and self._form.name in DELIMITERS:
                    piece = b""
                    while b"\n" not in piece and (more := stream.read(_PIECE)):  # names of columns have no line ends
                        piece += more
                    file.write(piece.partition(b"\n")[2])
                shutil.copyfileobj(stream, file, _PIECE)
