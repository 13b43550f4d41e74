"""What the tests say of their own progress."""

from __future__ import annotations

import time
from types import SimpleNamespace

from tests.progress import Progress


def test_line_counts_tests_and_names_what_is_running():
    progress = Progress(SimpleNamespace())
    progress.pytest_xdist_node_collection_finished(["a", "b", "c"])
    for test in ("tests/a.py::test_a", "tests/b.py::test_b[x]", "tests/c.py::test_c"):
        progress.pytest_runtest_logstart(test)
    progress.pytest_runtest_logreport(SimpleNamespace(failed=True))
    progress.pytest_runtest_logfinish("tests/a.py::test_a")
    now = time.monotonic()
    assert progress.line(now).endswith("1 of 3 tests, 1 failed")  # nothing has been running for long
    later = progress.line(now + 65)
    assert later.startswith("1:0")
    assert "1 of 3 tests, 1 failed; running: tests/b.py::test_b[x] (65 s), tests/c.py::test_c (65 s)" in later
