"""Options about what to read of inputs: which pages, how much of each record, and what to verify.

They are separate from `options`, since commands that read no records start faster without the readers of archives.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.formats.selectors import options as values
from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.inputs.reading import ReadOptions
from crawlmill.mr.run.options import Add, whole_number

__all__ = ["add_reading", "add_selecting", "criteria_of", "read_options"]

_MAX_BODY_MIB: Final = 64


def add_reading(add: Add) -> None:
    """Declare what to verify and read of an input."""
    add("--verify", action="store_true", help="also check the block and payload digests in records")
    add(
        "--heads-only",
        action="store_true",
        help="for jobs that need no bodies: verify only boundaries and lengths, which is faster",
    )
    add(
        "--max-body",
        type=whole_number(1, "a number of bytes"),
        default=_MAX_BODY_MIB << 20,
        metavar="BYTES",
        help=f"largest body to read, before and after decoding; larger ones are skipped as too-large "
        f"(default: {_MAX_BODY_MIB} MiB)",
    )


def add_selecting(add: Add) -> None:
    """Declare which pages to select; converted to `Criteria` by `criteria_of`."""

    def several(name: str, dest: str, parse: Callable[[str], Any], metavar: str, text: str) -> None:
        add(name, dest=dest, action="append", default=[], type=_worded(parse), metavar=metavar, help=text)

    several("--host", "hosts", values.parse_host, "H", "pages of this host (may be repeated, as all of these)")
    several("--domain", "domains", values.parse_host, "D", "pages of this domain and of all hosts below it")
    several("--tld", "tlds", values.parse_host, "T", "pages of hosts below this top-level domain or suffix, such as uk")
    several("--url-regex", "expressions", values.parse_expression, "RE", "pages in whose URL this is found")
    several("--status", "statuses", values.parse_statuses, "N,…", "pages with these HTTP statuses, such as 200,3xx")
    several("--mime", "mimes", values.parse_mime, "M", "pages sent as this media type, such as text/html or text/*")
    several(
        "--detected-mime",
        "detected_mimes",
        values.parse_mime,
        "M",
        "pages that the crawler found to be of this media type",
    )
    several(
        "--language",
        "languages",
        values.parse_language,
        "L",
        "pages in this language, one of up to three that the crawler found (ISO 639-3, such as eng)",
    )
    several("--charset", "charsets", values.parse_charset, "C", "pages that the crawler found to be in this charset")
    time = _worded(values.parse_time)
    add(
        "--from", dest="start", type=time, metavar="TS", help="pages from this time on (1 to 14 digits, such as 202401)"
    )
    add("--to", dest="end", type=time, metavar="TS", help="pages up to this time, inclusive")
    add("--truncated", choices=("only", "none"), help="only, or none of, the pages whose payload the crawler has cut")
    add(
        "--sample-records",
        dest="sample",
        type=_worded(values.parse_sample),
        metavar="P%",
        help="a sample of the pages, chosen by their URLs: the same pages in every format",
    )


def _worded(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """An argparse type from a function whose ValueErrors say what was expected."""

    def parse_or_say(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"expected {error}, got {text!r}") from None

    return parse_or_say


def criteria_of(options: argparse.Namespace) -> Criteria:
    """The criteria that the options of `add_selecting` ask for.

    Raises:
        UsageError: No page can meet them.
    """
    start, end = options.start, options.end
    if start and end and start[: len(end)] > end[: len(start)]:
        raise UsageError(f"--from {start} is after --to {end}")
    names = ("hosts", "domains", "tlds", "mimes", "detected_mimes", "languages", "charsets")
    given = {name: frozenset(getattr(options, name)) for name in names}
    return Criteria(
        **given,
        expressions=tuple(options.expressions),
        statuses=tuple(each for some in options.statuses for each in some),
        start=start,
        end=end,
        truncated=None if options.truncated is None else options.truncated == "only",
        sample=options.sample,
    )


def read_options(options: argparse.Namespace) -> ReadOptions:
    """The read options from the command line.

    Raises:
        UsageError: Options exclude each other.
    """
    if options.heads_only and options.verify:
        raise UsageError("--heads-only and --verify exclude each other: digests are of whole records")
    return ReadOptions(heads_only=options.heads_only, verify=options.verify, max_body=options.max_body)
