"""Whether a ledger can be written where the user wants it: to be found out before the work, not after it."""

from __future__ import annotations

import os

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage import Storage, StorageOptions, absolute, is_remote
from crawlmill.storage.locations import local_path

__all__ = ["check_ledger_place"]


def check_ledger_place(ledger: str, options: StorageOptions) -> None:
    """Look, quickly, whether a ledger can be written there. Raises: UsageError."""
    try:
        if is_remote(ledger):
            with Storage(options.impatient(retries=1)) as quick:
                quick.make_folder(f"{ledger.rpartition('/')[0]}/")
            return
        path = local_path(absolute(ledger, os.getcwd()))  # noqa: PTH109
    except SourceError as error:
        raise UsageError(f"the ledger cannot be written: {error}") from error
    in_place = path.exists() and not path.is_file()  # as /dev/null is
    if path.is_dir() or not os.access(path if in_place else path.parent, os.W_OK):
        raise UsageError(f"the ledger cannot be written: {path}")
