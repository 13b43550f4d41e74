"""Which errors another attempt cannot help."""

from __future__ import annotations

import errno

import pytest

from crawlmill.errors import MissingDependency, SourceError
from crawlmill.mr.failures import hopeless


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MissingDependency("brotli is not installed"), "brotli is not installed"),
        (SourceError("gone", reason="not-found", source="x"), "gone (x)"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), "No space left on device: /x"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (OSError(errno.EIO, "I/O error"), None),
        (RuntimeError("bad luck"), None),
    ],
)
def test_hopeless_errors_are_said_in_one_line_and_others_are_tried_again(error, text):
    assert hopeless(error) == text
