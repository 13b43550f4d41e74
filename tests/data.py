"""Real and golden data that is not part of the project: an optional folder, named by CRAWLMILL_TEST_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("CRAWLMILL_TEST_DATA", "")

needs_data = pytest.mark.skipif(not FOLDER, reason="CRAWLMILL_TEST_DATA names no folder of real crawl data")


def shared(name: str) -> Path:
    """A file of the data folder; skips the test, by name, where the folder is not there."""
    if not FOLDER:
        pytest.skip(f"CRAWLMILL_TEST_DATA names no folder of real crawl data ({name})")
    path = Path(FOLDER) / name
    if not path.exists():
        pytest.skip(f"the data folder has no {name}")
    return path
