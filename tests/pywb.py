"""pywb, a program of its own: found as `crawlmill serve` finds it."""

from __future__ import annotations

import os

import pytest

from crawlmill.errors import MissingDependency
from crawlmill.serving.program import find_pywb


def pywb_python() -> str:
    """The Python that has pywb; without one the test is skipped, or fails where engines are required."""
    try:
        return find_pywb()
    except MissingDependency as error:
        if os.environ.get("CRAWLMILL_REQUIRE_ENGINES") == "1":
            raise
        pytest.skip(str(error))
