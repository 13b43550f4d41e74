"""`CountJob`: the base class of counting jobs. Map tasks add up counts, in bounded memory; reducers sum them by key.

    class MimeCount(CountJob):
        '''Count media types.'''

        formats = ("warc", "arc")
        types = ("response",)

        def process(self, record):
            yield record.http.media_type, 1

A job that needs a faster loop brings a counter of its own (`make_counter`, `count`). If the native core implements
both, `counted_natively` above `count` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, Protocol, TypeGuard, TypeVar

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.inputs.reading import Reading
from crawlmill.mr.compat import MRStep
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.job.step_task import is_json, overrides
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.largest import Largest, leading_number
from crawlmill.mr.task.pairs import ENCODED, encode_key, encode_value
from crawlmill.mr.task.rows import Pair
from crawlmill.mr.task.sums import Choice, summing

__all__ = ["CountJob", "Counter", "PairCounter", "counted_natively"]

_MAX_KEYS: Final = 500_000

_Count = TypeVar("_Count", bound=Callable[..., None])
_counted_natively: Final[set[Callable[..., None]]] = set()


def counted_natively(count: _Count) -> _Count:
    """Declare that the native core counts a record just as this `count` does, with the `native` of the job's counter.

    Ordinary records are then counted as they are read; the others still reach `count`. A subclass that overrides
    `count` is not affected.
    """
    _counted_natively.add(count)
    return count


class Counter(Protocol):
    """A collection of counts by key."""

    def __len__(self) -> int:
        """The number of keys held."""

    def drain(self) -> Iterator[Pair]:
        """Yield the counts and empty the counter."""


class LineCounter(Counter, Protocol):
    """A counter that can also write its counts as lines."""

    def drain_lines(self) -> Iterable[bytes]:
        """Yield counts as JSON lines `key TAB value`, several in each item; `drain` yields those that remain."""


class PairCounter:
    """Sums the numeric values of pairs by key. Keys are equal if their JSON is equal: `1` and `true` differ."""

    def __init__(self) -> None:
        self._counts: dict[str | bytes, Any] = {}

    def add(self, key: Any, number: float) -> None:
        """Add one pair."""
        name = key if type(key) is str else encode_key(key)
        self._counts[name] = self._counts.get(name, 0) + number

    def __len__(self) -> int:
        return len(self._counts)

    def drain(self) -> Iterator[Pair]:
        """Yield the counts and empty the counter."""
        counts, self._counts = self._counts, {}
        return ((name if type(name) is str else json.loads(name), number) for name, number in counts.items())

    def drain_lines(self) -> Iterator[bytes]:
        """Yield the counts as lines and empty the counter."""
        counts, self._counts = self._counts, {}
        for name, number in counts.items():
            key = name if isinstance(name, bytes) else encode_key(name)
            value = b"%d" % number if type(number) is int else encode_value(number)
            yield b"%b\t%b\n" % (key, value)


class CountJob(CrawlJob):
    """The base class of counting jobs; see the module docstring."""

    most_keys: ClassVar[int] = _MAX_KEYS
    """Keys that a map task may hold before it emits them."""

    reducer: Callable[..., Iterator[Pair]] = summing
    _as_lines = False

    def configure_args(self) -> None:
        """Declare the options of counting jobs."""
        super().configure_args()
        group = self.arg_parser.add_argument_group("counts")
        self._pass_on(
            group,
            "--min-count",
            type=whole_number(1),
            default=1,
            metavar="N",
            help="leave out keys with a smaller count (default: 1)",
        )
        self._pass_on(
            group, "--top", type=whole_number(1), metavar="N", help="only the N largest counts, largest first"
        )

    def make_counter(self) -> Any:
        """Return the `Counter` that `count` adds to."""
        return PairCounter()

    def count(self, record: Record, counter: Any) -> None:
        """Count one record. A FormatError means that it is lost: then nothing of it may have been counted."""
        for key, number in list(self.process(record) or ()):
            counter.add(key, number)

    def ranked_in(self, key: Any) -> str:  # noqa: ARG002 - for subclasses
        """The name of the ranking in which `--top` places a key; by default there is one for all keys."""
        return ""

    def mapper_init(self) -> None:
        """Begin a map task."""
        self._counter: Counter = self.make_counter()

    def read(self, reading: Reading) -> Iterator[Pair]:
        """Count the records of one input; yields pairs only when too many keys are in memory."""
        counter, count = self._counter, self.count
        if type(self).count in _counted_natively:
            reading.counter = getattr(counter, "native", None)
        for record in self.watched(reading):
            try:
                count(record, counter)
            except FormatError as error:
                reading.lose(error, record)
            if len(counter) > self.most_keys:
                yield from self._drained()

    def mapper_final(self) -> Iterator[Pair]:
        """Yield the counts of a map task."""
        return self._drained()

    def run_mapper(self, step_num: int = 0) -> None:
        """Run a map task; writes counts straight as lines if the job overrides nothing in between."""
        theirs = ("mapper", "mapper_final", "map_pairs", "read", "steps")
        first = not step_num and not self.surveys
        self._as_lines = first and is_json(self, "mapper", 0) and not overrides(self, CountJob, *theirs)
        super().run_mapper(step_num)

    def sums(self, kind: str, step_num: int) -> Choice | None:
        """As in `CrawlJob`, for counting jobs with thresholds too."""
        choice = super().sums(kind, step_num)
        theirs = ("steps", "ranked_in", "reducer", "reduce_pairs")
        first = not step_num and not self.surveys
        if choice or kind != "reducer" or not first or not is_json(self, kind, 0) or overrides(self, CountJob, *theirs):
            return choice
        return Choice(self.options.min_count if self.options.min_count > 1 else None, self.options.top)

    def _drained(self) -> Iterator[Pair]:
        if self._as_lines and _writes_lines(self._counter):
            for lines in self._counter.drain_lines():
                yield ENCODED, lines
        yield from self._counter.drain()

    def steps(self) -> list[MRStep]:
        """Count and sum; with `--top`, each reducer yields its largest counts, and one more step the largest of all."""
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
        return (pair for pair in self.reducer(key, values) if leading_number(pair[1]) >= least)


def _writes_lines(counter: Counter) -> TypeGuard[LineCounter]:
    """Whether `drain` and `drain_lines` come from the same class, so that they yield the same counts."""
    home = next(each for each in type(counter).__mro__ if "drain" in vars(each))
    return "drain_lines" in vars(home)
