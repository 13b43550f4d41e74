"""Reads ahead in a thread, so that the network works while the reader decompresses and counts.

A stream gets a thread once its first megabyte was read in one go and a tenth of the time, but at least 50 ms, was spent
waiting. Single records, index blocks and the head of a file therefore get none, and neither do streams that arrive as
fast as they are consumed, since the system itself buffers as much as a socket holds. At most 8 MB and one piece more
are buffered.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from crawlmill.storage.forwarding import ForwardingStream
from crawlmill.storage.resume import ResumingStream

__all__ = ["ReadAheadStream"]

MAX_WAITING_BYTES = 8 << 20
_BEFORE_THREAD_BYTES = 1 << 20
_BEARABLE_WAIT_S, _BEARABLE_SHARE = 0.05, 0.1
_PIECE = 1 << 18


class _Pump:
    """A thread that reads a stream to its end into a bounded queue; `take` is for a single other thread."""

    def __init__(self, stream: ResumingStream) -> None:
        self._stream = stream
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._ended = self._stopped = False
        self._error: BaseException | None = None
        self._moved = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="crawlmill-read-ahead", daemon=True)
        self._thread.start()

    def take(self) -> bytes:
        """The next piece; b"" at the end. Raises errors of the reading thread after all pieces before them."""
        with self._moved:
            self._moved.wait_for(lambda: self._pieces or self._ended)
            if self._pieces:
                piece = self._pieces.popleft()
                # Wake the thread rarely: it refills half the queue at a time.
                if self._waiting > MAX_WAITING_BYTES // 2 >= self._waiting - len(piece):
                    self._moved.notify()
                self._waiting -= len(piece)
                return piece
            if self._error is not None:
                raise self._error
            return b""

    def stop(self) -> None:
        """Make the thread end after its current read; it closes its stream itself."""
        self._stream.cancel()
        with self._moved:
            self._stopped = True
            self._pieces.clear()
            self._moved.notify()

    def _run(self) -> None:
        try:
            while piece := self._stream.read(_PIECE):
                with self._moved:
                    if self._waiting >= MAX_WAITING_BYTES:
                        self._moved.wait_for(lambda: self._stopped or self._waiting <= MAX_WAITING_BYTES // 2)
                    if self._stopped:
                        return
                    self._pieces.append(piece)
                    self._waiting += len(piece)
                    self._moved.notify()
        except BaseException as error:  # noqa: BLE001 (raised again where the pieces are taken)
            self._error = error
        finally:
            self._stream.close()
            with self._moved:
                self._ended = True
                self._moved.notify()


class ReadAheadStream(ForwardingStream[ResumingStream]):
    """A `Stream` over a `ResumingStream`; a seek leaves the old thread to end by itself. `clock` returns seconds."""

    def __init__(self, stream: ResumingStream, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock = clock
        self._pump: _Pump | None = None
        self._piece, self._taken = b"", 0
        self._at = self._run_from = 0
        self._begin_run(0)

    def read(self, n: int = -1, /) -> bytes:
        """See `Stream.read`."""
        if n < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        if self._pump is None:
            if not self._held_up():
                return self._read_here(n)
            self._pump = _Pump(self._stream)
        if n and self._taken == len(self._piece):
            self._piece, self._taken = self._pump.take(), 0
        # A piece that fits is returned without a copy.
        piece = self._piece[self._taken : self._taken + n]
        self._taken += len(piece)
        self._at += len(piece)
        return piece

    def seek(self, offset: int, /) -> int:
        """See `Stream.seek`."""
        if offset == self._at:
            return offset
        if self._pump is None:
            self._stream.seek(offset)
        else:
            self._pump.stop()
            self._pump, self._stream = None, self._stream.again(offset)
        self._begin_run(offset)
        return offset

    def tell(self) -> int:
        """See `Stream.tell`."""
        return self._at

    def pause(self) -> None:
        """See `Stream.pause`."""
        if self._pump is None:
            self._stream.pause()
        else:
            self._pump.stop()
            self._pump, self._stream = None, self._stream.again(self._at)
            self._begin_run(self._at)

    def close(self) -> None:
        """See `Stream.close`."""
        if self._pump is None:
            self._stream.close()
        else:
            self._pump.stop()

    def _begin_run(self, offset: int) -> None:
        self._piece, self._taken = b"", 0
        self._at = self._run_from = offset
        self._began_s, self._waited_s = self._clock(), 0.0

    def _read_here(self, n: int) -> bytes:
        asked_s = self._clock()
        piece = self._stream.read(n)
        self._waited_s += self._clock() - asked_s
        self._at += len(piece)
        return piece

    def _held_up(self) -> bool:
        if self._at - self._run_from < _BEFORE_THREAD_BYTES:
            return False
        return self._waited_s > max(_BEARABLE_WAIT_S, _BEARABLE_SHARE * (self._clock() - self._began_s))

    def __del__(self) -> None:
        self.close()  # a stream that was not closed must not leave its thread and connection behind
