"""Look up captures in URL indexes.

PATTERN is a URL. `*.example.com` means a domain and everything below it; a `*` at the end means all URLs that start
that way. `-` reads patterns from stdin, one per line. Several patterns are answered in order, each on its own.

INDEX is a sorted CDX or CDXJ file (plain or gzip), a cluster (its folder, or its cluster.idx), the prefix B-tree of the
2012 crawl, a table of Parquet files (its folder, or a list of them), a crawl (CC-MAIN-2024-10), latest, latest:3, or a
year. It can be local or on HTTP, S3 or HDFS; only the ranges that are needed are read. INDEX can also be a CDX API: a
URL that ends in -index, /cdx or /index, or api:URL, or api:CC-MAIN-2024-10. An API is sent at most one request a
second, over at most two connections, unless you set other limits. The results of several indexes are merged.

The output is an input list for any job. For an index that the job structured_data has written, it is the quads of the
pages, unless you choose another --output. Anything that cannot be read is reported on stderr, and the exit code is 2.

Examples:
  crawlmill lookup '*.example.com' --index captures.cdxj
  crawlmill lookup 'https://example.com/news/*' --index CC-MAIN-2024-10 --filter =status:200 --newest
  crawlmill lookup - --index DIR --output json --fields url,timestamp < urls.txt
  crawlmill lookup '*.example.com' --index s3://bucket/cluster/ --plan
  crawlmill lookup --kind wet https://example.com/ --index SIBLINGS
  crawlmill lookup '*.example.com' --index api:CC-MAIN-2024-10 --checkpoint pages/
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.indexes.cdx_api.index import ApiOptions
from crawlmill.indexes.cluster.cluster import Cluster
from crawlmill.indexes.columnar.layout import SIBLINGS
from crawlmill.indexes.index import Index
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.output import FORMATS, make_printer
from crawlmill.indexes.prefix_tree.lines import without_keys
from crawlmill.indexes.prefix_tree.tree import PrefixTree
from crawlmill.indexes.quads.reader import QuadReader
from crawlmill.indexes.query import SORTS, Query
from crawlmill.inputs.indexes import IndexPlace, find_indexes, open_indexes
from crawlmill.mr.run.lookup import Losses, queries_of
from crawlmill.mr.run.options import add_base_url, add_lookup, whole_number
from crawlmill.terminal.text import tell

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add = parser.add_argument
    add("patterns", nargs="*", metavar="PATTERN", help="a URL, with or without wildcards; - reads them from stdin")
    add_lookup(add)
    add("--sort", choices=SORTS, default="key", help="the order: by key and time, backwards, or closest to --closest")
    add("--closest", metavar="TS", help="the time for --sort closest")
    add(
        "--output",
        choices=(*FORMATS, "quads"),
        help="cdxj: lines as they are stored (default); json: objects; tsv; list: file, offset, length; quads: "
        "those of the pages, as structured_data wrote them (the default for its output)",
    )
    add("--fields", metavar="A,B", help="only these fields, in this order")
    add("--count", action="store_true", help="print the number of captures instead; of several patterns, one per line")
    add(
        "--plan",
        action="store_true",
        help="print how much would be read, without reading it",
    )
    add(
        "--checkpoint",
        metavar="FOLDER",
        help="for a CDX API: keep its pages in FOLDER, and resume an earlier look-up from there",
    )
    add("--page-size", type=whole_number(1), metavar="N", help="for a CDX API: blocks per page (default: the server's)")
    add(
        "--kind",
        choices=("warc", *SIBLINGS),
        default="warc",
        help="for a sibling index: print where the WAT or WET records of the pages are (default warc)",
    )
    add("--verbose", action="store_true", help="report which answers cannot be proven")
    add("--values", type=int, choices=(28, 32), help="for an index of 2012: bytes per value (default: detected)")
    add_base_url(add, "where the clusters of crawls are (default: https://data.commoncrawl.org/)")


def run(options: argparse.Namespace) -> int:
    """Print the captures."""
    if not options.index:
        raise UsageError("no index given: name one with --index, such as a file, a folder or a crawl")
    if not options.patterns:
        raise UsageError("no pattern given: name a URL, or `-` to read them from stdin")
    queries = queries_of(options, options.patterns, sys.stdin.buffer)
    form = "cdxj" if options.output in (None, "quads") else options.output
    printer = make_printer(form, options.fields)
    first = next(queries, None)  # report a mistake in the first pattern or an option before opening anything
    storage = make_storage(options)
    losses = Losses(_say)
    places = find_indexes(options.index, storage, base_url=options.base_url, index_url=options.index_url)
    places = [replace(place, kind=options.kind) for place in places]
    _check_api_options(options, places)
    folder = Path(options.checkpoint) if options.checkpoint else None
    indexes = open_indexes(places, storage, losses.add, ApiOptions(options.page_size, folder), options.values)
    if options.verbose:
        _tell_unproven(indexes)
    if trees := [index for index in indexes if isinstance(index, PrefixTree)]:
        if form == "list" and not all(tree.has_lengths for tree in trees):
            raise UsageError("this index of 2012 does not say how long records are: there is no input list of them")
        if form == "cdxj" and options.fields is None and len(trees) == len(indexes):
            printer = lambda chunk, _: without_keys(bytes(chunk))  # noqa: E731
    several = len(options.patterns) > 1 or "-" in options.patterns
    every = chain([] if first is None else [first], queries)
    try:
        if options.plan:
            _plan(indexes, every)
        elif options.count:
            _count(indexes, every, losses, several=several)
        else:
            out = sys.stdout.buffer
            quads = _quad_reader(indexes, options)
            for _, chunks in look_up(indexes, every, losses.add):
                for chunk in chunks:
                    if quads is None and options.output == "quads" and chunk:
                        raise UsageError("--output quads: this index holds captures, not quads")
                    if quads is None:
                        out.write(printer(chunk, losses.add))
                    else:
                        out.writelines(quads.quads(chunk, losses.add))
    finally:
        sys.stdout.flush()
        losses.end()
    return 2 if losses.number else 0


def _quad_reader(indexes: list[Index], options: argparse.Namespace) -> QuadReader | None:
    """The reader of quads, if they are to be printed: by default, if an index has them."""
    holding = [index for index in indexes if isinstance(index, Cluster) and index.holds_quads]
    if options.output not in (None, "quads") or (options.output is None and (not holding or options.fields)):
        return None
    if options.fields:
        raise UsageError("--fields: quads have none")
    if len(indexes) > 1:
        raise UsageError("--output quads: of one index at a time; --output cdxj prints the captures of several")
    return QuadReader(holding[0].files) if holding else None


def _plan(indexes: list[Index], queries: Iterator[Query]) -> None:
    wanted = list(queries)
    totals: dict[str, int] = {}
    for index in indexes:
        for name, number in index.plan(wanted).totals().items():
            totals[name] = totals.get(name, 0) + number
    order = [name for name in ("pages", "blocks", "bytes", "requests") if name in totals]
    sys.stdout.write("".join(f"{name} {totals[name]}\n" for name in order))


def _check_api_options(options: argparse.Namespace, places: list[IndexPlace]) -> None:
    if any(place.api for place in places):
        return
    for name, value in (("--checkpoint", options.checkpoint), ("--page-size", options.page_size)):
        if value is not None:
            raise UsageError(f"{name} is of CDX APIs, and none of the indexes is one")


def _tell_unproven(indexes: list[Index]) -> None:
    for index in indexes:
        if index.format == "cdx-api":
            _say(f"{index.name} is a CDX API: its answers cannot be proven, a page may end early without a sign")


def _count(indexes: list[Index], queries: Iterator[Query], losses: Losses, *, several: bool) -> None:
    for query, chunks in look_up(indexes, queries, losses.add):
        count = sum(chunk.count(b"\n") for chunk in chunks)
        sys.stdout.write(f"{query.pattern.text}\t{count}\n" if several else f"{count}\n")


def _say(line: str) -> None:
    sys.stdout.flush()
    tell(line)
