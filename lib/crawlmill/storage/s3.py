"""Objects of S3 and of services like it, by the client of boto3 (`s3_client.py`).

* Credentials: boto3's standard chain; without any, requests are not signed. Bucket `commoncrawl` refuses unsigned
  requests since 2022: its objects are then read from https://data.commoncrawl.org/.
* boto3 sends each request once, in its adaptive mode (which spaces requests when S3 throttles); whether there is
  another try is decided by `retry.py`, as for every other storage.
* Bodies resume by range, on condition of the same ETag.
* Writing: one PUT, or a multipart upload that is completed on success and aborted on error; either way the object
  appears whole. There are no folders and no renames.
"""

from __future__ import annotations

import http.client
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from urllib3.exceptions import HTTPError

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.base import Backend, StorageOptions, Stream
from crawlmill.storage.http_pools import LEAST_BYTES_PER_TIMEOUT
from crawlmill.storage.limits import Limiter, limited_name
from crawlmill.storage.locations import redact
from crawlmill.storage.readahead import ReadAheadStream
from crawlmill.storage.resume import Body, Identity, NothingLeft, ResumingStream
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, retrying
from crawlmill.storage.s3_client import ERRORS, failure_of, new_client, status_of
from crawlmill.storage.s3_copy import copy_object
from crawlmill.storage.s3_upload import Upload

__all__ = ["S3Backend"]

COMMON_CRAWL_HTTPS = "https://data.commoncrawl.org/"
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")

_log = logging.getLogger("crawlmill")

Result = TypeVar("Result")


class _S3Body:
    """The body of one GetObject, as `resume.Body`."""

    def __init__(self, answer: dict[str, Any], start: int, release: Callable[[], None], timeout_s: float) -> None:
        self._release, self._timeout_s = release, timeout_s
        self._waited_s, self._got = 0.0, 0
        if "ContentLength" not in answer:
            raise Failure("S3 does not say how long its answer is")
        self._left = answer["ContentLength"]
        said = _CONTENT_RANGE.fullmatch(answer.get("ContentRange", ""))
        self.start = int(said[1]) if said else 0
        self.stop: int | None = self.start + self._left
        total = int(said[3]) if said else self._left
        self.identity = Identity(answer.get("ETag"), str(answer.get("LastModified")), total)
        # Below boto3's stream, which takes pieces whole: what it had of one would be lost when the connection breaks.
        self._response = answer["Body"].__enter__()
        if self.start > start:
            raise Failure(f"S3 sends bytes from {self.start}, asked for {start}")

    def read(self, n: int, /) -> bytes:
        """As `Body.read`."""
        if not self._left:
            return b""
        began_s = time.monotonic()
        try:
            piece = cast(bytes, self._response.read1(min(n, self._left)))
        except (HTTPError, http.client.HTTPException, OSError) as error:
            raise failure_of(error) from error
        if not piece:
            raise Failure(f"the body ended {self._left} bytes before its announced end", transient=True)
        self._left -= len(piece)
        self._waited_s += time.monotonic() - began_s
        self._got += len(piece)
        if self._waited_s > self._timeout_s:
            if self._got < LEAST_BYTES_PER_TIMEOUT:
                raise Failure(f"only {self._got} bytes in {self._waited_s:.0f} s", transient=True)
            self._waited_s, self._got = 0.0, 0
        return piece

    def close(self) -> None:
        """As `Body.close`."""
        try:
            self._response.close()
        except (HTTPError, OSError):
            pass  # the connection ends all the same
        self._release()


