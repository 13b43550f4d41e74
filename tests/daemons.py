"""Tests that need the daemons of an engine have its name in their ids, as `test_job[@hadoop]`.

The scheduler of a test run, in another process than the tests, sees nothing of them but their ids.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

__all__ = ["ENGINES", "engine_in", "name_engine"]

ENGINES: Final = ("hadoop", "spark")
"""Engines with daemons, and the markers of tests that need them; those that take longest first."""

_NAMED: Final = re.compile(rf"[\[-]@({'|'.join(ENGINES)})[\]-]")


def name_engine(metafunc: pytest.Metafunc) -> None:
    """Put the engine whose daemons a test needs into its id; there must be a fixture `daemons`."""
    engine = next((name for name in ENGINES if metafunc.definition.get_closest_marker(name)), None)
    if engine:
        metafunc.parametrize("daemons", [engine], ids=[f"@{engine}"], indirect=True)


def engine_in(nodeid: str) -> str | None:
    """The engine that stands in a test's id."""
    found = _NAMED.search(nodeid)
    return found[1] if found else None
