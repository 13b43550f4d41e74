"""The channel between the launcher and one of its workers: messages in both directions, over a socket pair.

A message is its length in four bytes, then `kind` and `body`, which can be any objects that can be pickled. Both ends
run the same version of this code, and messages come from nowhere else.
"""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any, Final

__all__ = ["Channel", "Message"]

Message = tuple[str, Any]

_LENGTH: Final = struct.Struct(">I")


class Channel:
    """One end of the channel."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._received = bytearray()

    def fileno(self) -> int:
        """The file descriptor, for `select`."""
        return self._end.fileno()

    def send(self, kind: str, body: Any = None) -> None:
        """Send a message.

        Raises:
            OSError: The other end is closed.
        """
        message = pickle.dumps((kind, body))
        self._end.sendall(_LENGTH.pack(len(message)) + message)

    def receive(self) -> list[Message] | None:
        """Wait for data and return the complete messages; None when the other end is closed."""
        try:
            data = self._end.recv(1 << 16)
        except ConnectionError:
            return None
        if not data:
            return None
        self._received += data
        messages = []
        while len(self._received) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                break
            messages.append(pickle.loads(self._received[_LENGTH.size : end]))  # noqa: S301 - from our own process
            del self._received[:end]
        return messages

    def close(self) -> None:
        """Close this end."""
        self._end.close()