class S3Backend:
    """`s3://bucket/key` locations. `https` reads what Common Crawl gives only there."""

    renames = False

    def __init__(self, options: StorageOptions, policy: RetryPolicy, limiter: Limiter, https: Backend) -> None:
        self._options, self._policy, self._limiter, self._https = options, policy, limiter, https
        self._payer = {"RequestPayer": "requester"} if options.s3_requester_pays else {}
        self._refused = False
        self._client, self._anonymous = new_client(options)

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """As `Backend.open`."""
        return self._or_https(
            location, lambda: self._open(location, start, length), lambda other, url: other.open(url, start, length)
        )

    def _open(self, location: str, start: int, length: int | None) -> Stream:
        opener = partial(self._get, *_bucket_and_key(location))
        return ReadAheadStream(ResumingStream(opener, redact(location), start, length, self._attempts(location)))

    def size(self, location: str) -> int:
        """As `Backend.size`."""
        return self._or_https(location, lambda: self._size(location), lambda other, url: other.size(url))

    def _size(self, location: str) -> int:
        bucket, key = _bucket_and_key(location)
        return int(self._ask(location, "head_object", Bucket=bucket, Key=key)["ContentLength"])

    def exists(self, location: str) -> bool:
        """As `Backend.exists`."""
        try:
            self.size(location)
        except SourceError as error:
            if error.reason != "not-found":
                raise
            return next(self._keys_below(location), None) is not None
        return True

    def list(self, location: str) -> Iterator[str]:
        """As `Backend.list`; markers of folders are no files."""
        _, prefix = _bucket_and_key(location, folder=True)
        found = False
        for key in self._keys_below(location):
            found = True
            if not key.endswith("/"):
                yield key[len(prefix) :]
        if not found:
            raise SourceError("no object below this prefix", reason="not-found", source=redact(location))

    @contextmanager
    def write(self, location: str) -> Iterator[BinaryIO]:
        """As `Backend.write`; holds a part of 8 MB (more in files of gigabytes) in memory."""
        upload = Upload(partial(self._ask, location), *_bucket_and_key(location))
        try:
            yield cast(BinaryIO, upload)
            upload.finish()
        except BaseException:
            upload.abort()
            raise

    def copy(self, source: str, target: str) -> None:
        """Copy an object within S3. Raises: SourceError."""
        copy_object(partial(self._ask, target), _bucket_and_key(source), _bucket_and_key(target))

    def make_folder(self, location: str) -> None:
        """Nothing: S3 has no folders."""

    def rename(self, source: str, target: str) -> None:  # noqa: ARG002
        """Raises: UsageError: S3 has no renames."""
        raise UsageError("S3 has no renames", source=redact(target))

    def remove(self, location: str) -> None:
        """As `Backend.remove`. Raises: UsageError for a whole bucket."""
        bucket, key = _bucket_and_key(location)
        if not key.strip("/"):
            raise UsageError("a whole bucket is not removed", source=redact(location))
        self._ask(location, "delete_object", Bucket=bucket, Key=key)
        names = [{"Key": name} for name in self._keys_below(location)]
        for at in range(0, len(names), 1000):  # as many as one request takes
            self._remove(location, bucket, names[at : at + 1000])

    def close(self) -> None:
        """As `Backend.close`."""
        self._client.close()

    def _remove(self, location: str, bucket: str, batch: Sequence[dict[str, str]]) -> None:
        answer = self._ask(location, "delete_objects", Bucket=bucket, Delete={"Objects": batch, "Quiet": True})
        for error in answer.get("Errors", ()):
            raise SourceError(f"an object was not removed: {error['Code']}", reason="denied", source=redact(location))

    def _keys_below(self, location: str) -> Iterator[str]:
        bucket, prefix = _bucket_and_key(location, folder=True)
        more: dict[str, str] = {}
        while True:
            answer = self._ask(location, "list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
            yield from (item["Key"] for item in answer.get("Contents", ()))
            if not answer.get("IsTruncated"):
                return
            before, more = more, {"ContinuationToken": answer.get("NextContinuationToken", "")}
            if more == before or not more["ContinuationToken"]:
                raise SourceError(
                    "a listing of S3 goes round in circles", reason="unavailable", source=redact(location)
                )

    def _get(self, bucket: str, key: str, start: int, stop: int | None, known: Identity | None) -> Body:
        """Ask once for the bytes from `start` to `stop`."""
        asked: dict[str, Any] = {"Bucket": bucket, "Key": key, **self._payer}
        if start or stop is not None:
            asked["Range"] = f"bytes={start}-{'' if stop is None else max(stop - 1, start)}"
        if known is not None and known.etag is not None:
            asked["IfMatch"] = known.etag
        release = self._limiter.admit(limited_name(bucket))
        try:
            return _S3Body(self._client.get_object(**asked), start, release, self._options.read_timeout_s)
        except ERRORS as error:
            release()
            if status_of(error) == 416:
                head = self._once("head_object", Bucket=bucket, Key=key)
                if head["ContentLength"] <= start:
                    return NothingLeft(start, head["ContentLength"])
            raise failure_of(error) from error
        except BaseException:
            release()
            raise

    def _ask(self, location: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """The answer of S3 to a request without a body worth streaming. Raises: SourceError."""
        return retrying(self._attempts(location), lambda: self._once(operation, **arguments))

    def _once(self, operation: str, **arguments: Any) -> dict[str, Any]:
        release = self._limiter.admit(limited_name(arguments["Bucket"]))
        try:
            answer = cast(dict[str, Any], getattr(self._client, operation)(**arguments, **self._payer))
        except ERRORS as error:
            raise failure_of(error) from error
        finally:
            release()
        if operation == "head_object" and "ContentLength" not in answer:
            raise Failure("S3 does not say how long the object is")
        return answer

    def _attempts(self, location: str) -> Attempts:
        host = limited_name(_bucket_and_key(location)[0])
        return Attempts(self._policy, redact(location), lambda wait_s: self._limiter.slow_down(host, wait_s))

    def _or_https(
        self, location: str, by_s3: Callable[[], Result], by_https: Callable[[Backend, str], Result]
    ) -> Result:
        """What S3 gives; from Common Crawl's web server where its bucket refuses who has no credentials."""
        bucket, key = _bucket_and_key(location)
        if not (self._refused and bucket == "commoncrawl"):
            try:
                return by_s3()
            except SourceError as error:
                if error.reason != "denied" or not self._anonymous or bucket != "commoncrawl":
                    raise
            if not self._refused:
                self._refused = True
                _log.warning(
                    "s3://commoncrawl/ refuses requests without AWS credentials: reading %s instead", COMMON_CRAWL_HTTPS
                )
        return by_https(self._https, COMMON_CRAWL_HTTPS + key)


def _bucket_and_key(location: str, *, folder: bool = False) -> tuple[str, str]:
    bucket, _, key = location[len("s3://") :].partition("/")
    if folder and key:
        key = key.rstrip("/") + "/"
    return bucket, key
