"""A client of S3 by boto3, started in half the time; and what its errors mean.

boto3 looks for the description of a service among the files of all 400, and reads them as ordered dictionaries by a
slow way. A crawl is read by many short processes, and it would cost each of them a tenth of a second.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

from urllib3.exceptions import HTTPError

from crawlmill import __version__
from crawlmill.errors import MissingDependency, UsageError
from crawlmill.storage.base import StorageOptions
from crawlmill.storage.http_client import failure_of_error
from crawlmill.storage.retry import Failure, failure_of_status, parse_retry_after

try:
    import boto3
    from botocore import UNSIGNED
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

__all__ = ["ERRORS", "failure_of", "new_client", "status_of"]

ERRORS: tuple[type[Exception], ...] = (ClientError, BotoCoreError, HTTPError, OSError, ValueError, OverflowError)
"""What a request to S3 may raise; the last two where a server says what is no number or no date."""

_CODE = re.compile("[A-Za-z][A-Za-z0-9.]{0,60}")
# What a code means where the HTTP status beside it says something else, or nothing.
_MEANINGS = {
    **dict.fromkeys(("SlowDown", "Throttling", "ThrottlingException", "ServiceUnavailable"), 503),
    **dict.fromkeys(("RequestTimeout", "InternalError", "OperationAborted"), 500),
    **dict.fromkeys(("ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed"), 403),
}


def new_client(options: StorageOptions) -> tuple[Any, bool]:
    """A client, and whether it has no credentials, so that its requests are not signed.

    Raises: UsageError for a configuration that cannot be used.
    """
    try:
        session = _session()
        anonymous = session.get_credentials() is None
        config = Config(
            signature_version=UNSIGNED if anonymous else None,
            retries={"mode": "adaptive", "total_max_attempts": 1},
            connect_timeout=min(20.0, options.read_timeout_s),
            read_timeout=options.read_timeout_s,
            max_pool_connections=16,
            user_agent_extra=f"crawlmill/{__version__}",
            # The containers read prove themselves; a second checksum would cost as much as the network.
            response_checksum_validation="when_required",
            request_checksum_calculation="when_required",
        )
        client = session.client("s3", endpoint_url=options.s3_endpoint, region_name=options.s3_region, config=config)
    except (BotoCoreError, ValueError) as error:
        raise UsageError(f"S3 cannot be set up: {error}") from error
    # Some 35,000 objects that live as long as the process: the collector need not look through them each time.
    gc.freeze()
    return client, anonymous


def _session() -> boto3.session.Session:
    session = get_session()
    places = (session.get_config_variable("data_path") or "").split(os.pathsep)
    session.register_component("data_loader", _Models([str(Path(each).expanduser()) for each in places if each]))
    return boto3.session.Session(botocore_session=session)


def status_of(error: Exception) -> int:
    """The HTTP status of an answer that is an error; 0 if there was none."""
    if not isinstance(error, ClientError):
        return 0
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def failure_of(error: Exception) -> Failure:
    """The failed try that an error of boto3 stands for."""
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code", ""))
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        status = _MEANINGS.get(code, status_of(error))
        failure = failure_of_status(status, "", "", parse_retry_after(headers.get("retry-after")))
        failure.what = f"HTTP {status_of(error)}" + (f" {code}" if _CODE.fullmatch(code) else "")
        return failure
    if isinstance(error, NoCredentialsError | PartialCredentialsError | CredentialRetrievalError):
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
