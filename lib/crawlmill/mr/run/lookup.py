"""From look-up options to captures: queries from the command line, losses, and captures as inputs.

The command `lookup` prints the captures; a job with `--index` uses them as inputs. Only such jobs import this module.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from typing import BinaryIO, Final

from crawlmill.errors import CrawlmillError, FormatError, UsageError
from crawlmill.indexes.arrange import lines_of
from crawlmill.indexes.capture import Capture, parse_capture
from crawlmill.indexes.index import OnProblem
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import Query, parse_filter
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.inputs.list_lines import Entry, place_of
from crawlmill.inputs.lists import Inputs, read_captures
from crawlmill.ledger.input_lines import as_line, is_cdxj
from crawlmill.mr.run.pattern_lists import single_keys
from crawlmill.storage import Storage, redact
from crawlmill.urls.patterns import Pattern, parse_pattern, pattern_of_key

__all__ = ["Losses", "queries_of", "read_captures_of"]

_AT_ONCE: Final = 1000
_MAX_LINES: Final = 100
_MAX_PATTERN: Final = 1 << 20
_PLACE: Final = ("filename", "offset", "length")


class Losses:
    """Reports the losses of a look-up, one line each; if there are very many, their number."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.number = 0

    def add(self, error: CrawlmillError) -> None:
        """Report a loss."""
        self.number += 1
        if self.number <= _MAX_LINES:
            self._say(f"{error.reason}: {error}")

    def end(self) -> None:
        """Report how many losses were not reported one by one."""
        if self.number > _MAX_LINES:
            self._say(f"and {self.number - _MAX_LINES:,} more")


def queries_of(options: argparse.Namespace, patterns: list[str], stdin: BinaryIO | None) -> Iterator[Query]:
    """Yield the queries of a command line.

    Args:
        options: The options of `add_lookup`; without `sort` and `closest`, captures are ordered by key.
        patterns: The arguments; `-` stands for the lines of stdin.
        stdin: The stream read for `-`.

    Raises:
        UsageError: A pattern or an option is invalid; raised when its query is requested.
    """
    filters = tuple(map(parse_filter, options.filter))
    sort, closest = getattr(options, "sort", "key"), getattr(options, "closest", None)
    for pattern in _patterns(_texts(patterns, stdin), options.match, is_key=options.key):
        yield Query(
            pattern, options.start, options.end, filters, options.newest, options.distinct, sort, closest, options.limit
        )


def _patterns(texts: Iterator[str], match: str | None, *, is_key: bool) -> Iterator[Pattern]:
    """Parse patterns: the first one at once, so that a mistake in it is found early, and the others many at a time."""
    for number in chain([1], repeat(_AT_ONCE)):
        if not (some := list(islice(texts, number))):
            return
        keys = single_keys(some, is_key=is_key, match=match) or [None] * len(some)
        for text, key in zip(some, keys, strict=True):
            yield parse_pattern(text, match, is_key=is_key) if key is None else pattern_of_key(text, key)


def _texts(patterns: list[str], stdin: BinaryIO | None) -> Iterator[str]:
    for text in patterns:
        if text != "-":
            yield text
            continue
        if stdin is None:
            raise UsageError("no standard input to read patterns from")
        while line := stdin.readline(_MAX_PATTERN + 2):
            if len(line) > _MAX_PATTERN:
                raise UsageError(f"a pattern of more than {_MAX_PATTERN} bytes")
            if line.strip():
                yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def read_captures_of(
    options: argparse.Namespace,
    patterns: list[str],
    storage: Storage,
    say: Callable[[str], None],
    *,
    stdin: BinaryIO | None,
    base_url: str | None,
    default_base: str,
    local_keys: bool,
) -> tuple[Inputs, int]:
    """Look up the patterns of a job's command line; returns the captures as inputs, and the number of losses.

    Each loss is reported in a line. Base URLs and keys of Common Crawl are used as in `read_lists`; the clusters of
    crawls are below the same base URL.

    Raises:
        UsageError: There is no pattern, or nothing is found; a pattern, an option or an index is invalid; something is
        lost
            and bad input should fail the job.
    """
    if not patterns:
        raise UsageError("no pattern given: name a URL, or `-` to read them from stdin")
    if options.limit == 0:
        raise UsageError("--limit", expected="1 or more, since a job needs captures to run on", actual=0)
    losses = Losses(say)
    entries = _captured(
        queries_of(options, patterns, stdin),
        options.index,
        storage,
        losses.add,
        base_url=base_url or default_base,
        index_url=options.index_url,
    )
    inputs = read_captures(entries, storage, base_url=base_url, default_base=default_base, local_keys=local_keys)
    losses.end()
    if losses.number and options.on_bad_input == "fail":
        raise UsageError("the look-up lost something, which --on-bad-input fail does not allow: nothing was run")
    if not inputs.items:
        where = f"{' '.join(map(redact, patterns))} in {' '.join(map(redact, options.index))}"
        raise UsageError(f"no capture of {where}: there is nothing to run on")
    return inputs, losses.number


def _captured(
    queries: Iterator[Query],
    names: list[str],
    storage: Storage,
    on_problem: OnProblem,
    *,
    base_url: str | None,
    index_url: str | None,
) -> Iterator[Entry]:
    """The captures of the queries as entries of an input list, in the order of `crawlmill lookup`.

    A capture without the place of its record (a line of CDX 9, which has no length) is reported and left out.
    """
    first = next(queries, None)  # report a mistake in the first pattern or an option before opening anything
    places = find_indexes(names, storage, base_url=base_url, index_url=index_url)
    indexes = open_indexes(places, storage, on_problem)
    every = chain([] if first is None else [first], queries)
    number = 0
    for _, chunks in look_up(indexes, every, on_problem):
        for line in lines_of(chunks):
            number += 1
            try:
                yield _entry(line, number)
            except FormatError as error:
                on_problem(error)


def _entry(line: bytes, number: int) -> Entry:
    """The entry for a line of an index, as shown in the ledger: a CDXJ line as it is, a CDX line as file and range."""
    capture = parse_capture(line)
    fields = {name: value for name in _PLACE if (value := capture.fields.get(name)) not in (None, "-")}
    missing = [name for name in _PLACE if name not in fields]
    try:
        location, offset, length = ("", None, None) if missing else place_of(fields)
    except ValueError as error:
        raise _without_place(capture, str(error)) from None
    if missing:
        raise _without_place(capture, f"it has no {' and no '.join(missing)}")
    text = line.decode("utf-8", "surrogateescape").strip()
    return Entry(number, text if is_cdxj(text) else as_line(location, offset, length), location, offset, length)


def _without_place(capture: Capture, why: str) -> FormatError:
    place = f"{capture.urlkey} {capture.timestamp}"
    return FormatError(f"the capture {place} does not say where its record is: {why}", reason="bad-header")
