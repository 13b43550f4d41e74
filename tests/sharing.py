"""What the processes of a test run share: things that take long to make are made by the first that needs them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["alone", "made_once"]


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Within this block no other process holds the lock, a file that is made."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder of the test run, which no test may change; `make` makes it, in whatever process needs it first."""
    base = temporary.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each process has a folder in that of the run
        base = base.parent
    folder = base / name
    with alone(base / f"{name}.lock"):
        if not folder.exists():
            making = base / f"{name}.making"
            make(making)
            making.rename(folder)
    return folder
