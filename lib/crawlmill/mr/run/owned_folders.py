"""Temporary folders that show whether their owner is alive, so that a later run can remove those of a killed run.

The owner's process holds a lock on the file `.owner` in the folder for as long as it lives, however it ends. A process
that can take the lock knows that the owner is dead. Only folders of the same user with such a file are considered. The
lock is `flock`: on a file system without it, folders are neither marked nor removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

__all__ = ["OwnedFolder", "has_owner", "remove_abandoned"]

_MARK: Final = ".owner"


class OwnedFolder:
    """The lock on an existing folder; create it before using the folder, close it once that is gone or handed over."""

    def __init__(self, folder: Path) -> None:
        self._mark = folder / _MARK
        self._lock: int | None = None
        new = folder / f"{_MARK}.new"
        lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(lock, f"crawlmill: process {os.getpid()} on {socket.gethostname()}\n".encode())
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(self._mark)  # only once it is locked: otherwise it would look abandoned
        except OSError:
            os.close(lock)
            new.unlink(missing_ok=True)
        else:
            self._lock = lock

    def unmark(self) -> None:
        """Remove the mark: from now on the folder has no owner."""
        self._mark.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def has_owner(folder: Path) -> bool:
    """Whether the owner of a folder is alive, on this machine; a folder that no longer exists has none."""
    try:
        lock = os.open(folder / _MARK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def remove_abandoned(parent: Path, is_ours: Callable[[str], object]) -> None:
    """Remove the folders with such names whose owner has died; those that cannot be removed stay."""
    try:
        names = [each.name for each in parent.iterdir() if is_ours(each.name)]
    except OSError:
        return
    for name in names:
        folder = parent / name
        try:
            state = folder.lstat()
            if state.st_uid != os.geteuid() or folder.is_symlink():
                continue
            lock = os.open(folder / _MARK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # it has no mark, or was just removed
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its owner is alive
            pass
        finally:
            os.close(lock)
