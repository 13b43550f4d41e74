"""Copying an object within S3: one request, or for a large one a request for each part; the bytes stay there.

Spec: Amazon S3 API, CopyObject (objects of up to 5 GiB) and UploadPartCopy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from crawlmill.errors import SourceError

__all__ = ["AT_ONCE_BYTES", "copy_object"]

AT_ONCE_BYTES = 1 << 30

_log = logging.getLogger("crawlmill")


def copy_object(ask: Callable[..., dict[str, Any]], source: tuple[str, str], target: tuple[str, str]) -> None:
    """Copy (bucket, key) to (bucket, key), whole or not at all. `ask(operation, **arguments)` sends a request.

    Raises:
        SourceError: The source is not there, has changed meanwhile, or S3 refuses.
    """
    where = {"Bucket": target[0], "Key": target[1]}
    head = ask("head_object", Bucket=source[0], Key=source[1])
    # Not the object that has taken its place since.
    what = {"CopySource": {"Bucket": source[0], "Key": source[1]}, "CopySourceIfMatch": head["ETag"]}
    size = int(head["ContentLength"])
    if size <= AT_ONCE_BYTES:
        ask("copy_object", **where, **what)
        return
    upload = ask("create_multipart_upload", **where)["UploadId"]
    try:
        parts = []
        for number, start in enumerate(range(0, size, AT_ONCE_BYTES), 1):
            stop = min(start + AT_ONCE_BYTES, size)
            answer = ask(
                "upload_part_copy", **where, **what, UploadId=upload, PartNumber=number,
                CopySourceRange=f"bytes={start}-{stop - 1}",
            )  # fmt: skip
            parts.append({"ETag": answer["CopyPartResult"]["ETag"], "PartNumber": number})
        ask("complete_multipart_upload", **where, UploadId=upload, MultipartUpload={"Parts": parts})
    except BaseException:
        try:
            ask("abort_multipart_upload", **where, UploadId=upload)
        except SourceError as error:
            _log.warning("an unfinished copy could not be removed: %s", error)
        raise
