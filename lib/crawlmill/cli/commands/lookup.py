"""Look up captures in URL indexes.

PATTERN is a URL; `*.example.com` means a domain and all below it, a `*` at the end all URLs that begin so; `-` reads
patterns from stdin, a line each. INDEX is a sorted CDX or CDXJ file (plain or gzip), the folder or cluster.idx of a
cluster, a crawl (CC-MAIN-2024-10), latest, latest:3, or a year; local, HTTP, S3 or HDFS: only the ranges that are
needed are read. Several patterns are answered one after another, each as if alone; several indexes are merged. What is
printed is an input list for any job. What could not be read is said in a line on stderr, and the exit code is 2.

Examples:
  crawlmill lookup '*.example.com' --index captures.cdxj
  crawlmill lookup 'https://example.com/news/*' --index CC-MAIN-2024-10 --filter =status:200 --newest
  crawlmill lookup - --index DIR --output json --fields url,timestamp < urls.txt
  crawlmill lookup '*.example.com' --index s3://bucket/cluster/ --plan
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Final

from crawlmill.cli.arguments import make_storage
from crawlmill.cli.capture_output import FORMATS, make_printer
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.indexes.index import Index
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import SORTS, Query, parse_filter
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.mr.run.options import whole_number
from crawlmill.terminal.text import tell
from crawlmill.urls.patterns import MATCHES, parse_pattern

__all__ = ["add_arguments", "run"]

_MOST_LINES: Final = 100
_LONGEST_PATTERN: Final = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add = parser.add_argument
    add("patterns", nargs="*", metavar="PATTERN", help="a URL, with or without wildcards; - reads them from stdin")
    add("--index", action="append", default=[], metavar="INDEX", help="where to look (may be repeated)")
    add(
        "--match", choices=MATCHES, help="what a pattern means, whatever its wildcards (default: as they say, or exact)"
    )
    add("--key", action="store_true", help="patterns are urlkeys, as com,example)/path")
    add("--from", dest="start", metavar="TS", help="captures from this time on (1 to 14 digits, such as 202401)")
    add("--to", dest="end", metavar="TS", help="captures up to this time, inclusive")
    add("--filter", action="append", default=[], metavar="[!][=|~]FIELD:VALUE",
        help="captures whose field contains, equals (=) or matches from the left (~) a value, or does not (!); "
        "may be repeated")  # fmt: skip
    add("--newest", action="store_true", help="only the newest capture of each URL")
    add("--distinct", metavar="FIELD", help="only the first capture of each value of a field, such as digest, per URL")
    add("--sort", choices=SORTS, default="key", help="the order: by key and time, backwards, or closest to --closest")
    add("--closest", metavar="TS", help="the time for --sort closest")
    add("--limit", type=whole_number(0), metavar="N", help="at most so many captures of each pattern")
    add("--output", choices=FORMATS, default="cdxj",
        help="cdxj: lines as they are stored (default); json: objects; tsv; list: file, offset, length")  # fmt: skip
    add("--fields", metavar="A,B", help="only these fields, in this order")
    add("--count", action="store_true", help="print the number of captures instead; of several patterns, one per line")
    add("--plan", action="store_true", help="print how much would be read, in blocks and bytes, and read none of it")
    add("--checkpoint", metavar="FOLDER", help="of a CDX API: go on where an earlier look-up ended")
    add("--page-size", type=whole_number(1), metavar="N", help="of a CDX API: blocks per page")
    add("--base-url", metavar="LOCATION",
        help="where the clusters of crawls lie (default: https://data.commoncrawl.org/)")  # fmt: skip
    add("--index-url", metavar="URL", help="where collinfo.json lies (default: https://index.commoncrawl.org/)")


def run(options: argparse.Namespace) -> int:
    """Look up."""
    if not options.index:
        raise UsageError("no index given: name one with --index, such as a file, a folder or a crawl")
    if not options.patterns:
        raise UsageError("no pattern given: name a URL, or `-` to read them from stdin")
    queries = _queries(options)
    printer = make_printer(options.output, options.fields)
    first = next(queries, None)  # a mistake in the first pattern or an option is told before anything is opened
    storage = make_storage(options)
    losses = _Losses()
    places = find_indexes(options.index, storage, base_url=options.base_url, index_url=options.index_url)
    indexes = open_indexes(places, storage, losses.add)
    several = len(options.patterns) > 1 or "-" in options.patterns
    every = queries if first is None else _chained(first, queries)
    try:
        if options.plan:
            _plan(indexes, every)
        elif options.count:
            _count(indexes, every, losses, several=several)
        else:
            out = sys.stdout.buffer
            for _, chunks in look_up(indexes, every, losses.add):
                for chunk in chunks:
                    out.write(printer(chunk, losses.add))
    finally:
        sys.stdout.flush()
        losses.end()
    return 2 if losses.number else 0


def _queries(options: argparse.Namespace) -> Iterator[Query]:
    filters = tuple(map(parse_filter, options.filter))
    for text in _patterns(options.patterns):
        yield Query(
            parse_pattern(text, options.match, is_key=options.key), options.start, options.end, filters,
            options.newest, options.distinct, options.sort, options.closest, options.limit,
        )  # fmt: skip


def _patterns(given: list[str]) -> Iterator[str]:
    for text in given:
        if text != "-":
            yield text
            continue
        while line := sys.stdin.buffer.readline(_LONGEST_PATTERN + 2):
            if len(line) > _LONGEST_PATTERN:
                raise UsageError(f"a pattern of more than {_LONGEST_PATTERN} bytes")
            if line.strip():
                yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def _chained(first: Query, rest: Iterator[Query]) -> Iterator[Query]:
    yield first
    yield from rest


def _plan(indexes: list[Index], queries: Iterator[Query]) -> None:
    wanted = list(queries)
    plans = [index.plan(wanted) for index in indexes]
    totals = {
        "blocks": sum(plan.blocks for plan in plans),
        "bytes": sum(plan.bytes for plan in plans),
        "requests": sum(plan.requests for plan in plans),
    }
    sys.stdout.write("".join(f"{name} {number}\n" for name, number in totals.items()))


def _count(indexes: list[Index], queries: Iterator[Query], losses: _Losses, *, several: bool) -> None:
    for query, chunks in look_up(indexes, queries, losses.add):
        count = sum(chunk.count(b"\n") for chunk in chunks)
        sys.stdout.write(f"{query.pattern.text}\t{count}\n" if several else f"{count}\n")


class _Losses:
    """Says what is lost, a line each; of very many the number."""

    def __init__(self) -> None:
        self.number = 0

    def add(self, error: CrawlmillError) -> None:
        """Say it."""
        self.number += 1
        if self.number <= _MOST_LINES:
            sys.stdout.flush()
            tell(f"{error.reason}: {error}")

    def end(self) -> None:
        """Say how many were not said."""
        if self.number > _MOST_LINES:
            tell(f"and {self.number - _MOST_LINES:,} more")
