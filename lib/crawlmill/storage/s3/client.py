"""The boto3 client for S3, started in half the usual time, over our own HTTP client; and the meaning of its errors.

boto3 searches the descriptions of all 400 services for that of S3, and parses them slowly. A crawl is read by many
short processes, and this would cost each of them a tenth of a second.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any, cast

from urllib3.exceptions import HTTPError

from crawlmill import __version__
from crawlmill.errors import MissingDependency, UsageError
from crawlmill.storage.http.client import HttpClient, failure_of_error
from crawlmill.storage.interface import StorageOptions
from crawlmill.storage.limits import Limiter
from crawlmill.storage.retry import Failure, parse_retry_after
from crawlmill.storage.s3.errors import failure_of_refusal, no_credentials

try:
    import boto3
    from botocore import UNSIGNED
    from botocore.awsrequest import AWSResponse
    from botocore.config import Config
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        CredentialRetrievalError,
        HTTPClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )
    from botocore.exceptions import ConnectionError as NoConnectionError
    from botocore.loaders import JSONFileLoader, Loader
    from botocore.session import get_session
except ImportError as error:
    raise MissingDependency("reading s3:// needs the package boto3, which is not installed") from error

__all__ = ["S3Client"]

_ERRORS: tuple[type[Exception], ...] = (
    *(ClientError, BotoCoreError, HTTPError, OSError),
    *(ValueError, OverflowError),  # what a server says is no number or no date
    RuntimeError,  # credentials that have expired
)
_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, RuntimeError)
_MAX_ANSWER = 16 << 20  # a thousand of the longest keys, each byte of them escaped


class _HeldBackError(Exception):
    """A request that is ready to be sent."""

    def __init__(self, request: Any) -> None:
        super().__init__("held back")
        self.request = request


def _hold_back(request: Any, **_: Any) -> None:
    raise _HeldBackError(request)


class S3Client:
    """A client with the standard credential chain. Without credentials it is `anonymous`, and signs nothing.

    What boto3 makes is sent by our own client, which bounds what a server may do: each request once, in boto3's
    adaptive mode (which spaces requests when S3 throttles). Whether there is another try is for `retry.py`.
    """

    def __init__(self, options: StorageOptions) -> None:
        """Raises: UsageError for a configuration that cannot be used."""
        self._options = options
        try:
            settings = _settings()
            self.certificates: str | None = settings.get_config_variable("ca_bundle")
            """The file of certificates that the settings name."""
            self._session = boto3.session.Session(botocore_session=settings)
            self.anonymous = self._session.get_credentials() is None
        except _ERRORS as error:
            raise UsageError(f"S3 cannot be set up: {error}") from error
        if self.anonymous and options.s3_credentials_required:
            raise no_credentials("none are found")
        self._http = HttpClient(options.read_timeout_s, Limiter(), certificates=self.certificates)
        self._client = self._new(options.s3_region)
        self._client.meta.events.register("before-send.s3", self._send)
        self._signing: dict[str | None, Any] = {}
        self._lock = threading.Lock()
        # Some 35,000 objects that live as long as the process: the collector need not look through them each time.
        gc.freeze()

    def ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The answer of S3 to one request. Raises: Failure."""
        try:
            return cast(dict[str, Any], getattr(self._client, operation)(**arguments))
        except _ERRORS as error:
            raise self._failure_of(error) from error

    def signed(self, operation: str, region: str | None, **arguments: Any) -> tuple[str, dict[str, str]]:
        """URL and headers of the request that would be sent to this region (None: that of the settings), unsent.

        Raises: Failure.
        """
        with self._lock:  # threads that begin together need one client, and a session makes one at a time
            client = self._signing.get(region)
            if client is None:
                client = self._new(region or self._options.s3_region)
                client.meta.events.register("before-send.s3", _hold_back)
                self._signing[region] = client
        try:
            getattr(client, operation)(**arguments)
        except _HeldBackError as held:
            return held.request.url, _texts(held.request.headers)
        except _ERRORS as error:
            raise self._failure_of(error) from error
        raise AssertionError("boto3 has sent a request that was to be held back")

    def close(self) -> None:
        """Close idle connections."""
        self._client.close()
        self._http.close()

    def _send(self, request: Any, **_: Any) -> AWSResponse:
        headers = _texts(request.headers)
        headers.pop("Expect", None)  # nobody here waits for leave to send a body
        answer = self._http.request(request.method, request.url, headers, body=request.body, follow=False)
        said = _Said()
        try:
            while piece := answer.read(1 << 18):
                said.pieces.append(piece)
                if sum(map(len, said.pieces)) > _MAX_ANSWER:
                    raise Failure(f"the answer of S3 is larger than {_MAX_ANSWER >> 20} MiB")
        finally:
            answer.close()
        return AWSResponse(request.url, answer.status, dict(answer.headers), said)

    def _failure_of(self, error: Exception) -> Exception:
        if self._options.s3_credentials_required and isinstance(error, _NO_CREDENTIALS):
            return no_credentials(str(error))
        return _failure_of(error)

    def _new(self, region: str | None) -> Any:
        options = self._options
        try:
            return self._session.client("s3", endpoint_url=options.s3_endpoint, region_name=region, config=Config(
                signature_version=UNSIGNED if self.anonymous else None,
                retries={"mode": "adaptive", "total_max_attempts": 1},
                user_agent_extra=f"crawlmill/{__version__}",
                # The containers read prove themselves; a second checksum would cost as much as the network.
                response_checksum_validation="when_required",
                request_checksum_calculation="when_required",
            ))  # fmt: skip
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"S3 cannot be set up: {error}") from error


