"""Checks that a line of a CDX or CDXJ file is a capture: a key, a timestamp of 14 digits, and the rest.

The rest is a JSON object (CDXJ) or columns (CDX), which are not checked further. Lines that are not captures are left
out. Headers and blank lines are not captures either, but skipping them is not a loss.

Source: the CDXJ of Common Crawl and pywb; the CDX formats of 9 and 11 columns (iipc CDX file format).
"""

from __future__ import annotations

import json
import re
from typing import Final

from crawlmill.indexes.lines import is_header

__all__ = ["Fault", "fault_of", "is_header_or_blank"]

Fault = tuple[str, str]
"""What was expected, and what was there instead."""

_START: Final = re.compile(rb"[^ ]+ [0-9]{14} (?=[^ ])")
_SHOWN: Final = 60


def is_header_or_blank(line: bytes) -> bool:
    """Whether a line is a header or blank, and so intentionally not a capture."""
    return not line.strip() or is_header(line)


def fault_of(line: bytes) -> Fault | None:
    """What is wrong with a line as a capture; None if it is one."""
    start = _START.match(line)
    if start is None:
        return _fault_of_start(line)
    at = start.end()
    if line[at] == 0x7B:
        try:
            json.loads(line[at:])
        except ValueError as error:
            return "JSON", f"{_shown(line[at:])}: {error}"
        except RecursionError:
            return "JSON", f"{_shown(line[at:])}: nested too deeply"
    return None


def _fault_of_start(line: bytes) -> Fault:
    fields = line.split(b" ", 2)
    if len(fields) < 3 or not fields[0] or not fields[2].strip():
        return "a key, a timestamp and more", _shown(line)
    if not re.fullmatch(rb"[0-9]{14}", fields[1]):
        return "a timestamp of 14 digits", _shown(fields[1])
    return "one blank after the timestamp", _shown(line)


def _shown(text: bytes) -> str:
    return repr(text[:_SHOWN].decode("utf-8", "backslashreplace"))
