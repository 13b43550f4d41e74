"""Politeness: limits on how often, and over how many connections, all processes of a run together access a host.

A stream may be subject to the limits of a kind of service, on any host (`KINDS`); these too are kept per host.

Two things are kept per host: the time of the next turn (requests are evenly spaced, and a 429 or 503 received by one
process makes all others wait), and slots for connections. Processes share them through the files of one folder, locked
with `flock`, so that a killed process releases what it held; without a folder they are in memory.

Tasks on other machines cannot communicate, so each keeps to its share of the limits: if N run at a time, 1/N of the
requests per second, and 1/N of the connections. The first request of a task waits for as long as the interval between
two of its requests, since the task that ran in its place may just have sent its last one, and up to as long again, by
chance, since other tasks begin at the same time.

Times are from `time.monotonic`, which all processes of a machine share.
"""

from __future__ import annotations

import fcntl
import os
import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from crawlmill.errors import SourceError
from crawlmill.storage.retry import Failure

__all__ = ["CDX_API", "DEFAULTS", "KINDS", "HostLimits", "Limiter", "limited_name", "limits_of", "name_of"]

_PENALTY_FIRST_S, _MAX_PENALTY_S, _PENALTY_HALVES_S = 0.1, 5.0, 10.0
_STALE_S = 600.0  # a turn later than this was written before the last reboot
_POLL_S = 0.05


@dataclass(frozen=True)
class HostLimits:
    """The load that a host accepts; None = no limit."""

    requests_per_second: float | None = None
    connections: int | None = None


DEFAULTS = {
    "data.commoncrawl.org": HostLimits(requests_per_second=5.0, connections=8),
    # Without an account it serves about ten requests a second, whatever the size of the files.
    "huggingface.co": HostLimits(requests_per_second=5.0, connections=8),
    # It answers parallel clients with 503 or 429, and handles about one request a second.
    "index.commoncrawl.org": HostLimits(requests_per_second=1.0, connections=2),
}


CDX_API = "cdx-api"
"""The kind of service that looks up captures: one server in front of a large index."""

KINDS = {CDX_API: HostLimits(requests_per_second=1.0, connections=2)}
"""What the services of a kind take, of whose host nothing else is known."""


def name_of(host: str, kind: str | None = None) -> str:
    """The name of a host in the limits, or of a service of a kind (one of `KINDS`) on it."""
    host = host.lower()
    return host if kind is None or host in DEFAULTS else f"{kind}@{host}"


def limited_name(bucket: str) -> str:
    """The name of a bucket in the limits: S3 throttles by bucket, not by address."""
    return f"{bucket}.s3"


def limits_of(host: str, given: HostLimits) -> HostLimits:
    """The user's limits, else the known ones of the host, or of the kind of service in the name."""
    known = DEFAULTS.get(host.lower()) or KINDS.get(host.partition("@")[0], HostLimits())
    return HostLimits(given.requests_per_second or known.requests_per_second, given.connections or known.connections)


@dataclass
class _Turn:
    """When the next request may be sent, and how far apart requests to a throttling host are."""

    next_s: float = 0.0
    penalty_s: float = 0.0
    since_s: float = 0.0  # when the penalty was last increased or halved


class _InMemory:
    """The state of hosts, for the threads of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, _Turn] = {}
        self._taken: Counter[str] = Counter()
        self._asked: set[str] = set()

    @contextmanager
    def turn(self, host: str) -> Iterator[_Turn]:
        """The host's turn, locked for reading and changing."""
        with self._lock:
            yield self._turns.setdefault(host, _Turn())

    def take(self, host: str, slots: int) -> Callable[[], None] | None:
        """Take a slot; returns a function that releases it, or None if all are taken."""
        with self._lock:
            if self._taken[host] >= slots:
                return None
            self._taken[host] += 1
        return partial(self._give_back, host)

    def is_first(self, what: str) -> bool:
        """Whether this is asked for the first time."""
        with self._lock:
            first = what not in self._asked
            self._asked.add(what)
        return first

    def _give_back(self, host: str) -> None:
        with self._lock:
            self._taken[host] -= 1


