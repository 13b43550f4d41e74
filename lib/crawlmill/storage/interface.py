"""The interface of all storage: streams over spans of bytes, sizes, listings, atomic writes; and its options.

A *location* says where bytes are (`locations.py`); a *backend* handles one kind of them. Callers use only `Storage`
(`storage.py`) and `Stream`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from types import TracebackType
from typing import Any, BinaryIO, Final, Protocol, Self, runtime_checkable

from crawlmill.errors import UsageError
from crawlmill.storage.locations import redact
from crawlmill.storage.resume import Identity

__all__ = ["SSE", "Backend", "CopyingBackend", "LimitingBackend", "Opener", "StorageOptions", "Stream"]

SSE: Final = ("AES256", "aws:kms")
"""What S3 can be asked to encrypt an object with, as its interface names it: S3's own keys, or one of KMS."""


class Stream(Protocol):
    """The bytes of a span of one object, read forward; seeking is reasonably cheap.

    Offsets are relative to the start of the span. A span that runs past the end of its object ends with the object.
    """

    @property
    def size(self) -> int | None:
        """The size of the span in bytes, or None if only its end will tell (pipes, chunked HTTP)."""

    @property
    def identity(self) -> Identity:
        """What identifies this version of the object; empty for pipes."""

    def read(self, n: int = -1, /) -> bytes:
        """Read at most `n` bytes (all that are left if `n` is negative), fewer if fewer are there; b"" only at the end.

        Raises: SourceError.
        """

    def seek(self, offset: int, /) -> int:
        """Move to `offset` within the span; remote storage sends a request only at the next read."""

    def tell(self) -> int:
        """The offset of the next byte within the span."""

    def pause(self) -> None:
        """Release the connection until the next read: a host may allow only one."""

    def close(self) -> None:
        """Close the file or connection; may be called again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Opener(Protocol):
    """The part of storage that reading needs."""

    def open_stream(self, location: str, start: int = 0, length: int | None = None) -> Stream:
        """Open a stream over `length` bytes (or all) from byte `start`. Raises: SourceError."""

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object, at most `count`, which many of its ranges may need. Raises: SourceError."""

    def found_at(self, location: str) -> str:
        """Where a location was opened: the location itself, or a mirror of it."""


class Backend(Protocol):
    """One kind of storage. Every method raises SourceError, with an access reason."""

    renames: bool
    """Whether a finished folder can be published by one rename."""

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """Open a stream over `length` bytes (or all) from byte `start`; a missing object is reported now, not later."""

    def size(self, location: str) -> int:
        """The size of the object in bytes."""

    def exists(self, location: str) -> bool:
        """Whether a file or folder exists; access errors are raised, not mistaken for absence."""

    def list(self, location: str) -> Iterator[str]:
        """Yield the names of the files at any depth below a folder, relative to it, with `/` between parts, sorted."""

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for writing; when the block ends normally it appears, whole, and replaces an existing file."""

    def make_folder(self, location: str) -> None:
        """Create a folder and its parents; does nothing on storage without folders."""

    def rename(self, source: str, target: str) -> None:
        """Rename a file or folder; the new name must be free (else UsageError)."""

    def remove(self, location: str) -> None:
        """Remove a file, or a folder with its contents; does nothing if it does not exist."""

    def close(self) -> None:
        """Close idle connections."""


@runtime_checkable
class CopyingBackend(Backend, Protocol):
    """Storage that can copy by itself, without transferring the bytes to this machine."""

    def copy(self, source: str, target: str) -> None:
        """Copy a file; the copy appears whole or not at all; replaces an existing file."""


@runtime_checkable
class LimitingBackend(Backend, Protocol):
    """Storage with politeness limits, where a stream may name the limits that apply."""

    def open_of_kind(self, kind: str | None, location: str, start: int, length: int | None) -> Stream:
        """Like `open`, within the limits of one of the kinds of services in `limits.KINDS`."""


@dataclass(frozen=True)
class StorageOptions:
    """Options of storage, as the launcher parsed them from the command line; passed to tasks as JSON.

    `retries`: how many attempts after the first may fail in a row. `limits_folder`: a local folder through which the
    processes of a run share their politeness limits; if it is None, or does not exist (as on another machine), each
    process keeps limits of its own. The limits themselves: None means the defaults of `limits.py`. `share`: the number
    of tasks on separate machines that share the limits. `s3_credentials_required`: never read S3 without credentials;
    if they are missing, that is a CrawlmillError, not a problem of an input. `s3_sse`: the encryption to request for
    objects written to S3, "AES256" or "aws:kms"; None: the bucket's default. `s3_sse_kms_key_id`: the KMS key for it;
    None: the account's own key for S3. `bases`: base URLs that hold the same files; a file missing below the first is
    looked for below the others, in order.
    """

    read_timeout_s: float = 60.0
    retries: int = 8
    max_requests_per_second: float | None = None
    max_connections_per_host: int | None = None
    s3_endpoint: str | None = None
    s3_region: str | None = None
    s3_requester_pays: bool = False
    s3_credentials_required: bool = False
    s3_sse: str | None = None
    s3_sse_kms_key_id: str | None = None
    webhdfs: str | None = None
    limits_folder: str | None = None
    share: int = 1
    bases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises: UsageError: A number, a URL or a region is invalid."""
        if not 0 < self.read_timeout_s < float("inf"):
            raise UsageError("read time-out", expected="a number of seconds above 0", actual=str(self.read_timeout_s))
        if self.retries < 0:
            raise UsageError("retries", expected="0 or more", actual=self.retries)
        if self.max_requests_per_second is not None and not self.max_requests_per_second > 0:
            raise UsageError(
                "requests per second", expected="a number above 0", actual=str(self.max_requests_per_second)
            )
        if self.max_connections_per_host is not None and self.max_connections_per_host < 1:
            raise UsageError("connections per host", expected="1 or more", actual=self.max_connections_per_host)
        if self.share < 1:
            raise UsageError("tasks that share the limits", expected="1 or more", actual=self.share)
        for what, url in (("the endpoint of S3", self.s3_endpoint), ("the address of WebHDFS", self.webhdfs)):
            if url and not re.match(r"https?://[^\s/]", url, re.IGNORECASE):
                raise UsageError(what, expected="a URL of http or https", actual=redact(url))
        if self.s3_region and not re.fullmatch(r"[A-Za-z0-9-]+", self.s3_region):
            raise UsageError("the region of S3", expected="a name such as us-east-1", actual=self.s3_region)
        if self.s3_sse is not None and self.s3_sse not in SSE:
            raise UsageError("encryption by S3", expected=" or ".join(SSE), actual=self.s3_sse)
        if self.s3_sse_kms_key_id and self.s3_sse != "aws:kms":
            raise UsageError("a key of KMS for S3 goes with encryption by aws:kms only")

    def impatient(self, *, retries: int) -> StorageOptions:
        """The same options with few retries and time-outs of at most 20 seconds, for requests that a user waits for."""
        return replace(self, retries=retries, read_timeout_s=min(20.0, self.read_timeout_s))

    def to_json(self) -> dict[str, Any]:
        """The options as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> StorageOptions:
        """Parse the object written by `to_json`. Raises: UsageError: an option of another version."""
        unknown = set(given) - {field.name for field in fields(cls)}
        if unknown:
            raise UsageError(f"unknown storage option {', '.join(sorted(unknown))}")
        return cls(**{**given, "bases": tuple(given.get("bases", ()))})
