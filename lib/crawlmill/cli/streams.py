"""JSON output of commands."""

from __future__ import annotations

import json
from typing import Any

from crawlmill.terminal.text import json_visible

__all__ = ["json_line"]


def json_line(value: Any) -> str:
    """The line for a JSON value; bytes of names that are not UTF-8 are written as JSON escapes of surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    # For surrogates, this error handler writes exactly JSON's escape.
    return json_visible(text.encode("utf-8", "backslashreplace").decode()) + "\n"
