"""The options for files of copied records, which `crawlmill copy` and the job extract_records share."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

from crawlmill.extraction.output import check_prefix
from crawlmill.extraction.plan import DEFAULT_SIZE, parse_size

__all__ = ["add_output_files"]


def add_output_files(add: Callable[..., Any]) -> None:
    """Declare the size and the names of the files, and what they record about their sources."""
    add(
        "--max-size",
        type=_size,
        default=DEFAULT_SIZE,
        metavar="SIZE",
        help="the size of an output file, at most, such as 100KB, 20MB or 2GB (default 1GB)",
    )
    add(
        "--prefix",
        type=_prefix,
        default="records",
        metavar="P",
        help="what the names of files begin with (default records: records-00000.warc.gz)",
    )
    add("--provenance", action="store_true", help="write a metadata record for each: its source file and offset")


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a size such as 100KB, 20MB or 2GB: {text!r}") from None


def _prefix(text: str) -> str:
    try:
        return check_prefix(text)
    except ValueError:
        raise ArgumentTypeError(f"expected letters, digits and ._=+- : {text!r}") from None
