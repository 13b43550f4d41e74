"""The jobs, loaded from their files, and small crawls for them."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from tests.mr.conftest import crawl  # noqa: F401 - a fixture
from tests.mr.helpers import PROJECT


@pytest.fixture
def job(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that a test module is named after: `test_tag_count.py` tests `jobs/tag_count.py`."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, PROJECT / "jobs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where mrjob looks for a job's script
    spec.loader.exec_module(module)
    return module
