"""Which errors another attempt cannot help, and how a task that failed for good is told."""

from __future__ import annotations

import errno

import pytest

from crawlmill.errors import MissingDependency, SourceError
from crawlmill.mr.task.failures import cannot_retry, task_failed


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MissingDependency("brotli is not installed"), "brotli is not installed"),
        (SourceError("gone", reason="not-found", source="x"), "gone (x)"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), "No space left on device: /x"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "No space left on device, for temporary files (their folder: --local-tmp-dir) or for results",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (OSError(errno.EIO, "I/O error"), None),
        (RuntimeError("bad luck"), None),
    ],
)
def test_hopeless_errors_are_said_in_one_line_and_others_are_tried_again(error, text):
    assert cannot_retry(error) == text


@pytest.mark.parametrize(
    ("times", "said", "logs", "line"),
    [
        (1, "RuntimeError: bad luck", "", "task map-00003 failed once: RuntimeError: bad luck"),
        (4, "KeyError: 'x'", "logs: here", "task map-00003 failed 4 times, last error: KeyError: 'x'; logs: here"),
        (
            2,
            "ModuleNotFoundError: No module named 'urllib3'",
            "logs: here",
            (
                "task map-00003 failed 2 times, last error: ModuleNotFoundError: No module named 'urllib3'; "
                "the nodes' Python lacks a package; logs: here"
            ),
        ),
        (
            1,
            "org.apache.X: ModuleNotFoundError: No module named 'a'",
            "",
            (
                "task map-00003 failed once: org.apache.X: ModuleNotFoundError: No module named 'a'; "
                "the nodes' Python lacks a package"
            ),
        ),
        (1, "ValueError: no ModuleNotFoundError", "", "task map-00003 failed once: ValueError: no ModuleNotFoundError"),
    ],
)
def test_task_that_failed_for_good_is_told_in_one_line(times, said, logs, line):
    error = task_failed("map-00003", times, said, "Traceback\n", logs=logs)
    assert (str(error), error.trace) == (line, "Traceback\n")
