"""How ledger rows travel from map tasks to the launcher.

A row is a pair under a reserved key, which holds the input's rank: its place in the ledger. Under Hadoop and Spark
such pairs go the way of all pairs, so that the rows of attempts that do not count are never heard of; whoever
receives them first (the reducer of the first step, or the map task itself where there is none) sets them aside into a
file per task. The runners of one machine set them aside in the map task at once, beside its output, which is taken or
thrown away as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from crawlmill.errors import FormatError
from crawlmill.inputs.ledger import LedgerRow
from crawlmill.mr.protocols import decode_pair, encode_pair

__all__ = ["Pair", "decode_row", "encode_rows", "row_pair", "without_rows"]

Pair = tuple[Any, Any]

_PREFIX: Final = "\0ledger:"  # no crawl holds a key that begins with a NUL and this word


def row_pair(rank: int, row: LedgerRow) -> Pair:
    """The pair that stands for a row. Ranks have so many digits that the keys' order is theirs."""
    return f"{_PREFIX}{rank:012}", row.to_json()


def without_rows(pairs: Iterable[Pair], rows: list[Pair]) -> Iterator[Pair]:
    """The pairs that are no rows; those that are go to `rows`."""
    for pair in pairs:
        key = pair[0]
        if type(key) is str and key.startswith(_PREFIX):
            rows.append(pair)
        else:
            yield pair


def encode_rows(rows: Iterable[Pair], file: BinaryIO) -> None:
    """Write row pairs as lines, sorted by rank."""
    file.writelines(sorted(encode_pair(*pair) + b"\n" for pair in rows))


def decode_row(line: bytes) -> tuple[int, LedgerRow]:
    """Rank and row of a line.

    Raises:
        FormatError: `bad-json`: this line is none of `encode_rows`.
    """
    try:
        key, row = decode_pair(line.rstrip())
        return int(key.removeprefix(_PREFIX)), LedgerRow.from_json(row)
    except ValueError as error:
        raise FormatError(f"no ledger row: {error}", reason="bad-json") from error
