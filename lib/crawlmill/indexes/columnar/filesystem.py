"""A table's files for DuckDB, at any location: a small fsspec filesystem over our storage.

It contains the parts of the tables that were added, reads them by ranges, and does nothing else: there are no other
files, nothing is listed, nothing is written. A part is first requested when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from fsspec import AbstractFileSystem

from crawlmill.indexes.columnar.part_file import PartBytes, PartFile, ReadProblems
from crawlmill.indexes.source import Source

__all__ = ["PROTOCOL", "PartFilesystem"]

PROTOCOL: Final = "crawlmill"


class PartFilesystem(AbstractFileSystem):  # type: ignore[misc]
    """The parts of tables, as files `crawlmill://NUMBER/…`."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self, open_source: Callable[[str], Source]) -> None:
        super().__init__(skip_instance_cache=True)
        self._open_source = open_source
        self._parts: dict[str, PartBytes] = {}
        self.problems = ReadProblems()
        """What DuckDB makes of them is hard to read."""

    def add(self, location: str) -> str:
        """Add a location; returns the name by which DuckDB finds it."""
        path = f"{len(self._parts)}/{location.partition('?')[0].rpartition('/')[2]}"
        self._parts[path] = PartBytes(self._open_source(location))
        return f"{PROTOCOL}://{path}"

    def _part(self, path: str) -> PartBytes:
        stripped = self._strip_protocol(path).lstrip("/")
        if stripped not in self._parts:
            raise FileNotFoundError(path)
        return self._parts[stripped]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix(f"{PROTOCOL}://")

    def glob(self, path: str, **_: Any) -> list[str]:
        """The path itself, if it is a part."""
        return [path] if self._strip_protocol(path).lstrip("/") in self._parts else []

    def exists(self, path: str, **_: Any) -> bool:
        """Whether it is a part; makes no request."""
        return bool(self.glob(path))

    def isfile(self, path: str) -> bool:
        """See `exists`."""
        return self.exists(path)

    def isdir(self, path: str) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name and size of a part."""
        return {"name": path, "size": self.problems.guard(self._part(path).size), "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002
        """A constant time: the source itself checks that the version does not change."""
        return datetime(1970, 1, 1, tzinfo=UTC)

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """Open a part for reading."""
        if mode != "rb":
            raise PermissionError(f"tables are read only: {path}")
        return PartFile(self._part(path), self.problems)
