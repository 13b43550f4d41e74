"""A multipart upload to S3: the object appears once all of its parts are there, or not at all.

Spec: Amazon S3 API, CreateMultipartUpload, UploadPart, UploadPartCopy, CompleteMultipartUpload, AbortMultipartUpload.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from crawlmill.errors import SourceError
from crawlmill.storage.s3.errors import said

__all__ = ["Ask", "SendPart", "multipart"]

Ask = Callable[..., dict[str, Any]]
"""`ask(operation, **arguments)` sends a request, with the policy for retries applied. Raises: SourceError."""

_log = logging.getLogger("crawlmill")


class SendPart(Protocol):
    """Adds a part after the existing ones."""

    def __call__(self, operation: str, **what: Any) -> None:
        """Call `upload_part` or `upload_part_copy`, with arguments besides upload and number. Raises: SourceError."""


@contextmanager
def multipart(ask: Ask, bucket: str, key: str) -> Iterator[SendPart]:
    """An upload, completed when the block ends normally, otherwise aborted without leftovers. Raises: SourceError."""
    where, location = {"Bucket": bucket, "Key": key}, f"s3://{bucket}/{key}"
    where["UploadId"] = said(ask("create_multipart_upload", **where), "UploadId", location)
    parts: list[dict[str, Any]] = []

    def send(operation: str, **what: Any) -> None:
        number = len(parts) + 1
        answer = ask(operation, **where, **what, PartNumber=number)
        tag = said(answer.get("CopyPartResult", answer), "ETag", location)
        parts.append({"ETag": tag, "PartNumber": number})

    try:
        yield send
        ask("complete_multipart_upload", **where, MultipartUpload={"Parts": parts})
    except BaseException:
        try:
            ask("abort_multipart_upload", **where)
        except SourceError as error:
            _log.warning("an unfinished upload could not be removed: %s", error)
        raise
