"""Requests to AWS through boto3 (EMR, IAM, EC2, STS, and buckets of S3), with errors that fit in one line.

Credentials are those passed in, or come from boto3's standard chain. boto3 retries requests that were throttled or
lost, unless they might then be carried out twice; `AwsError.transient` says whether a caller may retry later. No
botocore type leaves this module.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from crawlmill import __version__
from crawlmill.errors import CrawlmillError, MissingDependency, UsageError

try:
    import boto3
    from botocore.config import Config
    from botocore.credentials import RefreshableCredentials
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        ConnectionClosedError,
        CredentialRetrievalError,
        EndpointConnectionError,
        HTTPClientError,
        NoCredentialsError,
        NoRegionError,
        PartialCredentialsError,
    )
except ImportError as error:
    raise MissingDependency("Amazon's services need the package boto3, which is not installed") from error

__all__ = ["COMMON_CRAWLS_REGION", "Aws", "AwsError"]

COMMON_CRAWLS_REGION: Final = "us-east-1"

_TRIES: Final = 4
_THROTTLED: Final = ("Throttling", "ThrottlingException", "RequestLimitExceeded")
_DENIED: Final = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "UnauthorizedAccess")


class AwsError(CrawlmillError):
    """A failed request. `code` is Amazon's, or empty; `transient`: another attempt later may succeed."""

    def __init__(self, what: str, *, code: str = "", transient: bool = False) -> None:
        super().__init__(what)
        self.code, self.transient = code, transient

    @property
    def denied(self) -> bool:
        """Whether the credentials lack permission."""
        return self.code in _DENIED


@dataclass
class Aws:
    """Amazon's services in one region: the given one, else the user's, else Common Crawl's.

    `endpoints` are the URLs of services that are not Amazon's; `credentials` are arguments for boto3's session, empty
    for the standard chain.

    Raises:
        UsageError: The AWS configuration cannot be used.
    """

    region: str | None = None
    endpoints: dict[str, str | None] = field(default_factory=dict)
    credentials: dict[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        try:
            session = boto3.session.Session(region_name=self.region)
            self.region = session.region_name or COMMON_CRAWLS_REGION
            self._session = boto3.session.Session(region_name=self.region, **self.credentials)
        except BotoCoreError as error:
            raise UsageError(f"the AWS configuration cannot be used: {error}") from error
        self._clients: dict[tuple[str, int], Any] = {}

    @property
    def has_credentials(self) -> bool:
        """Whether there are any credentials, valid or not."""
        try:
            return self._session.get_credentials() is not None
        except BotoCoreError:
            return False

    @property
    def of_a_session(self) -> bool:
        """Whether the credentials are those of a session, which cannot be renewed here."""
        try:
            found = self._session.get_credentials()
        except BotoCoreError:
            return False
        return found is not None and bool(found.token) and not isinstance(found, RefreshableCredentials)

    def ask(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """The response to a request (`operation` as in boto3). Raises: AwsError."""
        return self._ask(_TRIES, service, operation, arguments)

    def ask_once(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """The response to a request that has an effect each time it is sent: retried only if it was rejected.

        Raises:
            AwsError: `transient`: it is unknown whether it was carried out, since the response was lost.
        """
        for pause_s in range(1, _TRIES):
            try:
                return self._ask(1, service, operation, arguments)
            except AwsError as error:
                if error.code not in _THROTTLED:
                    raise
            time.sleep(pause_s)
        return self._ask(1, service, operation, arguments)

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> Iterator[Any]:
        """Yield the items under `key` from all pages of a response. Raises: AwsError."""
        try:
            for page in self._client(service, _TRIES).get_paginator(operation).paginate(**arguments):
                yield from page[key]
        except (BotoCoreError, ClientError, ValueError) as error:
            raise _error_of(error, service, operation) from error

    def region_of(self, bucket: str) -> str:
        """The region of a bucket. Raises: AwsError."""
        region = self.ask("s3", "get_bucket_location", Bucket=bucket).get("LocationConstraint") or "us-east-1"
        return {"EU": "eu-west-1"}.get(region, region)

    def _ask(self, tries: int, service: str, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return cast(dict[str, Any], getattr(self._client(service, tries), operation)(**arguments))
        except (BotoCoreError, ClientError, ValueError) as error:
            raise _error_of(error, service, operation) from error

    def _client(self, service: str, tries: int) -> Any:
        if (service, tries) not in self._clients:
            self._clients[service, tries] = self._session.client(
                service,
                endpoint_url=self.endpoints.get(service),
                config=Config(
                    retries={"mode": "standard", "total_max_attempts": tries},
                    connect_timeout=20,
                    read_timeout=60,
                    user_agent_extra=f"crawlmill/{__version__}",
                ),
            )
        return self._clients[service, tries]


def _error_of(error: Exception, service: str, operation: str) -> AwsError:
    """The meaning of a botocore error, in one line."""
    who = {"emr": "EMR", "iam": "IAM", "ec2": "EC2", "sts": "AWS", "s3": "S3"}.get(service, service)
    if isinstance(error, ClientError):
        told = error.response.get("Error", {})
        code = str(told.get("Code", ""))
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        text = " ".join(str(told.get("Message") or "no reason given").split())
        what = f"{who} refuses {''.join(word.title() for word in operation.split('_'))}: {code}: {text}"
        return AwsError(what, code=code, transient=status >= 500 or code in _THROTTLED)
    if isinstance(error, NoCredentialsError):
        return AwsError("no AWS credentials are found (environment, ~/.aws, role of the machine)")
    if isinstance(error, PartialCredentialsError | CredentialRetrievalError):
        return AwsError(f"the AWS credentials cannot be used: {error}")
    if isinstance(error, NoRegionError):
        return AwsError("no AWS region is given")
    if isinstance(error, HTTPClientError | EndpointConnectionError | ConnectionClosedError):
        return AwsError(f"{who} cannot be reached: {' '.join(str(error).split())}", transient=True)
    return AwsError(f"a request cannot be sent to {who}: {' '.join(str(error).split())}")
