"""The meaning of errors from S3, and of incomplete responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.storage.retry import Failure, failure_of_status

__all__ = ["HAS_EXPIRED", "failure_of_refusal", "no_credentials", "said"]

HAS_EXPIRED = ("ExpiredToken", "InvalidToken", "TokenRefreshRequired")
"""What S3 says of credentials that are no good any more."""

_CODE = "[A-Za-z][A-Za-z0-9.]{0,60}"
# The meaning of error codes whose HTTP status says something else, or nothing.
_MEANINGS = {
    **dict.fromkeys(("SlowDown", "Throttling", "ThrottlingException", "ServiceUnavailable"), 503),
    **dict.fromkeys(("RequestTimeout", "InternalError", "OperationAborted"), 500),
    **dict.fromkeys(("ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed"), 403),
}


def failure_of_refusal(status: int, code: str, retry_after_s: float | None) -> Failure:
    """The failure that an HTTP status and an error code of S3 (which may be "") mean.

    Spec: Amazon S3 API, Error responses.
    """
    failure = failure_of_status(_MEANINGS.get(code, status), "", "", retry_after_s)
    failure.what = f"HTTP {status}" + (f" {code}" if re.fullmatch(_CODE, code) else "")
    return failure


def no_credentials(why: str) -> CrawlmillError:
    """The error for missing credentials where they are required; another attempt, some minutes later, may find them."""
    return CrawlmillError(f"the AWS credentials cannot be used: {why} (environment, ~/.aws, role of the machine)")


def said(answer: Mapping[str, Any], name: str, location: str) -> Any:
    """The value under a name in a response about a location. Raises: SourceError if it is missing."""
    if name not in answer:
        raise SourceError(f"the answer of S3 makes no sense: it has no {name}", reason="unavailable", source=location)
    return answer[name]
