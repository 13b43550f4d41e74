"""JSON as commands print it."""

from __future__ import annotations

import json
from typing import Any

from crawlmill.terminal.text import json_visible

__all__ = ["json_line"]


def json_line(value: Any) -> str:
    """The line of a JSON value; a byte of a name that is no UTF-8 is JSON's escape of a surrogate."""
    text = json.dumps(value, ensure_ascii=False)
    # The escape that this error handler writes is, for surrogates, the very one of JSON.
    return json_visible(text.encode("utf-8", "backslashreplace").decode()) + "\n"
