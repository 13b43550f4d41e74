"""The cache folder, which keeps what was fetched for later runs.

It is `$CRAWLMILL_CACHE`, else `$XDG_CACHE_HOME/crawlmill`, else `~/.cache/crawlmill`. It can be removed at any time:
what is not in it, or cannot be stored, is fetched again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from crawlmill.storage.resume import Identity

__all__ = ["FileBlocks", "cache_folder"]

_DIGEST_BYTES: Final = 16


def cache_folder() -> Path | None:
    """The cache folder; None if the user has no home folder for it.

    Spec: XDG Base Directory Specification: a path that is not absolute is ignored.
    """
    if given := os.environ.get("CRAWLMILL_CACHE"):
        return Path(given).absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = base if base.is_absolute() else Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - Path.home() raises
    return folder / "crawlmill" if folder.is_absolute() else None


class FileBlocks:
    """Blocks of one version of a remote file, each in a file of its own with a digest; a `BlockStore`.

    A version is an ETag; blocks of other versions are removed when the first block of this one is stored.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        version = hashlib.sha256(f"{identity.etag}\n{identity.total}".encode()).hexdigest()[:24]
        self._around, self._folder = folder, folder / version
        self._cleaned = False

    @staticmethod
    def folder_of(location: str) -> Path | None:
        """The folder for blocks of a location, of any version; None without a cache."""
        cache = cache_folder()
        return (
            cache / "index-blocks" / hashlib.sha256(location.encode("utf-8", "surrogatepass")).hexdigest()[:24]
            if cache
            else None
        )

    def get(self, number: int) -> bytes | None:
        """See `BlockStore.get`."""
        try:
            kept = (self._folder / str(number)).read_bytes()
        except OSError:
            return None
        block = kept[_DIGEST_BYTES:]
        return block if kept[:_DIGEST_BYTES] == _digest(block) else None

    def put(self, number: int, block: bytes) -> None:
        """See `BlockStore.put`."""
        with suppress(OSError):
            self._clean()
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f".{number}.{secrets.token_hex(4)}"
            try:
                new.write_bytes(_digest(block) + block)
                new.replace(self._folder / str(number))
            finally:
                new.unlink(missing_ok=True)

    def _clean(self) -> None:
        """Remove blocks of other versions, once."""
        if self._cleaned or not self._around.is_dir():
            return
        self._cleaned = True
        for other in self._around.iterdir():
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)


def _digest(block: bytes) -> bytes:
    return hashlib.blake2b(block, digest_size=_DIGEST_BYTES).digest()
