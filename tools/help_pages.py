"""Writes docs/commands.md, docs/jobs.md and the manual page from what `--help` prints: of every command, and every job.

What all jobs, or nearly all commands, have in common is listed once, below them.

    python tools/help_pages.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from crawlmill.cli.described import describe
from crawlmill.cli.main import COMMANDS
from crawlmill.cli.manual import manual_page

PROJECT = Path(__file__).resolve().parent.parent
DOCS = PROJECT / "docs"

_COLUMNS = "110"

_COMMANDS_HEAD = """\
# Commands

Each command takes locations of any kind (see [storage](storage.md)), prints data to stdout and everything else to
stderr, and works in a pipe.
Output is UTF-8 in every locale; a file name that is not UTF-8 is printed as its bytes.
Exit codes: 0 success, 1 usage error or output that cannot be written, 2 something was lost, partial or failed,
130 Ctrl-C, 143 SIGTERM.

The rest of this page is what `--help` prints; `python tools/help_pages.py` writes it.
Nearly all commands have the options for [reading from the network](#reading-from-the-network), which are listed once.
"""

_NETWORK = re.compile(r"\nreading from the network:\n((?:  .*\n)+)")

_JOBS_HEAD = """\
# Jobs

Run a job with `python jobs/NAME.py [options] LIST...` or `crawlmill run NAME [options] LIST...`, from any folder.
For what a list is, see [input lists](input-lists.md); for how a run ends, see [the ledger](ledger.md).

The rest of this page is what `--help` prints; `python tools/help_pages.py` writes it.
"""


def help_of(*command: str) -> str:
    """What a command prints when it is asked for its help."""
    plain = {**os.environ, "COLUMNS": _COLUMNS, "NO_COLOR": "1", "PYTHON_COLORS": "0"}
    done = subprocess.run(
        [sys.executable, *command, "--help"], env=plain, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.rstrip() + "\n"


def commands_page() -> str:
    """docs/commands.md: the help of `crawlmill`, then that of each of its commands."""
    helps = {name: help_of("-m", "crawlmill", name) for name in COMMANDS}
    network = next(found[1] for text in helps.values() if (found := _NETWORK.search(text)))
    parts = [_COMMANDS_HEAD, _fenced(help_of("-m", "crawlmill"))]
    for name, text in helps.items():
        parts += [f"## {name}\n", _fenced(_NETWORK.sub("", text))]
    return "\n".join([*parts, "## Reading from the network\n", _fenced(network)])


def jobs_page() -> str:
    """docs/jobs.md: of each job what it does and its own options, then the options that all jobs have."""
    jobs = sorted((PROJECT / "jobs").glob("*.py"))
    helps = {job.stem: help_of(str(job)) for job in jobs}
    entries = {name: _entries(text) for name, text in helps.items()}
    common = set.intersection(*map(set, entries.values()))
    parts = [_JOBS_HEAD]
    for name, text in helps.items():
        about = text[: text.index("\npositional arguments:")].rstrip() + "\n"
        own = _sections([entry for entry in entries[name] if entry not in common])
        parts += [f"## {name}\n", _fenced(about + (f"\n{own}" if own else ""))]
    first = next(iter(entries.values()))
    shared = _sections([entry for entry in first if entry in common])
    parts += ["## Options that every job has\n", _fenced(shared)]
    return "\n".join(parts)


def _entries(text: str) -> list[tuple[str, str]]:
    """(title of the section, text of the entry) of every argument in a help text."""
    found: list[tuple[str, str]] = []
    title = ""
    for line in text[text.index("\npositional arguments:") + 1 : text.index("\nexamples:")].splitlines():
        if re.match(r"\S.*:$", line):
            title = line
        elif re.match(r"  \S", line):
            found.append((title, line))
        elif line.strip():
            found[-1] = (title, f"{found[-1][1]}\n{line}")
    return found


def _sections(entries: list[tuple[str, str]]) -> str:
    """Entries under their titles, as a help text has them."""
    titles = dict.fromkeys(title for title, _ in entries)
    return "\n".join(
        "\n".join([title, *(text for under, text in entries if under == title)]) + "\n" for title in titles
    )


def _fenced(text: str) -> str:
    return f"```text\n{text}```\n"


def pages() -> dict[Path, str]:
    """The files that are made here, and what they must hold."""
    return {
        DOCS / "commands.md": commands_page(),
        DOCS / "jobs.md": jobs_page(),
        DOCS / "crawlmill.1": manual_page(describe()),
    }


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(PROJECT)}\n")
