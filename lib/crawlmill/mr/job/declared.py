"""Checks what a job declares in `formats` and `types` before it is launched: with a typo there, it counts nothing."""

from __future__ import annotations

from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.inputs.readers import READERS

__all__ = ["TYPES", "check_declared"]

TYPES: Final = (
    "warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation",
    "filedesc", "text_data", "record",
)  # fmt: skip
"""Types of records: of WARC (WARC 1.1 section 5.5), the first record of an ARC, and those of SequenceFiles."""


def check_declared(job: Any) -> None:
    """Check that `formats` and `types` of a job are tuples of known names.

    Raises:
        UsageError: The message names the attribute.
    """
    formats = tuple(name for reader in READERS for name in reader.formats)
    for attribute, known, example in (("formats", formats, '("warc",)'), ("types", TYPES, '("response",)')):
        names = getattr(job, attribute)
        where = f"`{attribute}` of {type(job).__name__}"
        if not isinstance(names, tuple):
            raise UsageError(where, expected=f"a tuple such as {example}", actual=repr(names))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(where, expected=f"names out of {', '.join(known)}", actual=", ".join(map(repr, unknown)))
