"""Parts as Parquet: typed columns, described in the file itself.

A column of kind `json` is a string in Parquet, with JSON text. The file's metadata has the columns under the name
`crawlmill.columns`, so that its rows can be converted to pairs without other files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.results.columns import Cell, Columns
from crawlmill.results.pairs import from_json
from crawlmill.storage.interface import Stream

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ModuleNotFoundError as missing:
    raise MissingDependency("parquet needs the package pyarrow: pip install 'crawlmill[columnar]'") from missing

__all__ = ["RowWriter", "read_rows"]

_COLUMNS: Final = b"crawlmill.columns"
_BUFFER: Final = 1 << 20
_AT_ONCE: Final = 10_000  # rows read at a time
_GROUP: Final = 100_000  # rows of a row group
_GROUP_BYTES: Final = 64 << 20  # or this many characters of text


class RowWriter:
    """Writes rows to a file and leaves it open; needs memory for one row group."""

    def __init__(self, file: BinaryIO, columns: Columns) -> None:
        self._schema = _schema_of(columns)
        self._cells: list[list[Cell]] = [[] for _ in columns.all]
        self._rows = self._size = 0
        self._writer: Any = pq.ParquetWriter(file, self._schema, compression="zstd", write_page_checksum=True)

    def write(self, cells: Sequence[Cell]) -> None:
        """Add a row of strings, numbers and None, in the form that columns have in text."""
        for column, cell in zip(self._cells, cells, strict=True):
            column.append(cell)
            if type(cell) is str:
                self._size += len(cell)
        self._rows += 1
        if self._rows >= _GROUP or self._size >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        """Write the remaining rows and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._rows:
            try:
                table = pa.table(self._cells, schema=self._schema)
            except UnicodeEncodeError:  # lone surrogates, which UTF-8 cannot express: use JSON's escape
                table = pa.table([list(map(_writable, column)) for column in self._cells], schema=self._schema)
            self._writer.write_table(table)
            self._cells = [[] for _ in self._cells]
            self._rows = self._size = 0


def read_rows(stream: Stream, columns: Columns | None, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a part, with the columns in its metadata, else the given ones, else those of its names.

    Raises:
        FormatError: It is damaged, or has other columns; the message has its name.
        SourceError: It cannot be read.
    """
    try:
        file = pq.ParquetFile(io.BufferedReader(_File(stream), _BUFFER))
        columns = _columns_in(file.schema_arrow, columns)
        nested = [n for n, column in enumerate(columns.all) if column.kind == "json"]
        for batch in file.iter_batches(batch_size=_AT_ONCE):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                cells = list(row)
                for n in nested:
                    cells[n] = None if cells[n] is None else from_json(cells[n])
                yield columns.pair(cells)
    except FormatError as error:
        raise error.located(source=name) from error
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        what = str(error).partition("\n")[0]
        raise FormatError(f"no part in Parquet: {what}", reason="bad-encoding", source=name) from error


def _writable(cell: Cell) -> Cell:
    return cell.encode("utf-8", "backslashreplace").decode() if type(cell) is str else cell


def _schema_of(columns: Columns) -> Any:
    types = {"string": pa.string(), "json": pa.string(), "int64": pa.int64()}
    fields = [pa.field(name, types[kind]) for name, kind in columns.all]
    return pa.schema(fields, metadata={_COLUMNS: json.dumps(columns.to_json())})


def _columns_in(schema: Any, columns: Columns | None) -> Columns:
    described = (schema.metadata or {}).get(_COLUMNS)
    if described is not None:
        columns = Columns.from_json(json.loads(described))
    elif columns is None:
        columns = Columns.by_names(schema.names)
    wanted = _schema_of(columns)
    if not schema.equals(wanted):
        raise FormatError(
            "the columns of a part in Parquet",
            reason="bad-header",
            expected=_listed(wanted),
            actual=_listed(schema),
        )
    return columns


def _listed(schema: Any) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


class _File(io.RawIOBase):
    """A stream as a seekable file."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._size = stream.size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size is not None

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 2 and self._size is not None:
            offset += self._size
        elif whence == 1:
            offset += self._stream.tell()
        return self._stream.seek(offset)

    def tell(self) -> int:
        return self._stream.tell()
