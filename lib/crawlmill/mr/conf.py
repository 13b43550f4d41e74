"""Which mrjob.conf counts: the first of `-c`, `$MRJOB_CONF`, `~/.mrjob.conf`, the project's own, `/etc/mrjob.conf`.

Never one that merely lies in the working folder: a configuration can run commands. The project's own lies above the
`jobs` folder of the job's script, or above the `lib` that the package was imported from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import crawlmill
from crawlmill.errors import UsageError

__all__ = ["conf_paths"]


def conf_paths(given: list[str] | None, script: str | None) -> list[str]:
    """The files to read; `given` are those of the command line (empty: none is wanted).

    Raises:
        UsageError: A file that the user names is not there.
    """
    if given is not None:
        for path in given:
            if not Path(path).expanduser().exists():
                raise UsageError(f"no such mrjob.conf: {path}")
        return given
    named = os.environ.get("MRJOB_CONF")
    if named:
        if not Path(named).expanduser().exists():
            raise UsageError(f"no such mrjob.conf, though $MRJOB_CONF names it: {named}")
        return [named]
    return [str(path) for path in _usual(script) if path.exists()][:1]


def _usual(script: str | None) -> Iterator[Path]:
    yield Path("~/.mrjob.conf").expanduser()
    if script is not None and Path(script).resolve().parent.name == "jobs":
        yield Path(script).resolve().parent.parent / "mrjob.conf"
    package = Path(crawlmill.__file__).resolve().parent
    if package.parent.name == "lib":
        yield package.parent.parent / "mrjob.conf"
    yield Path("/etc/mrjob.conf")
