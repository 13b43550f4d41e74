"""Reads objects of S3 with signed requests over the project's own HTTP client.

If the bucket is in another region, S3 names it, and the request is repeated there.

Spec: Amazon S3 API, GetObject and HeadObject.
"""

from __future__ import annotations

import re
from typing import cast

from crawlmill.storage.http.backend import body_of, range_header
from crawlmill.storage.http.client import Answer, HttpClient
from crawlmill.storage.interface import StorageOptions
from crawlmill.storage.limits import Limiter, limited_name
from crawlmill.storage.resume import Body, Identity, NothingLeft
from crawlmill.storage.retry import Failure, parse_retry_after
from crawlmill.storage.s3.errors import HAS_EXPIRED, failure_of_refusal, no_credentials
from crawlmill.storage.s3.signing import new_signer

__all__ = ["S3Objects"]

_ELSEWHERE = (301, 307, 400)  # moved; moved temporarily; signed for another region
# Compiled on use: most runs never see a refusal.
_REGION = "[a-z][a-z0-9-]{1,40}"
_REGION_SAID = rb"<Region>([a-z0-9-]{1,41})</Region>"
_REGION_OF_HOST = r"https?://(?:[^/]*\.)?s3[.-]([a-z0-9-]{1,41})\.amazonaws\.com[./]"
_CODE = rb"<Code>([A-Za-z0-9.]{1,61})</Code>"


class S3Objects:
    """Sends each request once; retries are up to the caller."""

    def __init__(self, options: StorageOptions, limiter: Limiter) -> None:
        self._signer = new_signer(options)
        self._http = HttpClient(options.read_timeout_s, limiter, certificates=self._signer.certificates)
        self._payer = {"x-amz-request-payer": "requester"} if options.s3_requester_pays else {}
        self._credentials_required = options.s3_credentials_required
        self._regions: dict[str, str] = {}

    @property
    def anonymous(self) -> bool:
        """Whether there are no credentials, so that requests are not signed."""
        return self._signer.anonymous

    def body(self, bucket: str, key: str, start: int, stop: int | None, known: Identity | None) -> Body:
        """The bytes from `start` to `stop`, of the known version of the object. Raises: Failure."""
        headers = range_header(start, stop)
        if known is not None and known.etag is not None:
            headers["If-Match"] = known.etag
        answer = self._ask("GET", bucket, key, headers)
        if answer.status == 416:
            answer.drain()
            size = self.size(bucket, key)
            if size > start:
                raise Failure(f"S3 says that there is nothing at byte {start} of {size}")
            return NothingLeft(start, size)
        return body_of(answer, start, stop, whole="Range" not in headers)

    def size(self, bucket: str, key: str) -> int:
        """The size of the object in bytes. Raises: Failure."""
        answer = self._ask("HEAD", bucket, key, {})
        answer.close()
        return cast(int, answer.length)

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def _ask(self, method: str, bucket: str, key: str, headers: dict[str, str]) -> Answer:
        """The response of S3: the whole object, a part of it, or 416 if there is no byte in the range."""
        if not {".", ".."}.isdisjoint(key.split("/")):
            raise Failure("a key with . or .. between slashes cannot be asked for over HTTP")
        for elsewhere in (False, True):
            answer = self._send(method, bucket, key, headers)
            if answer.status in (200, 206) and answer.length is None:
                answer.close()
                raise Failure("S3 does not say how long its answer is")
            if answer.status in (200, 206) or (answer.status == 416 and "Range" in headers):
                return answer
            wait_s = parse_retry_after(answer.headers.get("Retry-After"))
            said = answer.drain()
            region = _region_elsewhere(answer, said)
            if region is None or elsewhere:
                break
            self._regions[bucket] = region
        found = re.search(_CODE, said)
        code = found[1].decode() if found else ""
        if self._credentials_required and code in HAS_EXPIRED:
            raise no_credentials(f"S3 says {code}")
        raise failure_of_refusal(answer.status, code, wait_s)

    def _send(self, method: str, bucket: str, key: str, headers: dict[str, str]) -> Answer:
        region = self._regions.get(bucket)
        url, signed = self._signer.sign(method, bucket, key, {**headers, **self._payer}, region)
        return self._http.request(method, url, signed, follow=False, limited_as=limited_name(bucket))


def _region_elsewhere(answer: Answer, said: bytes) -> str | None:
    """The region that a response redirects to."""
    if answer.status not in _ELSEWHERE:
        return None
    region = answer.headers.get("x-amz-bucket-region", "")
    if not region and (found := re.search(_REGION_SAID, said)):
        region = found[1].decode()
    if not region and (there := re.match(_REGION_OF_HOST, answer.headers.get("Location", ""))):
        region = there[1]
    return region if re.fullmatch(_REGION, region) else None
