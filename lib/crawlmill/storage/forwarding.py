"""`ForwardingStream`: the base of streams that wrap another one and change only part of its behaviour."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from crawlmill.storage.resume import Identity

if TYPE_CHECKING:  # `interface` is a higher layer than some of these streams
    from crawlmill.storage.interface import Stream

__all__ = ["ForwardingStream"]

S = TypeVar("S", bound="Stream")


class ForwardingStream(Generic[S]):
    """A `Stream` that wraps another one, `_stream`, which may be replaced."""

    def __init__(self, stream: S) -> None:
        self._stream = stream

    @property
    def size(self) -> int | None:
        """See `Stream.size`."""
        return self._stream.size

    @property
    def identity(self) -> Identity:
        """See `Stream.identity`."""
        return self._stream.identity

    def tell(self) -> int:
        """See `Stream.tell`."""
        return self._stream.tell()

    def pause(self) -> None:
        """See `Stream.pause`."""
        self._stream.pause()

    def close(self) -> None:
        """See `Stream.close`."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()
