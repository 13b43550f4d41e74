"""List the records of archives, a row each, file after file.

Prints tab-separated values under a line of names, or with --json an object per line. Damage is reported on stderr;
records after it are still listed, and the exit code is 2. For a SequenceFile, a row shows offset, index, key and the
value's length; give offset and index to `cat` to print the record.

Examples:
  crawlmill records --fields offset,length,uri crawl.warc.gz
  crawlmill records --json --sha256 crawl.warc.gz | jq 'select(.type == "response")'
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from typing import Any

from crawlmill.cli.arguments import make_storage
from crawlmill.cli.streams import json_line
from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.formats.record import HEAD_BYTES, Record
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.readers import readers_of
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.mr.run.reading_options import add_selecting, criteria_of
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import tell, visible_field

__all__ = ["add_arguments", "run"]

_COLUMNS = ("offset", "length", "type", "date", "http_status", "content_length", "uri")
_COLUMNS_OF_KEYS = ("offset", "index", "value_length", "key")
_ADDED = ("file", "sha256", "content")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="an archive at any location")
    parser.add_argument(
        "--fields",
        metavar="A,B",
        help=f"the fields to show (default: {','.join(_COLUMNS)}; for SequenceFiles {','.join(_COLUMNS_OF_KEYS)})",
    )
    parser.add_argument(
        "--json", action="store_true", help="print an object per line, with all fields unless you give --fields"
    )
    parser.add_argument("--sha256", action="store_true", help="add the SHA-256 of each block or value")
    parser.add_argument("--content", action="store_true", help='add each block or value, as a string or {"base64": …}')
    parser.add_argument(
        "--heads-only", action="store_true", help="verify only boundaries and lengths, which is several times faster"
    )

    add_selecting(parser.add_argument_group("selecting records").add_argument)


def run(options: argparse.Namespace) -> int:
    """List the records."""
    wanted = None if options.fields is None else options.fields.split(",")
    known = {*_ADDED, *(name for reader in readers_of(Record) for name in reader.listed())}
    if unknown := set(wanted or ()) - known:
        raise UsageError(f"no field {', '.join(sorted(unknown)) or repr('')}", expected=", ".join(sorted(known)))
    storage = make_storage(options)
    write = _json_writer(wanted) if options.json else _table_writer(wanted, options)
    selection = Selection(criteria=criteria_of(options))
    read_options = ReadOptions(heads_only=options.heads_only)
    bad = False
    for name in options.files:
        reading = Reading(Input(name, name), storage, read_options, selection, streamed=True)
        for record in reading:
            added = _added(record, reading, sha256=options.sha256, content=options.content)
            if added is None or not reading.is_whole(record):
                continue
            row = {"file": redact(name)} if len(options.files) > 1 else {}
            write({**row, **record.fields(), **added})
        for problem in reading.row.problems:
            tell(f"{problem.reason}: {problem.message}")
        if reading.row.deselected:
            tell(f"{reading.row.deselected:,} records of {redact(name)} left out by the selectors")
        bad = bad or reading.row.outcome != "ok"
    return 2 if bad else 0


def _added(record: Record, reading: Reading, *, sha256: bool, content: bool) -> dict[str, Any] | None:
    """What the user wants to see of the block; None if only now it turned out to be damaged."""
    block = record.block
    reports_itself = block.streamed
    added: dict[str, Any] = {}
    try:
        if block.streamed:
            block.hold(HEAD_BYTES)  # the part in which `fields` looks for an HTTP header
        if content:
            added["content"] = None
            added["content"] = _shown(block.tail(0, record.max_body))
        if sha256:
            hasher = hashlib.sha256()
            for piece in block.pieces():
                hasher.update(piece)
            added["sha256"] = hasher.hexdigest()
    except (FormatError, SourceError) as error:  # `is_whole` reports errors of the block, and drops the record
        if isinstance(error, FormatError) and error.reason == "too-large":
            reading.lose(error, record)
        elif isinstance(error, FormatError) and not reports_itself:  # only its head was inflated until now
            reading.drop(error.located(offset=record.offset))
            return None
    return added


def _shown(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _json_writer(wanted: list[str] | None) -> Any:
    def write(row: dict[str, Any]) -> None:
        if wanted is not None:
            row = {name: row.get(name) for name in (*(("file",) if "file" in row else ()), *wanted)}
        sys.stdout.write(json_line(row))

    return write


def _table_writer(wanted: list[str] | None, options: argparse.Namespace) -> Any:
    extra = [name for name in ("sha256", "content") if getattr(options, name)]
    named: list[str] = []

    def cell(value: Any) -> str:
        if value is None:
            return ""
        return visible_field(value if isinstance(value, str) else json.dumps(value))

    def write(row: dict[str, Any]) -> None:
        nonlocal named
        usual = _COLUMNS_OF_KEYS if "key" in row else _COLUMNS
        columns = [*(["file"] if "file" in row else []), *(wanted or [*usual, *extra])]
        if columns != named:  # printed again if archives of another kind follow
            sys.stdout.write("\t".join(columns) + "\n")
            named = columns
        sys.stdout.write("\t".join(cell(row.get(name)) for name in columns) + "\n")

    return write
