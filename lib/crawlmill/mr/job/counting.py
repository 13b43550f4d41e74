"""`CountJob`: the base of jobs that count. Counts are gathered in the map task, in bounded memory, and summed by key.

    class MimeCount(CountJob):
        '''Count media types.'''

        formats = ("warc", "arc")
        types = ("response",)

        def process(self, record):
            yield record.http.media_type, 1

A job whose counting is worth a loop of its own has a counter of its own (`make_counter`, `count`). Where the native
core has a twin of both, `counted_natively` above `count` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, Protocol, TypeVar

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.inputs.reading import Reading
from crawlmill.mr.compat import MRStep
from crawlmill.mr.job.base import CrawlJob, summing
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.pairs import encode_key
from crawlmill.mr.task.rows import Pair

__all__ = ["CountJob", "Counter", "Largest", "PairCounter", "counted_natively"]

_MOST_KEYS: Final = 500_000

_Count = TypeVar("_Count", bound=Callable[..., None])
_counted_natively: Final[set[Callable[..., None]]] = set()


def counted_natively(count: _Count) -> _Count:
    """Declare that the native core counts a record as this `count` does, with the `native` of the job's counter.

    Usual records are then counted as they are read; the rest still comes to `count`. A job that derives from this one
    and has a `count` of its own is not concerned.
    """
    _counted_natively.add(count)
    return count


class Counter(Protocol):
    """Counts by key."""

    def __len__(self) -> int:
        """Keys held."""

    def drain(self) -> Iterator[Pair]:
        """The counts; empties the counter."""


class PairCounter:
    """The sums of pairs whose values are numbers. Keys are one if their JSON is: `1` and `true` are two keys."""

    def __init__(self) -> None:
        self._counts: dict[str | bytes, Any] = {}

    def add(self, key: Any, number: float) -> None:
        """Count one pair."""
        name = key if type(key) is str else encode_key(key)
        self._counts[name] = self._counts.get(name, 0) + number

    def __len__(self) -> int:
        return len(self._counts)

    def drain(self) -> Iterator[Pair]:
        """The counts; empties the counter."""
        counts, self._counts = self._counts, {}
        return ((name if type(name) is str else json.loads(name), number) for name, number in counts.items())


class Largest:
    """The `n` pairs with the largest values, falling; among equals `null` first, then by the bytes of the JSON.

    With `ranked_in`, a function of the key, the `n` largest of each of its results (strings), in their order.
    """

    def __init__(self, n: int, ranked_in: Callable[[Any], str] = lambda _: "") -> None:
        self._n, self._ranked_in = n, ranked_in
        self._rankings: dict[str, list[Pair]] = {}

    def add(self, key: Any, value: Any) -> None:
        """Take in a pair, whose value is a number or a list that begins with one."""
        ranking = self._rankings.setdefault(self._ranked_in(key), [])
        ranking.append((key, value))
        if len(ranking) > 2 * self._n + 1000:
            ranking[:] = self._first(ranking)

    def pairs(self) -> list[Pair]:
        """The pairs, in order."""
        return [pair for _, ranking in sorted(self._rankings.items()) for pair in self._first(ranking)]

    def _first(self, ranking: list[Pair]) -> list[Pair]:
        return sorted(ranking, key=_rank)[: self._n]


def _rank(pair: Pair) -> tuple[Any, bool, bytes]:
    key, value = pair
    return -_number(value), key is not None, encode_key(key)


def _number(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


class CountJob(CrawlJob):
    """The base of counting jobs; see the module's text."""

    most_keys: ClassVar[int] = _MOST_KEYS
    """Keys that a map task may hold before it emits them."""

    reducer: Callable[..., Iterator[Pair]] = summing

    def configure_args(self) -> None:
        """Declare the options of counting jobs."""
        super().configure_args()
        group = self.arg_parser.add_argument_group("counts")
        self._pass_on(group, "--min-count", type=whole_number(1), default=1, metavar="N",
                      help="leave out what was counted fewer times (default: 1)")  # fmt: skip
        self._pass_on(group, "--top", type=whole_number(1), metavar="N", help="only the N largest counts, falling")

    def make_counter(self) -> Any:
        """What `count` adds to; a `Counter`."""
        return PairCounter()

    def count(self, record: Record, counter: Any) -> None:
        """Count one record. A FormatError means that it could not be taken: nothing of it may have been counted."""
        for key, number in list(self.process(record) or ()):
            counter.add(key, number)

    def ranked_in(self, key: Any) -> str:  # noqa: ARG002 - for those who override it
        """The name of the ranking that `--top` has a key in; all keys are in one unless a job says otherwise."""
        return ""

    def mapper_init(self) -> None:
        """Begin a map task."""
        self._counter: Counter = self.make_counter()

    def read(self, reading: Reading) -> Iterator[Pair]:
        """Count the records of one input; pairs come only where too many keys are held."""
        counter, count = self._counter, self.count
        if type(self).count in _counted_natively:
            reading.counter = getattr(counter, "native", None)
        for record in self.watched(reading):
            try:
                count(record, counter)
            except FormatError as error:
                reading.lose(error, record)
            if len(counter) > self.most_keys:
                yield from counter.drain()

    def mapper_final(self) -> Iterator[Pair]:
        """The counts of a map task."""
        return self._counter.drain()

    def steps(self) -> list[MRStep]:
        """Count and sum; with `--top`, each reducer gives its largest, and one reducer the largest of those."""
        reducer = self._reduced_enough if self.options.min_count > 1 else self.reducer
        counting = {"mapper_init": self.mapper_init, "mapper": self.mapper, "mapper_final": self.mapper_final}
        if "combiner" in vars(type(self)):
            counting["combiner"] = self.combiner
        if self.options.top is None:
            return [MRStep(**counting, reducer=reducer)]
        largest = Largest(self.options.top, self.ranked_in)

        def gather(key: Any, values: Iterable[Any]) -> None:
            for pair in reducer(key, values):
                largest.add(*pair)

        def hand_on() -> Iterator[Pair]:
            return ((None, pair) for pair in largest.pairs())

        def choose(_key: None, pairs: Iterable[Any]) -> list[Pair]:
            for pair in pairs:
                largest.add(*pair)
            return largest.pairs()

        one_reducer = {"mapreduce.job.reduces": 1}
        return [
            MRStep(**counting, reducer=gather, reducer_final=hand_on),
            MRStep(reducer=choose, jobconf=one_reducer),
        ]

    def _reduced_enough(self, key: Any, values: Iterable[Any]) -> Iterator[Pair]:
        least = self.options.min_count
        return (pair for pair in self.reducer(key, values) if _number(pair[1]) >= least)
