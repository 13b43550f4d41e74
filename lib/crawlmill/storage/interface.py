"""The interface of every kind of storage: streams over spans of bytes, sizes, listings, atomic writes; and its options.

A *location* says where bytes are (`locations.py`); a *backend* knows one kind of them. Callers see only `Storage`
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
    """The bytes of a span of one object, read forward, with cheap enough jumps.

    Offsets are relative to the start of the span. A span that runs past the end of its object ends with the object.
    """

    @property
    def size(self) -> int | None:
        """Bytes in the span, or None where only its end will tell (pipes, chunked HTTP)."""

    @property
    def identity(self) -> Identity:
        """What storage says by which this version of the object is known again; nothing for pipes."""

    def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes, fewer if fewer are available; b"" only at the end; all that is left if `n` is negative.

        Raises: SourceError.
        """

    def seek(self, offset: int, /) -> int:
        """Go to `offset` within the span; remote storage asks again only at the next read."""

    def tell(self) -> int:
        """The offset of the next byte within the span."""

    def pause(self) -> None:
        """Release the connection until the next read: a host may allow but one."""

    def close(self) -> None:
        """Release the file or connection; harmless when done twice."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Opener(Protocol):
    """What reading needs of storage."""

    def open_stream(self, location: str, start: int = 0, length: int | None = None) -> Stream:
        """A stream over `length` bytes (or all there are) from byte `start`. Raises: SourceError."""

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object, at most `count`, which many ranges of it may need. Raises: SourceError."""

    def found_at(self, location: str) -> str:
        """Where a location that was opened lies: itself, or a mirror of it."""


class Backend(Protocol):
    """One kind of storage. Every method raises SourceError with one of the access reasons."""

    renames: bool
    """Whether a finished folder can be published by one rename."""

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """A stream over `length` bytes (or all) from byte `start`; a missing object is reported here, not later."""

    def size(self, location: str) -> int:
        """Bytes of the object."""

    def exists(self, location: str) -> bool:
        """Whether a file or folder is there; an access error is raised, not taken for absence."""

    def list(self, location: str) -> Iterator[str]:
        """Names of the files at any depth below a folder, relative to it, `/` between parts, sorted."""

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """A file to write, seen by others when the block ends well, whole or not at all; replaces what was there."""

    def make_folder(self, location: str) -> None:
        """Make the folder and those above it; nothing where storage has no folders."""

    def rename(self, source: str, target: str) -> None:
        """Give a file or folder another name, which must be free (UsageError)."""

    def remove(self, location: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing where there is none."""

    def close(self) -> None:
        """Close idle connections."""


@runtime_checkable
class CopyingBackend(Backend, Protocol):
    """A kind of storage that copies by itself, so that the bytes do not come here."""

    def copy(self, source: str, target: str) -> None:
        """Copy a file to another name, seen by others whole or not at all; replaces what was there."""


@runtime_checkable
class LimitingBackend(Backend, Protocol):
    """A kind of storage whose servers are asked by limits, which a stream may name."""

    def open_of_kind(self, kind: str | None, location: str, start: int, length: int | None) -> Stream:
        """As `open`, of a service of one of the kinds of `limits.KINDS`, by the limits of that."""


@dataclass(frozen=True)
class StorageOptions:
    """How storage behaves, as the launcher read it from the command line; travels to tasks as JSON.

    `retries`: tries that may fail in a row after the first. `limits_folder`: a local folder through which the
    processes of one run share their politeness limits; None, or a folder that is not there (as on another machine),
    keeps them to the process. The limits themselves: None means the defaults of `limits.py`. `share`: how many tasks
    on machines of their own keep to the limits together, each to its share. `s3_credentials_required`: S3 is never read
    without credentials; if they are missing, that is no trouble of an input but a CrawlmillError. `s3_sse`: how S3 is
    asked to encrypt what is written, "AES256" or "aws:kms"; None leaves that to the bucket. `s3_sse_kms_key_id`: with
    which key of KMS; None means the account's own for S3. `bases`: folders of the same files; what is not found below
    the first is looked for below the others, in their order.
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
        """Raises: UsageError for a number, a URL or a region that means nothing."""
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
        """The same for what somebody waits for: few tries, and 20 seconds at most for each."""
        return replace(self, retries=retries, read_timeout_s=min(20.0, self.read_timeout_s))

    def to_json(self) -> dict[str, Any]:
        """The options as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> StorageOptions:
        """The options that `to_json` wrote. Raises: UsageError for a name of another version."""
        unknown = set(given) - {field.name for field in fields(cls)}
        if unknown:
            raise UsageError(f"unknown storage option {', '.join(sorted(unknown))}")
        return cls(**{**given, "bases": tuple(given.get("bases", ()))})
