"""From locations to bytes: local files, HTTP, S3 and HDFS, behind one interface with one retry policy.

with Storage() as storage, storage.open_stream("https://host/x.warc.gz", start=812) as stream:
    head = stream.read(4096)
"""

from __future__ import annotations

from crawlmill.storage.interface import SSE, StorageOptions, Stream
from crawlmill.storage.locations import absolute, canonical, is_pipe, is_remote, redact
from crawlmill.storage.storage import Storage

__all__ = ["SSE", "Storage", "StorageOptions", "Stream", "absolute", "canonical", "is_pipe", "is_remote", "redact"]
