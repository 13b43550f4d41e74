"""Print the path list of a crawl's files: an input list for any job.

KIND is segment, warc, wat, wet, robotstxt, non200responses, cc-index or cc-index-table; for the crawls of 2008 to
2012 also arc, and for 2012 text and metadata, which lists s3://commoncrawl/ with your AWS credentials. CRAWL is an id,
latest, latest:3, a year, CC-NEWS-2024-05, or EOT-2020 (the End of Term archive).

Examples:
  crawlmill paths latest wet --sample 10 --seed 1 > ten.paths
  crawlmill paths CC-MAIN-2024-22 warc --segment 1715971057216.39 --as wat
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from itertools import chain, islice

from crawlmill.cli.arguments import make_storage
from crawlmill.cli.commands.crawls.crawls import add_catalogue_options, load
from crawlmill.inputs.common_crawl.path_lists import of_segment, per_segment, read_paths, sample, sibling
from crawlmill.mr.run.options import whole_number

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("crawl", metavar="CRAWL", help="which crawl, or crawls")
    parser.add_argument("kind", metavar="KIND", help="which files")
    parser.add_argument("--segment", metavar="S", help="only the files of one segment")
    parser.add_argument("--per-segment", type=whole_number(1), metavar="N", help="the first N files of each segment")
    parser.add_argument("--sample", type=whole_number(1), metavar="N", help="N files chosen at random")
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, metavar="S", help="the seed of the random choice (default 1)"
    )
    parser.add_argument("--head", type=whole_number(1), metavar="N", help="only the first N")
    parser.add_argument(
        "--as", dest="sibling", choices=("warc", "wat", "wet"), help="the files of this kind with the same pages"
    )
    add_catalogue_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print the keys."""
    storage = make_storage(options)
    crawls = load(storage, options).select(options.crawl)
    keys: Iterable[str] = chain.from_iterable(
        read_paths(storage, crawl, options.kind, base_url=options.base_url, segment=options.segment) for crawl in crawls
    )
    if options.segment is not None:
        keys = of_segment(keys, options.segment)
    if options.per_segment is not None:
        keys = per_segment(keys, options.per_segment)
    if options.sample is not None:
        keys = sample(keys, options.sample, options.seed)
    if options.head is not None:
        keys = islice(keys, options.head)
    for key in keys:
        sys.stdout.write(f"{sibling(key, options.sibling) if options.sibling else key}\n")
    return 0
