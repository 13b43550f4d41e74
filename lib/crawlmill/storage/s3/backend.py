"""Objects on S3 and S3-compatible services: read over HTTP (`objects.py`), everything else with boto3 (`client.py`).

* Credentials: boto3's standard chain; if there are none, requests are not signed. The bucket `commoncrawl` has refused
  unsigned requests since 2022, so its objects are then read from https://data.commoncrawl.org/.
* Broken bodies are resumed by range requests that are conditional on the same ETag.
* Writes are one PUT, or a multipart upload that is completed on success and aborted on error; either way the object
  appears whole. There are no folders and no renames. A bucket may require an encryption header.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.interface import Backend, StorageOptions, Stream
from crawlmill.storage.limits import Limiter, limited_name
from crawlmill.storage.locations import redact
from crawlmill.storage.readahead import ReadAheadStream
from crawlmill.storage.resume import ResumingStream
from crawlmill.storage.retry import Attempts, RetryPolicy, retrying
from crawlmill.storage.s3.copying import copy_object
from crawlmill.storage.s3.errors import said
from crawlmill.storage.s3.objects import S3Objects
from crawlmill.storage.s3.upload import upload_object

if TYPE_CHECKING:
    from crawlmill.storage.s3.client import S3Client

__all__ = ["S3Backend"]

COMMON_CRAWL_HTTPS = "https://data.commoncrawl.org/"

# Keys come in the order of their UTF-8 bytes, which is that of their characters. Some pages may be empty or (on
# S3-compatible services) out of order; this many in a row mean that a listing goes round in circles.
_MAX_IDLE_PAGES = 1000

# Requests that state how S3 encrypts an object. The parts of an upload take this from its start.
_MAKE_OBJECTS = ("put_object", "copy_object", "create_multipart_upload")

_log = logging.getLogger("crawlmill")

Result = TypeVar("Result")


class S3Backend:
    """The backend for `s3://bucket/key` locations. `https` reads what Common Crawl serves only over HTTPS."""

    renames = False

    def __init__(self, options: StorageOptions, policy: RetryPolicy, limiter: Limiter, https: Backend) -> None:
        self._options, self._policy, self._limiter, self._https = options, policy, limiter, https
        self._payer = {"RequestPayer": "requester"} if options.s3_requester_pays else {}
        self._encryption = {
            name: value
            for name, value in (("ServerSideEncryption", options.s3_sse), ("SSEKMSKeyId", options.s3_sse_kms_key_id))
            if value
        }
        self._refused = False
        self._objects = S3Objects(options, limiter)
        self._made: S3Client | None = None
        self._lock = threading.Lock()

    def _client(self) -> S3Client:
        """The boto3 client, created only if more is needed than reading objects."""
        from crawlmill.storage.s3.client import S3Client  # noqa: PLC0415 (takes a quarter of a second)

        with self._lock:
            self._made = self._made or S3Client(self._options)
            return self._made

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """See `Backend.open`."""
        return self._or_https(
            location, lambda: self._open(location, start, length), lambda other, url: other.open(url, start, length)
        )

    def _open(self, location: str, start: int, length: int | None) -> Stream:
        opener = partial(self._objects.body, *_bucket_and_key(location))
        return ReadAheadStream(ResumingStream(opener, redact(location), start, length, self._attempts(location)))

    def size(self, location: str) -> int:
        """See `Backend.size`."""
        return self._or_https(location, lambda: self._size(location), lambda other, url: other.size(url))

    def _size(self, location: str) -> int:
        return retrying(self._attempts(location), lambda: self._objects.size(*_bucket_and_key(location)))

    def exists(self, location: str) -> bool:
        """See `Backend.exists`."""
        try:
            self.size(location)
        except SourceError as error:
            if error.reason != "not-found":
                raise
            return next(self._keys_below(location), None) is not None
        return True

    def list(self, location: str) -> Iterator[str]:
        """See `Backend.list`; folder markers are not files."""
        _, prefix = _bucket_and_key(location, folder=True)
        found = False
        for key in self._keys_below(location):
            found = True
            if not key.endswith("/"):
                yield key[len(prefix) :]
        if not found:
            raise SourceError("no object below this prefix", reason="not-found", source=redact(location))

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """See `Backend.write`; holds a part of 8 MB (more for files of gigabytes) in memory."""
        return upload_object(partial(self._ask, location), *_bucket_and_key(location))

    def copy(self, source: str, target: str) -> None:
        """See `CopyingBackend.copy`."""
        copy_object(partial(self._ask, target), _bucket_and_key(source), _bucket_and_key(target))

    def make_folder(self, location: str) -> None:
        """Do nothing: S3 has no folders."""

    def rename(self, source: str, target: str) -> None:  # noqa: ARG002
        """Raises: UsageError: S3 has no renames."""
        raise UsageError("S3 has no renames", source=redact(target))

    def remove(self, location: str) -> None:
        """See `Backend.remove`. Raises: UsageError for a whole bucket."""
        bucket, key = _bucket_and_key(location)
        if not key.strip("/"):
            raise UsageError("a whole bucket cannot be removed", source=redact(location))
        self._ask(location, "delete_object", Bucket=bucket, Key=key)
        names = [{"Key": name} for name in self._keys_below(location)]
        for at in range(0, len(names), 1000):  # the most that one request accepts
            self._remove(location, bucket, names[at : at + 1000])

    def close(self) -> None:
        """See `Backend.close`."""
        self._objects.close()
        if self._made is not None:
            self._made.close()

    def _remove(self, location: str, bucket: str, batch: Sequence[dict[str, str]]) -> None:
        answer = self._ask(location, "delete_objects", Bucket=bucket, Delete={"Objects": batch, "Quiet": True})
        for error in answer.get("Errors", ()):
            code = said(error, "Code", redact(location))
            raise SourceError(f"an object was not removed: {code}", reason="denied", source=redact(location))

    def _keys_below(self, location: str) -> Iterator[str]:
        bucket, prefix = _bucket_and_key(location, folder=True)
        more: dict[str, str] = {}
        greatest, idle = "", 0
        while True:
            answer = self._ask(location, "list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
            keys = [said(item, "Key", redact(location)) for item in answer.get("Contents", ())]
            yield from keys
            if not answer.get("IsTruncated"):
                return
            last = max(keys, default="")
            greatest, idle = (last, 0) if last > greatest else (greatest, idle + 1)
            before, more = more, {"ContinuationToken": answer.get("NextContinuationToken", "")}
            if idle > _MAX_IDLE_PAGES or more == before or not more["ContinuationToken"]:
                raise SourceError("a listing of S3 repeats itself", reason="unavailable", source=redact(location))

    def _ask(self, location: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """The response of S3 to a request with a short response body. Raises: SourceError."""
        return retrying(self._attempts(location), lambda: self._once(operation, **arguments))

    def _once(self, operation: str, **arguments: Any) -> dict[str, Any]:
        release = self._limiter.admit(limited_name(arguments["Bucket"]))
        try:
            encryption = self._encryption if operation in _MAKE_OBJECTS else {}
            return self._client().ask(operation, **arguments, **self._payer, **encryption)
        finally:
            release()

    def _attempts(self, location: str) -> Attempts:
        host = limited_name(_bucket_and_key(location)[0])
        return Attempts(self._policy, redact(location), lambda wait_s: self._limiter.slow_down(host, wait_s))

    def _or_https(
        self, location: str, by_s3: Callable[[], Result], by_https: Callable[[Backend, str], Result]
    ) -> Result:
        """Use S3, but Common Crawl's web server if its bucket refuses requests without credentials."""
        bucket, key = _bucket_and_key(location)
        if not (self._refused and bucket == "commoncrawl"):
            try:
                return by_s3()
            except SourceError as error:
                if error.reason != "denied" or not self._objects.anonymous or bucket != "commoncrawl":
                    raise
            self._refused = True
            if self._limiter.is_first("commoncrawl over HTTPS"):
                _log.warning(
                    "s3://commoncrawl/ refuses requests without AWS credentials: reading %s instead", COMMON_CRAWL_HTTPS
                )
        return by_https(self._https, COMMON_CRAWL_HTTPS + key)


def _bucket_and_key(location: str, *, folder: bool = False) -> tuple[str, str]:
    bucket, _, key = location[len("s3://") :].partition("/")
    if folder and key:
        key = key.rstrip("/") + "/"
    return bucket, key
