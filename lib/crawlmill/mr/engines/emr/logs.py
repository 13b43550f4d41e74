"""The reasons for a failed step or cluster, in EMR's logs on S3 and from EMR itself.

EMR copies logs to S3 every five minutes, and when a cluster ends, so some minutes may pass until they are there; `look`
reads only existing logs.

Spec: Amazon EMR Management Guide, "View log files", "Error codes with ErrorDetail information" and "Bootstrap failure
error codes" (the content of `ErrorData`); Amazon EMR API, ErrorDetail.
"""

from __future__ import annotations

import gzip
import posixpath
import re
import time
import zlib
from collections.abc import Callable
from typing import Any, Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.mr.engines.client_log import NO_REASON
from crawlmill.mr.engines.emr.record import EmrRun, Step
from crawlmill.mr.engines.hadoop.log import HadoopLog
from crawlmill.storage import Storage

__all__ = ["ClusterLogs", "error_details", "failure_details"]

_MAX_LOG_BYTES: Final = 16 << 20
_MAX_SHOWN: Final = 300
_BOOTSTRAP: Final = re.compile(r"\((?:including )?(i-\w+)[^)]*\).*?bootstrap action (\d+)", re.IGNORECASE)


class ClusterLogs:
    """The logs of a run's cluster.

    For `within_s` seconds, a missing log is looked for again after each `pause()`.
    """

    def __init__(self, storage: Storage, run: EmrRun, pause: Callable[[], None], within_s: float) -> None:
        self._storage, self._pause, self._within_s = storage, pause, within_s
        self.folder = posixpath.join(run.logs, run.cluster or "")

    def of_step(self, step: Step) -> str:
        """What Hadoop has logged about the step; empty if it is not helpful."""
        log = HadoopLog()
        lines = self._lines(posixpath.join("steps", step.id, "syslog"), within_s=self._within_s)
        for line in [*lines, *self._lines(posixpath.join("steps", step.id, "stderr"))]:
            log.feed(line)
        if log.ended:
            failures = [failure for failure in log.failures if failure.task == log.culprit]
            return f"the job {log.ended}" + (f": {failures[-1].said}" if failures else "")
        said = log.complaint()
        if said == NO_REASON:
            return ""
        return f"the job ended: {said}" if log.application else said

    def of_bootstrap(self, cluster: dict[str, Any]) -> str:
        """The last message of the bootstrap action that ended a cluster, or ""."""
        found = _failed_action(cluster)
        if found is None:
            return ""
        instance, number = found
        name = posixpath.join("node", instance, "bootstrap-actions", number, "stderr")
        lines = self._lines(name, within_s=self._within_s)
        telling = [line.strip() for line in lines if line.strip() and not line.startswith("+")]
        return f" ({telling[-1][:_MAX_SHOWN]})" if telling else ""

    def _lines(self, name: str, *, within_s: float = 0.0) -> list[str]:
        until = time.monotonic() + within_s
        while (lines := self._now(posixpath.join(self.folder, name))) is None and time.monotonic() < until:
            self._pause()
        return lines or []

    def _now(self, location: str) -> list[str] | None:
        for name in (f"{location}.gz", location):
            try:
                content = self._storage.read_all(name, limit=_MAX_LOG_BYTES)
                content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            except SourceError as error:
                if error.reason == "not-found":
                    continue
                return []  # without permission to read logs, waiting is useless
            except (FormatError, OSError, EOFError, zlib.error):
                return []
            return content.decode("utf-8", "replace").splitlines()
        return None


def _failed_action(cluster: dict[str, Any]) -> tuple[str, str] | None:
    """The machine and the number of the bootstrap action that ended a cluster; None if something else did."""
    for detail in cluster["Status"].get("ErrorDetails") or ():
        data = {name: str(value) for each in detail.get("ErrorData") or () for name, value in each.items()}
        instance = data.get("primary-instance-id") or data.get("instance-id")
        if instance and data.get("bootstrap-action"):
            return instance, data["bootstrap-action"]
    reason = str((cluster["Status"].get("StateChangeReason") or {}).get("Message") or "")
    found = _BOOTSTRAP.search(reason)
    return (found[1], found[2]) if found else None


def error_details(cluster: dict[str, Any]) -> str:
    """`; CODE: message (bootstrap-action 1, …)` for each error that ended a cluster; empty if EMR reports none."""
    told = []
    for detail in cluster["Status"].get("ErrorDetails") or ():
        what = ": ".join(str(detail[name]) for name in ("ErrorCode", "ErrorMessage") if detail.get(name))
        data = ", ".join(f"{name} {value}" for each in detail.get("ErrorData") or () for name, value in each.items())
        told.append("; " + " ".join(f"{what} ({data})".split() if data else what.split()))
    return "".join(told)


def failure_details(step: dict[str, Any]) -> str:
    """What EMR reports about a failed step, or ""."""
    details = step["Status"].get("FailureDetails") or {}
    return ": ".join(str(details[name]) for name in ("Reason", "Message") if details.get(name))
