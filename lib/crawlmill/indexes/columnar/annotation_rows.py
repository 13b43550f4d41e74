"""Converts annotations from text to Parquet: CSV, tab-separated values, JSON lines, results of jobs, captures.

    surt_host_name,score                                           CSV, with its header
    #harmonicc_pos  #harmonicc_val  #pr_pos  #pr_val  #host_rev    ranks of the web graph, tab-separated; `#` is removed
    {"url": "http://a.example/", "score": 3}                       one object per line
    "www.a.example"<TAB>{"captures": 3, …}                         a job's result: `key`, and the fields or `value`
    example,a)/ 20260101000000 {"url": …}                          captures: `url_surtkey`, `fetch_time`, their fields

Plain or gzip; every member is verified. Every column is text here; empty values are null.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from crawlmill.codecs.gzip import GzipReader
from crawlmill.errors import FormatError, UsageError
from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.source import Source

__all__ = ["convert"]

_BATCH: Final = 20_000
_CHUNK: Final = 1 << 20
_MAX_LINE: Final = 64 << 20
_MAX_COLUMNS: Final = 1000
_CAPTURE: Final = re.compile(r"\S+ [0-9]{14} ")
_PAIR: Final = re.compile(r'(?:"[^\t]*"|\[[^\t]*\]|null|-?[0-9][^\t]*)\t')
_NAMES: Final = {"urlkey": "url_surtkey", "timestamp": "fetch_time"}

Row = dict[str, str | None]


def convert(sources: Iterable[Source], path: str) -> None:
    """Write the rows of files in the same form to one Parquet file.

    Raises:
        UsageError: A line is not in that form; the message says which.
        FormatError, SourceError: A file cannot be read.
    """
    held = list(sources)
    names = _names(held)
    schema = pa.schema([(name, pa.string()) for name in names])
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for source in held:
            rows = _rows(source)
            while some := list(islice(rows, _BATCH)):
                writer.write_table(pa.table([[row.get(name) for row in some] for name in names], schema=schema))


def _names(sources: Iterable[Source]) -> list[str]:
    """The columns, in the order of their first appearance."""
    names: dict[str, None] = {}
    for source in sources:
        for row in _rows(source):
            if not row.keys() <= names.keys():
                names.update(dict.fromkeys(row))
                if len(names) > _MAX_COLUMNS:
                    raise UsageError(f"more than {_MAX_COLUMNS} columns", source=source.name)
            if isinstance(row, _Headed):
                break
    if not names:
        raise UsageError("an annotation without rows", source=", ".join(source.name for source in sources))
    return list(names)


class _Headed(dict[str, "str | None"]):
    """A row after a header line: all rows of its file have the same columns."""


def _rows(source: Source) -> Iterator[Row]:
    lines = _lines(source)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    every = chain([first], lines)
    if first.startswith("{"):
        yield from _of_lines(every, source, _object)
    elif _CAPTURE.match(first):
        yield from _of_lines(every, source, _capture)
    elif _PAIR.match(first):
        yield from _of_lines(every, source, _pair)
    elif "\t" in first:
        yield from _table((line.split("\t") for line in every if line), source)
    else:
        yield from _table(csv.reader(f"{line}\n" for line in every), source)


def _table(records: Iterator[list[str]], source: Source) -> Iterator[Row]:
    """The rows after a header line."""
    number = 0
    names: list[str] = []
    try:
        for number, record in enumerate(records, 1):
            if not names:
                names = [name.strip().lstrip("#").strip() for name in record]
                if not all(names) or len({name.lower() for name in names}) < len(names):
                    raise _bad(source, number, "a header of different names", repr(",".join(record)[:60]))
            elif len(record) == len(names):
                yield _Headed(zip(names, (cell or None for cell in record), strict=True))
            elif record:
                raise _bad(source, number, f"{len(names)} columns", str(len(record)))
    except csv.Error as error:
        raise _bad(source, number + 1, "CSV", str(error)) from None


def _of_lines(lines: Iterable[str], source: Source, parse: Any) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield {_NAMES.get(name, name): _cell(value) for name, value in parse(line).items()}
            except (ValueError, RecursionError, FormatError) as error:
                raise _bad(source, number, "a line as the first one", str(error).partition("\n")[0][:80]) from None


def _object(line: str) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise FormatError("not an object", reason="bad-json")
    return found


def _capture(line: str) -> dict[str, Any]:
    return parse_capture(line.encode()).to_json()


def _pair(line: str) -> dict[str, Any]:
    key, tab, value = line.partition("\t")
    if not tab:
        raise ValueError("no tab")
    found = json.loads(value)
    return {"key": json.loads(key), **(found if isinstance(found, dict) else {"value": found})}


def _cell(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bad(source: Source, number: int, expected: str, actual: str) -> UsageError:
    return UsageError(f"record {number} of an annotation", expected=expected, actual=actual, source=source.name)


def _lines(source: Source) -> Iterator[str]:
    """The lines of a file, plain or gzip, without line ends."""
    rest = b""
    for piece in _pieces(source):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _MAX_LINE:
            raise FormatError("a line of an annotation", reason="too-large", source=source.name)
        for line in lines:
            yield _text(line, source)
    if rest:
        yield _text(rest, source)


def _text(line: bytes, source: Source) -> str:
    try:
        return line.removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            "an annotation that is not UTF-8", reason="bad-encoding", source=source.name, actual=str(error)
        ) from None


def _pieces(source: Source) -> Iterator[bytes]:
    with source.open(0, 2) as stream:
        gzip = stream.read(2) == b"\x1f\x8b"
    with source.open() as stream:
        if not gzip:
            yield from iter(lambda: stream.read(_CHUNK), b"")
            return

        def fail(error: FormatError) -> None:
            raise error.located(source=source.name)

        for member in GzipReader(stream, on_problem=fail, plausible=lambda _: True):
            yield from map(bytes, member.pieces(_CHUNK))
