"""Read archives to the end, every member and record, and report what is lost.

Prints a line per file: its outcome (ok, partial, failed), its name, how many whole records and bytes it has; below it,
indented, its problems. The docs say what is verified, under "reading guarantees".

The lines of a CDX or CDXJ file must be in order. A folder, or a file whose name ends in .idx, is the cluster of a URL
index: its lines must be in order, and its cluster.idx must match its shards, from their first byte to their last.

Examples:
  crawlmill check crawl.warc.gz
  crawlmill check --json s3://commoncrawl/crawl-data/...warc.gz | jq .problems
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from crawlmill.cli.arguments import make_storage
from crawlmill.cli.streams import json_line
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.sorted_file import out_of_order
from crawlmill.indexes.lines import Order
from crawlmill.inputs.indexes import check_cluster, cluster_idx
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ItemReading, ReadOptions
from crawlmill.ledger.row import LedgerRow
from crawlmill.ledger.summary import Summary
from crawlmill.storage import Storage
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import tell, visible

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="an archive, an index file, or a cluster, at any location"
    )
    parser.add_argument("--digests", action="store_true", help="also check the digests in records")
    parser.add_argument("--json", action="store_true", help="print one ledger object per line instead")


def run(options: argparse.Namespace) -> int:
    """Check the files."""
    storage = make_storage(options)
    summary = Summary()
    for name in options.files:
        row = _check(name, storage, digests=options.digests)
        summary.add(row)
        if options.json:
            sys.stdout.write(json_line(row.to_json()))
            continue
        sys.stdout.write(f"{row.outcome:7}  {visible(redact(name))}  {row.records}  {row.bytes}\n")
        for problem in row.problems:
            sys.stdout.write(f"    {problem.reason}: {visible(problem.message)}\n")
        if row.lost.total() > len(row.problems):
            sys.stdout.write(f"    and {row.lost.total() - len(row.problems)} more\n")
    sys.stdout.flush()
    tell(summary.counts())
    return 2 if summary.not_ok else 0


def _check(name: str, storage: Storage, *, digests: bool) -> LedgerRow:
    if idx := cluster_idx(name) or (name if name.endswith((".idx", ".summary")) else None):
        return check_cluster(idx, storage)
    options, order = ReadOptions(verify=digests), Order()
    reading: ItemReading[Any] = ItemReading(Input(name, name), storage, object, options, streamed=not digests)
    for item in reading:
        if not isinstance(item, Block):
            reading.is_whole(item)
        elif found := order.take(item.data):
            reading.lose(out_of_order(item.offset, *found), item)
    return reading.row
