"""Copies an object within S3, with one request, or one per part of a large object; the bytes never leave S3.

Spec: Amazon S3 API, CopyObject (objects of up to 5 GiB) and UploadPartCopy.
"""

from __future__ import annotations

from crawlmill.storage.s3.errors import said
from crawlmill.storage.s3.multipart import Ask, multipart

__all__ = ["AT_ONCE_BYTES", "copy_object"]

AT_ONCE_BYTES = 1 << 30


def copy_object(ask: Ask, source: tuple[str, str], target: tuple[str, str]) -> None:
    """Copy (bucket, key) to (bucket, key), whole or not at all.

    Raises:
        SourceError: The source does not exist, has changed in the meantime, or S3 refuses.
    """
    bucket, key = source
    head = ask("head_object", Bucket=bucket, Key=key)
    tag, size = (said(head, name, f"s3://{bucket}/{key}") for name in ("ETag", "ContentLength"))
    # Not an object that has replaced it since.
    what = {"CopySource": {"Bucket": bucket, "Key": key}, "CopySourceIfMatch": tag}
    bucket, key = target
    if size <= AT_ONCE_BYTES:
        ask("copy_object", Bucket=bucket, Key=key, **what)
        return
    with multipart(ask, bucket, key) as send:
        for start in range(0, size, AT_ONCE_BYTES):
            stop = min(start + AT_ONCE_BYTES, size)
            send("upload_part_copy", **what, CopySourceRange=f"bytes={start}-{stop - 1}")
