"""Addresses and signs requests for objects of S3.

A boto3 client costs each process a quarter of a second, as much as counting the tags of 30 MB; even importing
botocore's signer costs as much as those of 3 MB. If the environment alone has all that is needed (keys, region,
endpoint), a request is signed here: it has no body, so SigV4 is just five keyed hashes. Everything else, such as
profiles, roles, no keys at all, settings in files, or rarer kinds of buckets and regions, is left to the client, which
makes the request without sending it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import threading
import time
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlsplit

from crawlmill.storage.interface import StorageOptions

__all__ = ["Signer", "new_signer"]

# The settings that are supported here, and those that do not affect requests.
_UNDERSTOOD = {
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"),
    *("AWS_ACCOUNT_ID", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
    *("AWS_CA_BUNDLE", "AWS_REGION", "AWS_EC2_METADATA_DISABLED", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE", "AWS_PAGER"),
    *("AWS_METADATA_SERVICE_TIMEOUT", "AWS_METADATA_SERVICE_NUM_ATTEMPTS", "AWS_EC2_METADATA_SERVICE_ENDPOINT"),
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_EXECUTION_ENV", "AWS_DEFAULT_OUTPUT"),
}
_FILES = {"AWS_CONFIG_FILE": "~/.aws/config", "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials"}
# Compiled on use.
_REGION = "(?:af|ap|ca|eu|il|me|mx|sa|us)-[a-z]+-[0-9]+"  # those of amazonaws.com except government regions
_ENDPOINT = r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?:/[A-Za-z0-9._~/-]*)?"
_BUCKET = "[A-Za-z0-9._-]{1,255}"
_HOST = "(?!xn--|.*--|.*-s3alias$)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]"
_ARGUMENTS = {"Range": "Range", "If-Match": "IfMatch", "x-amz-request-payer": "RequestPayer"}


class Signer(Protocol):
    """Makes requests for objects.

    `anonymous`: there are no credentials, so nothing is signed. `certificates`: a file or folder of CA certificates
    named by the AWS settings.
    """

    anonymous: bool
    certificates: str | None

    def sign(
        self, method: str, bucket: str, key: str, headers: dict[str, str], region: str | None
    ) -> tuple[str, dict[str, str]]:
        """The URL and the headers of a request; `region` is the bucket's region, if S3 has reported it.

        Raises: Failure: They cannot be made.
        """


def new_signer(options: StorageOptions) -> Signer:
    """Choose the signer according to the AWS settings. Raises: UsageError: The settings cannot be used."""
    given = {name: value for name, value in os.environ.items() if name.startswith("AWS_") and value}
    region = options.s3_region or given.get("AWS_DEFAULT_REGION")
    endpoint = options.s3_endpoint or given.get("AWS_ENDPOINT_URL_S3") or given.get("AWS_ENDPOINT_URL")
    plain = (
        {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= given.keys() <= _UNDERSTOOD
        and not any(_is_there(given.get(name, usual)) for name, usual in _FILES.items())
        and (not region or re.fullmatch(_REGION, region))
        and (not endpoint or re.fullmatch(_ENDPOINT, endpoint))
    )
    if not plain:
        return _ClientSigner(options)
    token = given.get("AWS_SECURITY_TOKEN") or given.get("AWS_SESSION_TOKEN")
    keys = _Keys(given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], token)
    return _KeySigner(options, keys, region, endpoint)


def _is_there(path: str) -> bool:
    return os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111 (work without a home folder)


class _Keys(NamedTuple):
    """AWS keys; the token is that of a session."""

    access_key: str
    secret_key: str
    token: str | None


class _ClientSigner:
    """Signs with a boto3 client."""

    def __init__(self, options: StorageOptions) -> None:
        from crawlmill.storage.s3.client import S3Client  # noqa: PLC0415 (slow, see above)

        self._client = S3Client(options)
        self.anonymous, self.certificates = self._client.anonymous, self._client.certificates

    def sign(
        self, method: str, bucket: str, key: str, headers: dict[str, str], region: str | None
    ) -> tuple[str, dict[str, str]]:
        """See `Signer.sign`."""
        arguments = {_ARGUMENTS[name]: value for name, value in headers.items()}
        return self._client.signed(f"{method.lower()}_object", region, Bucket=bucket, Key=key, **arguments)


class _KeySigner:
    """Signs with the keys of the environment; leaves unusual buckets to a client."""

    anonymous = False

    def __init__(self, options: StorageOptions, keys: _Keys, region: str | None, endpoint: str | None) -> None:
        self._options, self._keys, self._region, self._endpoint = options, keys, region, endpoint
        self._client: _ClientSigner | None = None
        self._lock = threading.Lock()
        self.certificates = os.environ.get("AWS_CA_BUNDLE") or None

    def sign(
        self, method: str, bucket: str, key: str, headers: dict[str, str], region: str | None
    ) -> tuple[str, dict[str, str]]:
        """See `Signer.sign`."""
        region = region or self._region
        place = self._place(bucket, region)
        if place is None or not key:
            with self._lock:
                self._client = self._client or _ClientSigner(self._options)
            return self._client.sign(method, bucket, key, headers, region)
        url = f"{place}/{quote(key, safe='/-._~')}"
        return url, _signed(self._keys, region or "us-east-1", method, url, headers)

    def _place(self, bucket: str, region: str | None) -> str | None:
        """The URL of a bucket; None if only a client can determine it."""
        if self._endpoint:
            return f"{self._endpoint.rstrip('/')}/{bucket}" if re.fullmatch(_BUCKET, bucket) else None
        if not re.fullmatch(_HOST, bucket) or (region and not re.fullmatch(_REGION, region)):
            return None
        # Without a region, and in the first one, boto3 uses the host that existed before there were regions.
        return f"https://{bucket}.s3.{f'{region}.' if region and region != 'us-east-1' else ''}amazonaws.com"


def _signed(keys: _Keys, region: str, method: str, url: str, headers: dict[str, str]) -> dict[str, str]:
    """The headers and their signature, for a request without a body whose URL is quoted and has no query.

    Spec: AWS Signature Version 4, "Authenticating Requests: Using the Authorization Header".
    """
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    nothing = hashlib.sha256(b"").hexdigest()
    sent = {**headers, "X-Amz-Date": now, "X-Amz-Content-SHA256": nothing}
    if keys.token:
        sent["X-Amz-Security-Token"] = keys.token
    parts = urlsplit(url)
    host = parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
    lines = sorted([("host", host), *((name.lower(), " ".join(value.split())) for name, value in sent.items())])
    names = ";".join(name for name, _ in lines)
    asked = "\n".join([method, parts.path, "", *(f"{name}:{value}" for name, value in lines), "", names, nothing])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
    key = f"AWS4{keys.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    credential = f"Credential={keys.access_key}/{scope}"
    sent["Authorization"] = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={signature}"
    return sent
