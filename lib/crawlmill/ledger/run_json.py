"""`_run.json`: what ran, with which versions and options, when, and with what result."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import crawlmill
from crawlmill import core
from crawlmill.codecs.inflate import decoders
from crawlmill.ledger.summary import Summary
from crawlmill.ledger.timeline import Timeline
from crawlmill.storage import redact

__all__ = ["core_warning", "run_report", "unicode_warning", "without_secrets"]

# Rather hide a harmless value too many: the file is for people who want to know what ran.
_SECRET: Final = re.compile(
    r"([\w.-]*(?:secret|passw|passphrase|pwd|token|credential|signature|auth|key)[\w.-]*)=.*", re.IGNORECASE | re.DOTALL
)


def run_report(
    *,
    name: str,
    runner: str,
    arguments: list[str],
    began_s: float,
    ended_s: float,
    summary: Summary,
    mrjob: str,
    timeline: Timeline,
    results: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    """The content of the file; `mrjob` is the version of mrjob.

    Times are in seconds since 1970, and written in UTC; secrets in arguments are hidden. `progress` is the timeline:
    `[[seconds, inputs, records, bytes], …]`, whose last point has the totals. `results` has the number of parts, the
    format of the results, and their columns.
    """
    machine = os.uname()
    seconds = max(round(ended_s - began_s, 3), 0.0)
    report: dict[str, Any] = {
        "job": name,
        "runner": runner,
        "arguments": without_secrets(arguments),
        "began": _shown(began_s),
        "ended": _shown(ended_s),
        "seconds": seconds,
        **results,
        "inputs": {"all": summary.inputs, **summary.outcomes},
        "records": summary.records,
        "bytes": summary.bytes,
        "skipped": dict(sorted(summary.skipped.items())),
        "deselected": summary.deselected,
        "truncated": summary.truncated,
        "versions": {
            "crawlmill": crawlmill.__version__,
            "mrjob": mrjob,
            "python": sys.version.split()[0],
            "unicode": unicodedata.unidata_version,
            "unicode_of_tasks": sorted(summary.unicodes),
        },
        "platform": f"{machine.sysname} {machine.release} {machine.machine}",
        "core": core.name(),
        "core_of_tasks": sorted(summary.cores),
        "decoders": decoders(),
    }
    points = timeline.series(seconds, summary.inputs, summary.records, summary.bytes)
    progress = ",\n".join(f"    {json.dumps(point)}" for point in points)  # one per line, for readers
    text = json.dumps(report, indent=2, ensure_ascii=False).removesuffix("\n}")
    return f'{text},\n  "progress": [\n{progress}\n  ]\n}}\n'.encode("utf-8", "backslashreplace")


def unicode_warning(summary: Summary) -> str | None:
    """A warning if tasks used another version of Unicode than this Python; else None."""
    here = unicodedata.unidata_version
    if not summary.unicodes - {here}:
        return None
    there = " and ".join(sorted(summary.unicodes))
    return f"warning: tasks had Unicode {there}, this Python has {here}: words may be cut and lowered in another way"


def core_warning(summary: Summary) -> str | None:
    """A warning if tasks on other machines had only the Python core, but this one has the native core; else None."""
    if "python" not in summary.cores or core.name() == "python":
        return None
    some = "some tasks" if len(summary.cores) > 1 else "tasks"
    return f"warning: {some} had no native core, with which they take several times less time: see docs/native.md"


def without_secrets(arguments: Iterable[str]) -> list[str]:
    """The arguments of a command line, safe to show.

    Hidden are secrets in locations, the environment of tasks, and values of options whose names suggest a secret.
    """
    return [_argument(before, argument) for before, argument in pairwise(["", *arguments])]


def _argument(before: str, argument: str) -> str:
    option, equals, value = argument.partition("=")
    if before == "--cmdenv":
        return f"{option}=…"
    if option == "--cmdenv" and equals:
        return f"{option}={value.partition('=')[0]}=…"
    if before.startswith("-") and "=" not in before and _SECRET.match(f"{before}="):
        return "…"
    shown = f"{option}={redact(value)}" if argument.startswith("--") and equals else redact(argument)
    return _SECRET.sub(r"\1=…", shown)


def _shown(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
