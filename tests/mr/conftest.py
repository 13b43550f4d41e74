"""A small crawl in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import builders


class Crawl:
    """A folder of crawl files, and lists of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def warc(self, name: str, *uris: str, cut: int = 0) -> Path:
        """A WARC of an HTML page per URI; the last `cut` bytes are missing."""
        records = [builders.warcinfo(), *(builders.response(uri, b"<p><b>x</b>") for uri in uris)]
        data = builders.pack(records)
        return self.write(name, data[: len(data) - cut])

    def write(self, name: str, data: bytes) -> Path:
        """A file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def list(self, *lines: object, name: str = "x.paths") -> Path:
        """An input list."""
        return self.write(name, "".join(f"{line}\n" for line in lines).encode())


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)
