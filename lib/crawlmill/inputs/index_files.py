"""Files and web services of indexes, in the form that the package `indexes` expects.

Files are read by ranges, always of one version; services are queried within the limits for CDX APIs, on any host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

from crawlmill.codecs.source import Replay
from crawlmill.errors import SourceError
from crawlmill.indexes.source import BlockStore, OpenSource
from crawlmill.inputs.cache import FileBlocks
from crawlmill.storage import Storage
from crawlmill.storage.interface import Opener, Stream
from crawlmill.storage.limits import CDX_API
from crawlmill.storage.locations import absolute, canonical, current, is_remote, local_path, redact
from crawlmill.storage.resume import Identity

if TYPE_CHECKING:  # it imports urllib3, which local indexes do not need
    from crawlmill.storage.http.asking import Reply

__all__ = ["FolderFiles", "PipedFile", "StoredFile", "WebService"]

T = TypeVar("T")


class StoredFile:
    """A stored file as a `Source`. All responses must report the same version as the first one."""

    def __init__(self, location: str, storage: Opener) -> None:
        self.location, self.name = location, redact(location)
        self.remote = is_remote(current(location))
        self._storage = storage
        self._identity: Identity | None = None

    def size(self) -> int | None:
        """As for `Source.size`."""
        if self._identity is None:
            with self.open(0, 1):
                pass
        return self._identity.total if self._identity else None

    def open(self, offset: int = 0, length: int | None = None) -> Stream:
        """As for `Source.open`."""
        stream = self._storage.open_stream(self.location, offset, length)
        now = stream.identity
        if self._identity is None or not self._identity.sure:
            self._identity = now if self._identity is None else self._identity.completed(now)
        elif now != Identity() and self._identity.same(now) is False:
            stream.close()
            sizes = (self._identity.total, now.total)
            more = f": {sizes[0]} bytes before, {sizes[1]} now" if sizes[0] != sizes[1] else ""
            raise SourceError(f"the file changed while it was read{more}", reason="changed", source=self.name)
        return stream

    def store(self) -> BlockStore | None:
        """As for `Source.store`; versions are ETags."""
        self.size()
        folder = FileBlocks.folder_of(canonical(self.location))
        if folder is None or self._identity is None or self._identity.etag is None:
            return None
        return FileBlocks(folder, self._identity)

    def is_kept(self) -> bool:
        """Whether blocks of any version are in the cache; makes no request."""
        folder = FileBlocks.folder_of(canonical(self.location)) if self.remote else None
        return folder is not None and folder.is_dir()


class PipedFile:
    """A pipe as a `Source`: its bytes come once, and its first ones can be examined before."""

    remote = False

    def __init__(self, location: str, storage: Opener) -> None:
        self.name = redact(location)
        self._stream: Stream | None = storage.open_stream(location)
        self._head = b""

    def head(self, count: int) -> bytes:
        """The first bytes, at most `count`; they are returned again when the pipe is read."""
        while self._stream is not None and len(self._head) < count:
            piece = self._stream.read(count - len(self._head))
            if not piece:
                break
            self._head += piece
        return self._head

    def size(self) -> int | None:
        """As for `Source.size`."""
        return None

    def open(self, offset: int = 0, length: int | None = None) -> OpenSource:
        """As for `Source.open`, but for all of it, once only."""
        if self._stream is None or offset or length is not None:
            raise SourceError("a pipe can be read only once: save it as a file", reason="unavailable", source=self.name)
        stream, self._stream = self._stream, None
        return _Continued(stream, self._head)

    def store(self) -> BlockStore | None:
        """As for `Source.store`."""
        return None


class _Continued(Replay):
    """A stream whose first bytes were read already; closed at the end of its `with` block."""

    def __init__(self, stream: Stream, head: bytes) -> None:
        super().__init__(stream, head)
        self._stream = stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


class FolderFiles:
    """The files next to an index, as `Files`; names are relative to its folder."""

    def __init__(self, index: str, storage: Opener) -> None:
        path = index.partition("?")[0] if is_remote(index) else index
        self._folder, self._remote, self._storage = path.rpartition("/")[0] or ".", is_remote(index), storage

    def source(self, name: str) -> StoredFile:
        """As for `Files.source`. A remote index cannot name files of this machine."""
        location = absolute(name, self._folder)
        if self._remote and not is_remote(location):
            raise SourceError("a remote index names a file of this machine", reason="denied", source=name)
        return StoredFile(location, self._storage)

    def names(self) -> list[str]:
        """The names of the files next to the index; none if it is not on this machine."""
        if self._remote:
            return []
        try:
            return sorted(each.name for each in local_path(self._folder).iterdir() if each.is_file())
        except (OSError, SourceError):
            return []


class WebService:
    """A CDX API on a web server, as a `Service`."""

    def __init__(self, url: str, storage: Storage) -> None:
        self.url, self.name = url, redact(url)
        self.lists_blocks: bool | None = None
        self._storage = storage

    def ask(self, location: str, accept: Callable[[Reply], T], *, retries: int | None = None) -> T:
        """As for `Service.ask`."""
        return self._storage.ask(location, accept, kind=CDX_API, source=self.name, retries=retries)
