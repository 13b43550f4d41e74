"""Runs a part of a test with one core."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from crawlmill import core


@contextmanager
def using(name: str) -> Iterator[None]:
    """With this core, whatever the environment says; afterwards with that again."""
    before = os.environ.get(core.VARIABLE)
    os.environ[core.VARIABLE] = name
    core.native.cache_clear()
    try:
        yield
    finally:
        if before is None:
            del os.environ[core.VARIABLE]
        else:
            os.environ[core.VARIABLE] = before
        core.native.cache_clear()
