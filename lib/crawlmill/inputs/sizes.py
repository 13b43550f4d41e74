"""Gets the sizes of many files while the user waits: over several connections, with few retries.

A host that fails for several files in a row is down or refuses access, and is not asked again. Threads that still wait
for a server do not keep the program from ending.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.inputs.lists import Input
from crawlmill.storage import Storage
from crawlmill.storage.locations import current, is_remote
from crawlmill.storage.shares import most_tasks

__all__ = ["Sizes", "ask_sizes"]

_CONNECTIONS: Final = 8
_MAX_RETRIES: Final = 1
_FEW: Final = 5
_NO_ANSWER: Final = ("unavailable", "denied")


@dataclass(frozen=True)
class Sizes:
    """The answers, each list in the order of the files.

    `found`: sizes in bytes; `missing`: errors for files that do not exist; `unknown`: by host, errors for files whose
    size could not be determined.
    """

    found: list[int]
    missing: list[SourceError]
    unknown: dict[str, list[SourceError]]


def ask_sizes(files: Sequence[Input], storage: Storage) -> Sizes:
    """Get the sizes of the files, as far as servers answer soon; `storage` determines the options.

    Raises:
        UsageError: A kind of storage cannot be used at all, for example because a package is missing.
    """
    most, _ = most_tasks((item.location for item in files), _CONNECTIONS, storage.options)
    with Storage(storage.options.impatient(retries=min(storage.options.retries, _MAX_RETRIES))) as quick:
        round_ = _Round(files, quick)
        threads = [threading.Thread(target=round_.work, daemon=True) for _ in range(min(most or 1, len(files)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    sizes = Sizes([], [], {})
    for number, item in enumerate(files):
        answer = round_.answers[number]
        if isinstance(answer, int):
            sizes.found.append(answer)
        elif not isinstance(answer, SourceError):
            raise answer
        else:
            lost = sizes.unknown.setdefault(_host(item), []) if answer.reason in _NO_ANSWER else sizes.missing
            lost.append(answer.located(source=item.shown))
    return sizes


class _Round:
    """The files still to ask for, and the answers by file number; shared by the threads."""

    def __init__(self, files: Sequence[Input], storage: Storage) -> None:
        self._todo, self._storage = enumerate(files), storage
        self._lock = threading.Lock()
        self._in_a_row: Counter[str] = Counter()
        self._last: dict[str, CrawlmillError] = {}
        self.answers: dict[int, int | CrawlmillError] = {}

    def work(self) -> None:
        """Ask until no file is left."""
        while True:
            with self._lock:
                number, item = next(self._todo, (0, None))
                if item is None:
                    return
                host = _host(item)
                if is_remote(item.location) and self._in_a_row[host] >= _FEW:
                    self.answers[number] = self._last[host]
                    continue
            answer = self._ask(item)
            with self._lock:
                self.answers[number] = answer
                if isinstance(answer, CrawlmillError) and answer.reason in _NO_ANSWER:
                    self._in_a_row[host] += 1
                    self._last[host] = answer
                else:
                    self._in_a_row[host] = 0

    def _ask(self, item: Input) -> int | CrawlmillError:
        try:
            return self._storage.size_of(item.location)
        except CrawlmillError as error:
            return error


def _host(item: Input) -> str:
    return "/".join(current(item.location).split("/", 3)[:3]) if is_remote(item.location) else ""
