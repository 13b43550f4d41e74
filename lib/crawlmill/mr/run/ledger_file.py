"""The place of a ledger: before the work, whether it can be written there; after it, another one if it cannot."""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.storage import Storage, StorageOptions, absolute, is_remote, redact
from crawlmill.storage.locations import local_path

__all__ = ["check_ledger_place", "keep_ledger"]

_LOGGER: Final = logging.getLogger("crawlmill")


def check_ledger_place(ledger: str, options: StorageOptions) -> None:
    """Look, quickly, whether a ledger can be written there. Raises: UsageError."""
    try:
        if is_remote(ledger):
            with Storage(options.impatient(retries=1)) as quick:
                _try_beside(ledger, quick)
            return
        path = local_path(absolute(ledger, os.getcwd()))  # noqa: PTH109
        in_place = path.exists() and not path.is_file()  # as /dev/null is
        writable = not path.is_dir() and os.access(path if in_place else path.parent, os.W_OK)
    except OSError as error:  # until Python 3.14, of a folder that may not be entered
        raise UsageError(f"the ledger cannot be written: {error.strerror}", source=ledger) from error
    except (SourceError, UsageError) as error:
        raise UsageError(
            f"the ledger cannot be written: {error.what}", source=redact(ledger), expected=error.expected,
            actual=error.actual,
        ) from error  # fmt: skip
    if not writable:
        raise UsageError(f"the ledger cannot be written: {path}")


def _try_beside(ledger: str, storage: Storage) -> None:
    """Write a file of a free name, and remove it: far from here, nothing else tells what a user may do."""
    if ledger.endswith("/"):
        raise UsageError("a folder, not a file")
    beside = f"{ledger}.{secrets.token_hex(8)}"
    with storage.write(beside) as file:
        file.write(b"\n")
    try:
        storage.remove(beside)
    except SourceError as error:  # a user who may only write can write a ledger
        _LOGGER.warning("a small file beside the ledger cannot be removed: %s", error)


def keep_ledger(wanted: str | None, write: Callable[[str], None], say: Callable[[str], None]) -> str | None:
    """Write a ledger where it is wanted or else (None: at once) in a new temporary folder; gives where it is.

    None: nowhere. What is in the way is said, a line for each place.
    """
    places: list[Callable[[], str]] = [_temporary] if wanted is None else [lambda: wanted, _temporary]
    for find in places:
        try:
            place = find()
            write(place)
        except (CrawlmillError, OSError) as error:
            say(f"the ledger cannot be kept: {error}")
        else:
            return place
    return None


def _temporary() -> str:
    return str(Path(tempfile.mkdtemp(prefix="crawlmill-ledger-"), "ledger.jsonl"))