class _InFolder:
    """The state of hosts in locked files: `HOST.turn` holds three doubles, `HOST.N.slot` is empty."""

    _FORMAT = struct.Struct("<3d")

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def turn(self, host: str) -> Iterator[_Turn]:
        """See `_InMemory.turn`."""
        with self._locked(f"{host}.turn", fcntl.LOCK_EX) as file:
            stored = os.pread(file, self._FORMAT.size, 0)
            turn = _Turn(*self._FORMAT.unpack(stored)) if len(stored) == self._FORMAT.size else _Turn()
            yield turn
            os.pwrite(file, self._FORMAT.pack(turn.next_s, turn.penalty_s, turn.since_s), 0)

    def take(self, host: str, slots: int) -> Callable[[], None] | None:
        """See `_InMemory.take`."""
        for number in range(slots):
            slot = ExitStack()
            try:
                slot.enter_context(self._locked(f"{host}.{number}.slot", fcntl.LOCK_EX | fcntl.LOCK_NB))
            except BlockingIOError:
                continue
            return slot.close
        return None

    def is_first(self, what: str) -> bool:
        """See `_InMemory.is_first`."""
        try:
            (self._folder / f"{quote(what, safe='')}.said").touch(exist_ok=False)
        except FileExistsError:
            return False
        except OSError:
            pass  # better twice than never
        return True

    @contextmanager
    def _locked(self, name: str, how: int) -> Iterator[int]:
        try:
            file = os.open(self._folder / quote(name, safe=""), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SourceError(
                f"the folder of shared limits cannot be used: {error.strerror}",
                reason="unavailable",
                source=str(self._folder),
            ) from error
        try:
            fcntl.flock(file, how)
            yield file
        finally:
            os.close(file)  # releases the lock


class Limiter:
    """Admits requests when it is their turn.

    `share`: the number of limiters, without contact to each other, that share the limits. `patience_s`: how long a
    request waits for a slot while its own process holds one, before that is treated as a deadlock.
    """

    def __init__(
        self,
        requests_per_second: float | None = None,
        connections: int | None = None,
        *,
        folder: str | None = None,
        share: int = 1,
        patience_s: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._given, self._share = HostLimits(requests_per_second, connections), share
        self._began, self._luck = clock(), random()
        # On the nodes of a cluster the launcher's folder does not exist: each task then keeps limits of its own.
        self._state = _InFolder(Path(folder)) if folder and Path(folder).is_dir() else _InMemory()
        self._patience_s, self._clock, self._sleep = patience_s, clock, sleep
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def limits_of(self, host: str) -> HostLimits:
        """The limits that apply here: the share of the host's limits, and at least one connection."""
        whole = limits_of(host, self._given)
        return HostLimits(
            whole.requests_per_second and whole.requests_per_second / self._share,
            whole.connections and max(whole.connections // self._share, 1),
        )

    def admit(self, host: str) -> Callable[[], None]:
        """Wait for a slot and a turn; returns a function that releases the slot (it may be called again).

        Raises: Failure: This process itself holds slots of the host, and none becomes free.
        """
        host = host.lower()
        limits = self.limits_of(host)
        release = self._take(host, limits.connections) if limits.connections else _nothing
        try:
            self._await_turn(host, limits.requests_per_second)
        except BaseException:
            release()
            raise
        return release

    def slow_down(self, host: str, wait_s: float) -> None:
        """Report that the host throttles: no requests are sent for `wait_s` seconds, and fewer for a while after."""
        now = self._clock()
        with self._state.turn(host.lower()) as turn:
            turn.next_s = max(turn.next_s if turn.next_s < now + _STALE_S else 0.0, now + wait_s)
            turn.penalty_s = min(max(_PENALTY_FIRST_S, 2 * turn.penalty_s), _MAX_PENALTY_S)
            turn.since_s = now

    def is_first(self, what: str) -> bool:
        """Whether no process of the run has asked this before: for messages to be shown once."""
        return self._state.is_first(what)

    def _await_turn(self, host: str, per_second: float | None) -> None:
        now = self._clock()
        with self._state.turn(host) as turn:
            if turn.next_s > now + _STALE_S or turn.since_s > now:
                turn.next_s = turn.penalty_s = turn.since_s = 0.0
            while turn.penalty_s and now >= turn.since_s + _PENALTY_HALVES_S:
                turn.penalty_s = turn.penalty_s / 2 if turn.penalty_s > _PENALTY_FIRST_S else 0.0
                turn.since_s += _PENALTY_HALVES_S
            apart_s = 1 / per_second if per_second else 0.0
            first_s = self._began + apart_s * (1 + self._luck) if self._share > 1 else 0.0
            mine = max(now, turn.next_s, first_s)
            turn.next_s = mine + apart_s + turn.penalty_s
        if mine > now:
            self._sleep(mine - now)

    def _take(self, host: str, slots: int) -> Callable[[], None]:
        patient_until = self._clock() + self._patience_s
        while (give_back := self._state.take(host, slots)) is None:
            if self._held[host] and self._clock() > patient_until:
                raise Failure(f"all {slots} connections allowed to {host} are in use, some of them by this process")
            self._sleep(_POLL_S)
        held = [give_back]
        with self._lock:
            self._held[host] += 1

        def release() -> None:
            with self._lock:
                last = held.pop() if held else _nothing
                self._held[host] -= last is not _nothing
            last()

        return release


def _nothing() -> None:
    pass
