"""`crawlmill.open_archive`: the records of one archive, verified, for programs and notebooks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from crawlmill.errors import LossWarning, Problem
from crawlmill.formats.record import Record
from crawlmill.inputs.lists import COMMON_CRAWL, KEYS, Input, base_of, is_absolute
from crawlmill.inputs.reading import Reading
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage, StorageOptions, redact
from crawlmill.storage.locations import absolute

__all__ = ["Archive", "Errors", "open_archive"]

Errors = Literal["warn", "raise", "collect"]


class Archive:
    """The records of one archive, as returned by `open_archive`; each iteration reads it from the beginning."""

    def __init__(self, item: Input, errors: Errors, storage: Storage) -> None:
        self._item, self._errors, self._storage = item, errors, storage
        self._row = LedgerRow.of(item)
        self._outcome: str | None = None
        self._reading: Generator[Record] | None = None
        self._closed = False

    @property
    def location(self) -> str:
        """Where the archive is, without secrets."""
        return redact(self._item.location)

    @property
    def outcome(self) -> str | None:
        """`ok`, `partial` or `failed`, as in the ledger; None until the archive has been read to the end."""
        return self._outcome

    @property
    def problems(self) -> list[Problem]:
        """The first hundred losses so far: `reason`, `offset` (bytes of the file), `message` and more."""
        return self._row.problems

    @property
    def records(self) -> int:
        """The number of whole records read so far."""
        return self._row.records

    def close(self) -> None:
        """Close the archive; an iteration that has not reached the end issues no warning."""
        self._closed = True
        if self._reading is not None:
            self._reading.close()
        self._storage.close()

    def __iter__(self) -> Iterator[Record]:
        if self._closed:
            raise ValueError("the archive is closed")
        self._reading = self._records()
        return self._reading

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _records(self) -> Generator[Record]:
        reading = Reading(self._item, self._storage)
        self._row, self._outcome = reading.row, None
        raises = self._errors == "raise"
        for record in reading:
            # Members are read ahead: yield the records before the damage first.
            if raises and (error := reading.first_loss) is not None and not record.offset < (error.offset or 0):
                raise error
            yield record
        self._storage.close()  # closes idle connections; it can be used again
        self._outcome = self._row.outcome
        error = reading.first_loss
        if error is None or self._errors == "collect":
            return
        if self._errors == "raise" or self._outcome == "failed":
            raise error
        lost = ", ".join(f"{count} {reason}" for reason, count in sorted(self._row.lost.items()))
        warnings.warn(f"{self.location} is partial: lost {lost}", LossWarning, stacklevel=2)


def open_archive(
    location: str | os.PathLike[str],
    *,
    offset: int | None = None,
    length: int | None = None,
    errors: Errors = "warn",
    base_url: str | None = None,
    storage: StorageOptions | None = None,
) -> Archive:
    """The records of a WARC, WAT, WET, ARC or SequenceFile, one after another, each of them verified.

    >>> with crawlmill.open_archive("pages.warc.gz") as archive:
    ...     for record in archive:
    ...         if record.type == "response":
    ...             print(record.uri, record.http.status, len(record.body()))
    http://example.com/ 200 3
    http://example.com/a 200 3
    >>> archive.outcome, archive.records
    ('ok', 3)

    To read a single record, as named by an index:

    >>> [capture] = crawlmill.lookup("http://example.com/a", index="captures.cdxj")
    >>> offset, length = int(capture["offset"]), int(capture["length"])
    >>> [record] = crawlmill.open_archive(capture["filename"], offset=offset, length=length)
    >>> record.text()
    '<p>'

    A record has `type`, `uri`, `date`, `offset` and `length` (bytes of its member in the file), `http` (`status`,
    `get(name)`), `body()` (bytes, decoded) and `text()`. Large archives are streamed. Damage costs only the records
    that it hits: records after it are still yielded.

    Args:
        location: A path, or a location of any kind: https, s3, hdfs, file. A key of Common Crawl (`crawl-data/…`) that
            is not a file here is read from `base_url`.
        offset: Where to start, in bytes of the file; must be the beginning of a member. None: at the beginning.
        length: How many bytes to read; None: to the end.
        errors: What to do about data that is lost. `warn`: one LossWarning at the end, and an error if nothing can be
            read; `raise`: an error, after the records before the damage; `collect`: neither, see `Archive.problems`.
        base_url: Where to find keys; None: at Common Crawl.
        storage: How locations are opened.

    Returns:
        An iterable, which is also a context manager, with `outcome`, `problems` and `records`. Nothing is read before
        the first record is requested.

    Raises:
        ValueError: An argument is invalid. Raised by the call; the errors below are raised while reading.
        FormatError: Damaged data; `reason` and `offset` say which.
        SourceError: The location cannot be read; `reason` is `not-found`, `denied`, `unavailable` or `changed`.

    Warns:
        LossWarning: Something was lost; the message has the location and the reasons.
    """
    if errors not in get_args(Errors):
        raise ValueError(f"errors: expected one of {', '.join(get_args(Errors))}, got {errors!r}")
    for name, number in (("offset", offset), ("length", length)):
        if number is not None and (type(number) is not int or number < 0):
            raise ValueError(f"{name}: expected a whole number of 0 or more, got {number!r}")
    name = os.fspath(location)
    return Archive(Input(name, _resolved(name, base_url), offset, length), errors, Storage(storage))


def _resolved(name: str, base_url: str | None) -> str:
    """Resolve a location: an existing path as it is, others against the base URL (of Common Crawl for its keys)."""
    if is_absolute(name) or "\0" in name or Path(name).exists():
        return name
    if base_url is None and name.startswith(KEYS):
        base_url = base_of(name, COMMON_CRAWL)
    return name if base_url is None else absolute(name, base_url)
