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
    """The records of one archive, as `open_archive` returns them; each iteration reads it from its beginning."""

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
        """`ok`, `partial` or `failed`, as in the ledger; None until it has been read to its end."""
        return self._outcome

    @property
    def problems(self) -> list[Problem]:
        """What was lost so far, the first hundred: `reason`, `offset` (bytes of the file), `message` and more."""
        return self._row.problems

    @property
    def records(self) -> int:
        """Whole records that were read so far."""
        return self._row.records

    def close(self) -> None:
        """Close it; a reading that has not come to its end warns of nothing."""
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
        for record in reading:
            error = reading.first_loss
            # Members are read ahead: what comes before the damage is given before it is reported.
            if self._errors == "raise" and error is not None and not record.offset < (error.offset or 0):
                raise error
            yield record
        self._storage.close()  # idle connections; it can be used again
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

    One record of it, as an index names it:

    >>> [capture] = crawlmill.lookup("http://example.com/a", index="captures.cdxj")
    >>> offset, length = int(capture["offset"]), int(capture["length"])
    >>> [record] = crawlmill.open_archive(capture["filename"], offset=offset, length=length)
    >>> record.text()
    '<p>'

    A record has `type`, `uri`, `date`, `offset` and `length` (bytes of its member in the file), `http` (`status`,
    `get(name)`), `body()` (bytes, decoded) and `text()`. Large archives are streamed. Damage costs what it hits, and no
    more: records after it are still given.

    Args:
        location: A path, or a location of any kind: https, s3, hdfs, file. A key of Common Crawl (`crawl-data/…`) that
            is not a file here is read from `base_url`.
        offset: Where to begin, in bytes of the file: where a member begins; None: at its beginning.
        length: How many bytes to read; None: up to its end.
        errors: What becomes of data that is lost. `warn`: one LossWarning at the end, and an error if nothing can be
            read; `raise`: an error, after the records before the damage; `collect`: neither, see `Archive.problems`.
        base_url: Where keys are; None: at Common Crawl.
        storage: How locations are opened.

    Returns:
        An iterable, and a context manager, with `outcome`, `problems` and `records`. Nothing is read before the first
        record is asked for.

    Raises:
        ValueError: An argument means nothing. Raised by the call, the others while reading.
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
    """Where a location is: of a relative one here, or else below the base URL, if there is one or it is a key."""
    if is_absolute(name) or "\0" in name or Path(name).exists():
        return name
    if base_url is None and name.startswith(KEYS):
        base_url = base_of(name, COMMON_CRAWL)
    return name if base_url is None else absolute(name, base_url)
