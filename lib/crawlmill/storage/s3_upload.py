"""Writing an object of S3: one PUT if it is small, else a multipart upload, and whole or not at all."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Any

from crawlmill.errors import SourceError

__all__ = ["PART_BYTES", "Upload"]

PART_BYTES = 8 << 20

_log = logging.getLogger("crawlmill")


class Upload(io.RawIOBase):
    """A file to write. `ask(operation, **arguments)` sends a request, with the policy for retries applied."""

    def __init__(self, ask: Callable[..., dict[str, Any]], bucket: str, key: str) -> None:
        self._ask, self._where = ask, {"Bucket": bucket, "Key": key}
        self._waiting = bytearray()
        self._upload: str | None = None
        self._parts: list[dict[str, Any]] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any, /) -> int:
        """Take all of `data`, and send what fills a part. Raises: SourceError."""
        if self.closed:
            raise ValueError("write to closed file")
        with memoryview(data) as view:
            size = view.nbytes
            self._waiting += view
        # S3 takes 10,000 parts: they grow with the file.
        while len(self._waiting) >= (part := PART_BYTES << len(self._parts) // 1000):
            self._send(bytes(self._waiting[:part]))
            del self._waiting[:part]
        return size

    def finish(self) -> None:
        """Make the object appear."""
        if self._upload is None:
            self._ask("put_object", **self._where, Body=bytes(self._waiting))
        else:
            if self._waiting:
                self._send(bytes(self._waiting))
            self._ask(
                "complete_multipart_upload",
                **self._where,
                UploadId=self._upload,
                MultipartUpload={"Parts": self._parts},
            )
        self._upload = None
        self.close()

    def abort(self) -> None:
        """Leave nothing behind."""
        self.close()
        if self._upload is not None:
            upload, self._upload = self._upload, None
            try:
                self._ask("abort_multipart_upload", **self._where, UploadId=upload)
            except SourceError as error:
                _log.warning("an unfinished upload could not be removed: %s", error)

    def _send(self, part: bytes) -> None:
        if self._upload is None:
            self._upload = self._ask("create_multipart_upload", **self._where)["UploadId"]
        number = len(self._parts) + 1
        answer = self._ask("upload_part", **self._where, UploadId=self._upload, PartNumber=number, Body=part)
        self._parts.append({"ETag": answer["ETag"], "PartNumber": number})
