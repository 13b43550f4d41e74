"""Tests that need the daemons of an engine have its name in their ids, as `test_job[@hadoop]`.

The scheduler of a test run, in another process than the tests, sees nothing of them but their ids.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

__all__ = ["ENGINES", "PROCESSES", "engine_in", "name_engine"]

PROCESSES: Final = {"hadoop": 2, "spark": 1}
"""How many processes of a test run have the daemons of an engine, which need memory; by the marker of its tests."""

ENGINES: Final = tuple(PROCESSES)
"""Those whose tests take longest come first."""

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
