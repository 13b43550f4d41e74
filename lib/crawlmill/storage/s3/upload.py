"""Writes an object to S3, whole or not at all: one PUT if it is small, else a multipart upload."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, cast

from crawlmill.storage.s3.multipart import Ask, SendPart, multipart

__all__ = ["PART_BYTES", "upload_object"]

PART_BYTES = 8 << 20


@contextmanager
def upload_object(ask: Ask, bucket: str, key: str) -> Iterator[BinaryIO]:
    """A file that becomes the object when the block ends normally. Raises: SourceError, also from `write`."""
    with ExitStack() as stack:
        upload = _Upload(lambda: stack.enter_context(multipart(ask, bucket, key)))
        try:
            yield cast(BinaryIO, upload)
        finally:
            upload.close()
        if upload.send is None:
            ask("put_object", Bucket=bucket, Key=key, Body=bytes(upload.waiting))
        elif upload.waiting:
            upload.send("upload_part", Body=bytes(upload.waiting))


class _Upload(io.RawIOBase):
    """Sends full parts, and keeps the bytes `waiting` for the next one; `begin` starts the multipart upload."""

    def __init__(self, begin: Callable[[], SendPart]) -> None:
        self._begin = begin
        self.send: SendPart | None = None
        self.waiting = bytearray()
        self._sent = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Accept all of `data`, and send full parts. Raises: SourceError."""
        if self.closed:
            raise ValueError("write to closed file")
        with memoryview(data) as view:
            size = view.nbytes
            self.waiting += view
        # S3 allows 10,000 parts, so their size grows with the file.
        while len(self.waiting) >= (part := PART_BYTES << self._sent // 1000):
            self.send = self.send or self._begin()
            self.send("upload_part", Body=bytes(self.waiting[:part]))
            self._sent += 1
            del self.waiting[:part]
        return size
