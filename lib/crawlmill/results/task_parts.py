"""Parts written by tasks in formats other than pairs: one file per task of the last step, and possibly a note.

A note is a small file next to a part with the number of cells that a spreadsheet would treat as formulas. Like the
part, it counts only if its attempt does; it is not published.
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

if TYPE_CHECKING:  # from a higher layer
    from contextlib import AbstractContextManager
    from typing import Protocol

    class NamedFiles(Protocol):
        """Writes the files of a task; `crawlmill.mr.task.files.TaskFiles` is one."""

        def write(self, name: str) -> AbstractContextManager[BinaryIO]:
            """Open a file with this name."""


__all__ = ["TaskParts", "write_part"]

_NOTE: Final = "formulas-of-"
_MAX_NOTE: Final = 100
_PIECE: Final = 1 << 20


@contextmanager
def write_part(files: NamedFiles, number: int, form: PartFormat) -> Iterator[PartWriter]:
    """Yield a writer for the result lines of the task with this number, as a part among the task's files."""
    name = part_name(number, form.name)
    with files.write(name) as file, form.open(file) as part:
        yield part
    if part.formulas:
        with files.write(_NOTE + name) as note:
            note.write(b"%d" % part.formulas)


class TaskParts:
    """The parts of a run, from the named files of its tasks; one empty part if no task has written any.

    `files` are those to publish.
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
        """The number of cells that a spreadsheet would treat as formulas. Raises: SourceError, FormatError."""
        return sum(int(self._storage.read_all(str(place), limit=_MAX_NOTE)) for place in self._notes)

    def print(self, file: BinaryIO) -> None:
        """Copy all parts to a file, one after another, with a single header. Raises: SourceError, OSError."""
        for number, name in enumerate(self._parts):
            with self._storage.open_stream(str(self.files[name])) as stream:
                if number and self._form.name in DELIMITERS:
                    piece = b""
                    while b"\n" not in piece and (more := stream.read(_PIECE)):  # names of columns contain no line ends
                        piece += more
                    file.write(piece.partition(b"\n")[2])
                shutil.copyfileobj(stream, file, _PIECE)
