"""Keeps the pages of a query in a folder, so that an interrupted look-up continues where it stopped.

    FOLDER/QUERY/count              the number of pages stated by the server, as JSON
    FOLDER/QUERY/page-000000        a page: the SHA-256 of the rest, a line of JSON, then its lines, as gzip

QUERY is a digest of the whole request, so different look-ups can share a folder. Damaged pages are fetched again. A
page is written whole or not at all.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.indexes.cdx_api.answer import Count
from crawlmill.indexes.cdx_api.page import Page

__all__ = ["KeptPages"]

_DIGEST: Final = 64
_CHUNK: Final = 1 << 20


class KeptPages:
    """The pages of one query in a folder, which is created if needed."""

    def __init__(self, folder: Path, query: Any) -> None:
        """Raises: UsageError: The folder cannot be created."""
        name = hashlib.sha256(json.dumps(query, sort_keys=True).encode()).hexdigest()[:24]
        self._folder = folder / name
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--checkpoint: cannot make the folder: {error.strerror}", source=str(folder)) from error

    def count(self) -> Count | None:
        """The stored number of pages; None if there is none."""
        try:
            return Count(**json.loads((self._folder / "count").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def set_count(self, count: Count) -> None:
        """Store the number of pages; drops pages of another division."""
        before = self.count()
        if before == count:
            return
        for path in self._folder.glob("page-*"):
            path.unlink(missing_ok=True)
        self._write("count", json.dumps(asdict(count)).encode())

    def has(self, number: int) -> bool:
        """Whether a page is stored, going by its file name."""
        return (self._folder / _name(number)).is_file()

    def page(self, number: int) -> Page | None:
        """A page, if it is stored and undamaged; else None."""
        try:
            data = (self._folder / _name(number)).read_bytes()
            digest, rest = data[:_DIGEST], data[_DIGEST:]
            if hashlib.sha256(rest).hexdigest().encode() != digest:
                return None
            head, _, packed = rest.partition(b"\n")
            page = Page(json.loads(head)["resume"])
            text = gzip.decompress(packed)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zlib.error):
            return None
        start = 0
        while start < len(text):
            end = text.find(b"\n", min(start + _CHUNK, len(text)) - 1) + 1 or len(text)
            page.add(text[start:end])
            start = end
        return page

    def keep(self, number: int, page: Page) -> None:
        """Store a page. Raises: UsageError: The folder cannot be written any more."""
        packed = gzip.compress(b"".join(page.chunks()), 1, mtime=0)
        rest = json.dumps({"resume": page.resume}).encode() + b"\n" + packed
        self._write(_name(number), hashlib.sha256(rest).hexdigest().encode() + rest)

    def _write(self, name: str, data: bytes) -> None:
        part = self._folder / f".{name}.{secrets.token_hex(4)}"
        try:
            part.write_bytes(data)
            os.replace(part, self._folder / name)  # noqa: PTH105
        except OSError as error:
            part.unlink(missing_ok=True)
            raise UsageError(f"--checkpoint: cannot write: {error.strerror}", source=str(self._folder)) from error


def _name(number: int) -> str:
    return f"page-{number:06}"
