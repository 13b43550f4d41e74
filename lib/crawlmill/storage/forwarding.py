"""What streams that stand in front of another one have in common: what they do not change is the other one's."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from crawlmill.storage.resume import Identity

if TYPE_CHECKING:  # `interface` is above some of these streams
    from crawlmill.storage.interface import Stream

__all__ = ["ForwardingStream"]

S = TypeVar("S", bound="Stream")


class ForwardingStream(Generic[S]):
    """A `Stream` in front of another one, `_stream`, which may change."""

    def __init__(self, stream: S) -> None:
        self._stream = stream

    @property
    def size(self) -> int | None:
        """As `Stream.size`."""
        return self._stream.size

    @property
    def identity(self) -> Identity:
        """As `Stream.identity`."""
        return self._stream.identity

    def tell(self) -> int:
        """As `Stream.tell`."""
        return self._stream.tell()

    def pause(self) -> None:
        """As `Stream.pause`."""
        self._stream.pause()

    def close(self) -> None:
        """As `Stream.close`."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()
