"""The name of an archive in an index.

By default it is the location as given. For a file of Common Crawl it is the key in its location, as in Common Crawl's
own index, wherever the file was read:

    >>> file_name("s3://commoncrawl/crawl-data/CC-MAIN-2024-22/segments/1/warc/a.warc.gz")
    'crawl-data/CC-MAIN-2024-22/segments/1/warc/a.warc.gz'
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from crawlmill.errors import UsageError
from crawlmill.storage.locations import redact

__all__ = ["file_name"]

_KEY: Final = re.compile(r"(?:\A|/)(crawl-data/.+)", re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def file_name(location: str, *, root: str | None = None, prefix: str | None = None) -> str:
    """The name of an archive.

    Args:
        location: The location as given by the user or a list.
        root: A folder that the name is relative to; keys are then not extracted.
        prefix: The beginning of the name: a folder. If the location is relative or a key, all of it follows, else only
        the name of the file.

    Raises:
        UsageError: The archive is not below `root`.
    """
    if root is not None:
        return _below(location, root)
    found = _KEY.search(location)
    name = found[1] if found else redact(location)
    if prefix is None:
        return name
    if not found and (_SCHEME.match(name) or Path(name).is_absolute()):
        name = name.rstrip("/").rpartition("/")[2]
    return prefix + name


def _below(location: str, root: str) -> str:
    place, folder = location, root.rstrip("/") + "/"
    if not _SCHEME.match(location) and not _SCHEME.match(root):
        place, folder = os.path.abspath(location), os.path.join(os.path.abspath(root), "")  # noqa: PTH100, PTH118
    if not place.startswith(folder):
        raise UsageError("a file that is not below --dir-root", expected=redact(folder), actual=redact(location))
    return place[len(folder) :]
