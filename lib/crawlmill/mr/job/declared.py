"""Checks before launch: what a job declares (a typo in `formats` would count nothing), and its output format."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.inputs.readers import READERS
from crawlmill.mr.job.command_line import PAIRS
from crawlmill.mr.task.pairs import encode_pair
from crawlmill.results.columns import JSON_PAIRS, Columns
from crawlmill.results.delimited import DELIMITERS

__all__ = ["TYPES", "check_declared", "check_output_format"]

TYPES: Final = (
    "warcinfo",
    "response",
    "resource",
    "request",
    "metadata",
    "revisit",
    "conversion",
    "continuation",
    "filedesc",
    "text_data",
    "record",
)
"""Types of records: of WARC (WARC 1.1 section 5.5), the first record of an ARC, and those of SequenceFiles."""


def check_declared(job: Any) -> None:
    """Check that `formats` and `types` of a job are tuples of known names.

    Raises:
        UsageError: The message names the attribute.
    """
    formats = tuple(name for reader in READERS for name in reader.formats)
    for attribute, known, example in (("formats", formats, '("warc",)'), ("types", TYPES, '("response",)')):
        names = getattr(job, attribute)
        where = f"`{attribute}` of {type(job).__name__}"
        if not isinstance(names, tuple):
            raise UsageError(where, expected=f"a tuple such as {example}", actual=repr(names))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(where, expected=f"names out of {', '.join(known)}", actual=", ".join(map(repr, unknown)))


def check_output_format(job: Any) -> None:
    """Check that the job's results can be written in the format that the user asked for.

    Raises:
        UsageError: They cannot, or the `columns` of the job are not valid.
    """
    options = job.options
    if not job.formats_results:
        return
    if job.columns is not None and not isinstance(job.columns, Columns):
        raise UsageError(f"`columns` of {type(job).__name__}", expected="Columns(…)", actual=repr(job.columns))
    if options.spreadsheet_safe and options.output_format not in DELIMITERS:
        raise UsageError("--spreadsheet-safe goes with --output-format csv or tsv")
    if options.output_format == PAIRS:
        return
    if job.columns is None or job.ends_with() is not None:
        raise UsageError(f"--output-format: the results of {job.name()}, as its options are, are not pairs")
    if job.columns is JSON_PAIRS and job.output_protocol().write is not encode_pair:
        raise UsageError(f"--output-format: {job.name()} writes results by a protocol of its own, and names no columns")
    if options.output_format == "parquet":
        if not options.output_dir or options.cat_output:
            raise UsageError("--output-format parquet writes files: it needs --output-dir, and cannot be printed")
        import_module("crawlmill.results.parquet")  # reports which package is missing
