"""The ledger file: writing it, reading it, and making lists from it."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crawlmill.errors import CrawlmillError, FormatError, SourceError, UsageError
from crawlmill.ledger.input_lines import as_line
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage, StorageOptions, absolute, is_remote, redact
from crawlmill.storage.locations import local_path

if TYPE_CHECKING:
    from crawlmill.ledger.row import Accountable

__all__ = ["check_ledger_place", "failed_lines", "keep_ledger", "read_ledger"]

_LOGGER: Final = logging.getLogger("crawlmill")
_SHOWN: Final = 40


def check_ledger_place(ledger: str, options: StorageOptions) -> None:
    """Check, quickly, that a ledger can be written there. Raises: UsageError."""
    try:
        if is_remote(ledger):
            with Storage(options.impatient(retries=1)) as quick:
                _try_beside(ledger, quick)
            return
        path = local_path(absolute(ledger, os.getcwd()))  # noqa: PTH109
        in_place = path.exists() and not path.is_file()  # such as /dev/null
        writable = not path.is_dir() and os.access(path if in_place else path.parent, os.W_OK)
    except OSError as error:  # raised until Python 3.14 for a folder without search permission
        raise UsageError(f"the ledger cannot be written: {error.strerror}", source=ledger) from error
    except (SourceError, UsageError) as error:
        raise UsageError(
            f"the ledger cannot be written: {error.what}",
            source=redact(ledger),
            expected=error.expected,
            actual=error.actual,
        ) from error
    if not writable:
        raise UsageError(f"the ledger cannot be written: {path}")


def _try_beside(ledger: str, storage: Storage) -> None:
    """Write a file under a free name and remove it: for remote storage there is no other way to check permission."""
    if ledger.endswith("/"):
        raise UsageError("a folder, not a file")
    beside = f"{ledger}.{os.urandom(8).hex()}"
    with storage.write(beside) as file:
        file.write(b"\n")
    try:
        storage.remove(beside)
    except SourceError as error:  # a user without the right to list or delete can still write a ledger
        _LOGGER.warning("a small file beside the ledger cannot be removed: %s", error)


def keep_ledger(wanted: str | None, write: Callable[[str], None], say: Callable[[str], None]) -> str | None:
    """Write a ledger to the wanted place, else (or if None) to a new temporary folder; returns its location.

    Returns None if neither works. Errors are printed, one line per place.
    """
    places: list[Callable[[], str]] = [_temporary] if wanted is None else [lambda: wanted, _temporary]
    for find in places:
        try:
            place = find()
            write(place)
        except (CrawlmillError, OSError) as error:
            say(f"the ledger cannot be kept: {_what(error)}")
        else:
            return place
    return None


def _what(error: CrawlmillError | OSError) -> str:
    """What an error says, without the number of a system's error."""
    if isinstance(error, CrawlmillError) or error.strerror is None:
        return str(error)
    return f"{error.strerror} ({error.filename})" if error.filename else error.strerror


def read_ledger(lines: Iterable[bytes], name: str) -> Iterator[LedgerRow]:
    """Yield the rows of a ledger file.

    Raises:
        FormatError: `bad-json`: a line is not a ledger row; the message has the line number.
    """
    for number, line in enumerate(lines, 1):
        where = f"{name}, line {number}"
        try:
            row = LedgerRow.from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            shown = repr(line[:_SHOWN])
            raise FormatError(
                "not a line of a ledger", reason="bad-json", expected="a JSON object", actual=shown, source=where
            ) from error
        except FormatError as error:
            raise error.located(source=where) from error
        yield row


_SEARCHED: Final = ("cluster", "cdx-api")
"""What only a look-up has a row of, whose input is a pattern and whose location is the index."""


def failed_lines(rows: Iterable[LedgerRow], originals: Iterable[Accountable] = ()) -> Iterator[str]:
    """An input list of everything that was not ok: absolute locations with their ranges; for patterns, their lines.

    `originals` are the inputs as in the user's own list: they supply locations with secrets, which the ledger does not
    contain.
    """
    known = {(redact(item.location), item.offset, item.length): item.location for item in originals}
    for row in rows:
        if row.outcome != "ok":
            if row.format in _SEARCHED and row.length is None and row.input != row.location:
                yield row.input
                continue
            location = known.get((row.location, row.offset, row.length), row.location)
            yield as_line(location, row.offset, row.length)


def _temporary() -> str:
    return str(Path(tempfile.mkdtemp(prefix="crawlmill-ledger-"), "ledger.jsonl"))