class _Said:
    """What was said, as boto3 wants to read it."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def stream(self) -> list[bytes]:
        return self.pieces


def _texts(headers: Any) -> dict[str, str]:
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in headers.items()}


def _settings() -> Any:
    session = get_session()
    places = (session.get_config_variable("data_path") or "").split(os.pathsep)
    session.register_component("data_loader", _Models([str(Path(each).expanduser()) for each in places if each]))
    return session


def _failure_of(error: Exception) -> Failure:
    """The failed try that an error of boto3 stands for."""
    if isinstance(error, ClientError):
        answer = error.response.get("ResponseMetadata", {})
        return failure_of_refusal(
            int(answer.get("HTTPStatusCode", 0)),
            str(error.response.get("Error", {}).get("Code", "")),
            parse_retry_after(answer.get("HTTPHeaders", {}).get("retry-after")),
        )
    if isinstance(error, _NO_CREDENTIALS):
        return Failure(f"the AWS credentials cannot be used: {type(error).__name__}", reason="denied")
    if isinstance(error, HTTPClientError | NoConnectionError):
        return Failure(f"the connection to S3 failed: {type(error).__name__}", transient=True)
    if isinstance(error, BotoCoreError):
        return Failure(f"the request cannot be sent to S3: {type(error).__name__}")
    if isinstance(error, ValueError | OverflowError) and not isinstance(error, HTTPError):
        return Failure("the answer of S3 makes no sense")
    return failure_of_error(error)


class _Models(Loader):  # type: ignore[misc]
    """Finds the descriptions of services."""

    def __init__(self, places: list[str]) -> None:
        super().__init__(places, _Files())

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002
        """The names of all folders: what is missing in one is told when it is loaded."""
        return sorted(
            {each.name for place in map(Path, self.search_paths) if place.is_dir() for each in place.iterdir()}
        )


class _Files(JSONFileLoader):  # type: ignore[misc]
    """Reads them."""

    def load_file(self, file_path: str) -> Any:
        """What a file holds; None if there is none."""
        for path, unpack in ((Path(f"{file_path}.json"), bytes), (Path(f"{file_path}.json.gz"), gzip.decompress)):
            if path.is_file():
                return json.loads(unpack(path.read_bytes()))
        return None
