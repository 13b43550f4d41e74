"""Captures as printed by commands: stored lines, JSON objects, tab-separated values, an input list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from crawlmill.errors import FormatError, UsageError
from crawlmill.indexes.capture import FIELDS, Capture, disk_name, parse_capture
from crawlmill.indexes.index import OnProblem
from crawlmill.indexes.lines import Chunk
from crawlmill.terminal.text import visible_field

__all__ = ["FORMATS", "Printer", "make_printer"]

FORMATS: Final = ("cdxj", "json", "tsv", "list")

_NOT_PLAIN: Final = re.compile("[\t\r\n\ud800-\udc7f\udd00-\udfff]")  # half a surrogate pair is not UTF-8
_PLACE: Final = ("filename", "offset", "length")

Printer = Callable[[Chunk, OnProblem], Chunk]
"""Makes of lines of an index what is printed; told is what no capture can be made of."""


def make_printer(form: str, fields: str | None) -> Printer:
    """A function that prints captures in one of the `FORMATS`.

    Args:
        form: The format.
        fields: Names of the fields, separated by commas, as on disk or in an API; None: all.

    Raises:
        UsageError: A field is not valid.
    """
    names = [name.strip() for name in fields.split(",")] if fields is not None else None
    if names is not None and not all(names):
        raise UsageError("--fields", expected="names separated by commas", actual=repr(fields))
    if form == "cdxj" and names is None:
        return lambda chunk, _: chunk
    if form == "tsv":
        return _table(names or list(FIELDS))
    if form == "list":
        return _each(_list_line)
    if form == "json":
        return _each(_json_line(names))
    return _each(_cdxj_line(names or []))


def _each(shown: Callable[[Capture], str]) -> Printer:
    def printer(chunk: Chunk, on_problem: OnProblem) -> Chunk:
        return "".join(lines(chunk, on_problem)).encode("utf-8", "surrogateescape")

    def lines(chunk: Chunk, on_problem: OnProblem) -> Iterator[str]:
        for line in bytes(chunk).split(b"\n")[:-1]:
            try:
                yield shown(parse_capture(line))
            except FormatError as error:
                on_problem(error)

    return printer


def _json_line(names: list[str] | None) -> Callable[[Capture], str]:
    def shown(capture: Capture) -> str:
        flat = capture.to_json()
        if names is not None:
            flat = {name: flat[disk] for name in names if (disk := disk_name(name)) in flat}
        return json.dumps(flat) + "\n"

    return shown


def _cdxj_line(names: list[str]) -> Callable[[Capture], str]:
    def shown(capture: Capture) -> str:
        flat = capture.to_json()
        fields: dict[str, Any] = {
            name: flat[disk]
            for name in names
            if (disk := disk_name(name)) in flat and disk not in ("urlkey", "timestamp")
        }
        return f"{capture.urlkey} {capture.timestamp} {json.dumps(fields)}\n"

    return shown


def _list_line(capture: Capture) -> str:
    cells = [_cell(capture, name) for name in _PLACE]
    # Without a length, which CDX files with nine or ten columns do not have, a line still says where a record begins.
    if missing := [name for name, cell in zip(_PLACE[:2], cells, strict=False) if not cell]:
        raise FormatError(
            f"the capture {capture.urlkey} {capture.timestamp} does not say where its record is: it has no "
            + " and no ".join(missing),
            reason="bad-header",
        )
    if _NOT_PLAIN.search(cells[0]):  # JSON is a valid line of an input list too
        return json.dumps(dict(zip(_PLACE, cells, strict=True))) + "\n"
    return "\t".join(cells) + "\n"


def _cell(capture: Capture, name: str) -> str:
    value = capture.get(name)
    return "" if value is None or value == "-" else value


def _table(names: list[str]) -> Printer:
    """Rows after a line of names, which is printed with the first row."""
    begun = False

    def row(capture: Capture) -> str:
        nonlocal begun
        head = "" if begun else "\t".join(names) + "\n"
        begun = True
        return head + "\t".join(visible_field(_cell(capture, name)) for name in names) + "\n"

    return _each(row)
