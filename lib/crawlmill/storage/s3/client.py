"""The boto3 client for S3, started in half the usual time, on top of our HTTP client; and the meaning of its errors.

boto3 searches the descriptions of all 400 services for that of S3, and parses them slowly. A crawl is read by many
short processes, each of which would spend a tenth of a second on this.
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
        ParamValidationError,
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
    *(ValueError, OverflowError),  # a server's value is not a number or a date
    RuntimeError,  # expired credentials
)
_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, RuntimeError)
_MAX_ANSWER = 16 << 20  # a thousand of the longest keys, with every byte escaped


class _HeldBackError(Exception):
    """Carries a request that is ready to be sent, instead of sending it."""

    def __init__(self, request: Any) -> None:
        super().__init__("held back")
        self.request = request


def _hold_back(request: Any, **_: Any) -> None:
    raise _HeldBackError(request)


class S3Client:
    """A client with the standard credential chain. Without credentials it is `anonymous`, and signs nothing.

    Requests made by boto3 are sent by our own client, which bounds what a server can do: each request is sent once, in
    boto3's adaptive mode (which spaces requests when S3 throttles). Retries are up to `retry.py`.
    """

    def __init__(self, options: StorageOptions) -> None:
        """Raises: UsageError: The AWS configuration cannot be used."""
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
        # Some 35,000 objects that live as long as the process: exempt them from garbage collection.
        gc.freeze()

    def ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The response of S3 to one request. Raises: Failure."""
        try:
            return cast(dict[str, Any], getattr(self._client, operation)(**arguments))
        except _ERRORS as error:
            raise self._failure_of(error) from error

    def signed(self, operation: str, region: str | None, **arguments: Any) -> tuple[str, dict[str, str]]:
        """URL and headers of the request that would be sent to this region (None: that of the settings); sends nothing.

        Raises: Failure.
        """
        with self._lock:  # threads that start together need one client, and a session is not thread-safe
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
        headers.pop("Expect", None)  # we do not wait for permission to send a body
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
            return self._session.client(
                "s3",
                endpoint_url=options.s3_endpoint,
                region_name=region,
                config=Config(
                    signature_version=UNSIGNED if self.anonymous else None,
                    retries={"mode": "adaptive", "total_max_attempts": 1},
                    user_agent_extra=f"crawlmill/{__version__}",
                    # The containers we read have checksums of their own; another one would cost as much as the network.
                    response_checksum_validation="when_required",
                    request_checksum_calculation="when_required",
                ),
            )
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"S3 cannot be set up: {error}") from error


class _Said:
    """A response body in the form that boto3 reads."""

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
    """The failure that an error of boto3 means."""
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
    if isinstance(error, ParamValidationError):
        return Failure("the name of its bucket or object is missing or not valid")
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
        """The names of all folders: a missing description is reported when it is loaded."""
        return sorted(
            {each.name for place in map(Path, self.search_paths) if place.is_dir() for each in place.iterdir()}
        )


class _Files(JSONFileLoader):  # type: ignore[misc]
    """Reads the files of descriptions."""

    def load_file(self, file_path: str) -> Any:
        """The content of a file; None if it does not exist."""
        for path, unpack in ((Path(f"{file_path}.json"), bytes), (Path(f"{file_path}.json.gz"), gzip.decompress)):
            if path.is_file():
                return json.loads(unpack(path.read_bytes()))
        return None
