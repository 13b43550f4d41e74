"""List the crawls that Common Crawl has published, newest first: id, name, first and last day, tab-separated.

NAME selects some of them: an id, latest, latest:3 or a year. The list is cached for a day; without a network you get
the cached one, or else the one that comes with this program, which ends in spring 2023.

Examples:
  crawlmill crawls
  crawlmill crawls latest:3
"""

from __future__ import annotations

import argparse
import sys

from crawlmill.cli.arguments import make_storage
from crawlmill.inputs.common_crawl.catalogue import Catalogue, load_catalogue
from crawlmill.mr.run.options import add_base_url
from crawlmill.storage import Storage
from crawlmill.terminal.text import tell, visible_field

__all__ = ["add_arguments", "add_catalogue_options", "load", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("name", nargs="?", default="all", metavar="NAME", help="which crawls (default: all)")
    add_catalogue_options(parser)


def add_catalogue_options(parser: argparse.ArgumentParser) -> None:
    """Declare where the catalogue is."""
    add_base_url(parser.add_argument, "where the path lists are (default: https://data.commoncrawl.org/)")
    parser.add_argument(
        "--index-url", metavar="URL", help="where collinfo.json is (default: https://index.commoncrawl.org/)"
    )


def load(storage: Storage, options: argparse.Namespace) -> Catalogue:
    """The catalogue; problems with it are reported on stderr."""
    catalogue = load_catalogue(storage, options.index_url)
    tell(*catalogue.warnings)
    return catalogue


def run(options: argparse.Namespace) -> int:
    """Print the crawls."""
    for crawl in load(make_storage(options), options).select(options.name):
        fields = (crawl.id, crawl.name, crawl.first[:10], crawl.last[:10])
        sys.stdout.write("\t".join(map(visible_field, fields)).rstrip() + "\n")
    return 0
