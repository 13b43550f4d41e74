"""Queries YARN's ResourceManager for the applications of a run, by their tag.

Without Kerberos this uses the REST interface; with Kerberos the program `yarn`, which has the user's ticket. YARN
compares tags in lower case, of at most 100 ASCII characters. A ResourceManager forgets ended applications after a
while (`yarn.resourcemanager.max-completed-applications`).

Spec: Hadoop 3.4, "ResourceManager REST APIs" (Cluster Applications API), "YARN Commands" (`yarn application`), and
`yarn-default.xml`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crawlmill.errors import SourceError

__all__ = ["Application", "Yarn", "resource_managers", "tag_of"]

_MAX_TAG: Final = 100
_PORTS: Final = {"http": 8088, "https": 8090}
_TIMEOUT_S: Final = 20.0
_PROGRAM_TIMEOUT_S: Final = 120.0
_ROW: Final = re.compile(r"^\s*(application_\d+_\d+)\t")


def tag_of(key: str) -> str:
    """The YARN tag of a run's applications: the end of the run's key, which is unique."""
    return key[-_MAX_TAG:].lower()


@dataclass(frozen=True, slots=True)
class Application:
    """An application. `state`: SUCCEEDED, FAILED or KILLED if it has ended, else its progress (ACCEPTED, …)."""

    id: str
    state: str
    said: str = ""

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.state in ("SUCCEEDED", "FAILED", "KILLED")


def resource_managers(conf: Mapping[str, str]) -> tuple[str, ...]:
    """The HTTP addresses of a cluster's ResourceManagers according to `yarn-site.xml`; empty if not given."""
    scheme = "https" if conf.get("yarn.http.policy", "").upper() == "HTTPS_ONLY" else "http"
    key = f"yarn.resourcemanager.webapp.{'https.' if scheme == 'https' else ''}address"
    ids = [f".{each.strip()}" for each in conf.get("yarn.resourcemanager.ha.rm-ids", "").split(",") if each.strip()]
    found = []
    for suffix in ids or [""]:
        host = conf.get(f"yarn.resourcemanager.hostname{suffix}", "")
        address = conf.get(f"{key}{suffix}") or (f"{host}:{_PORTS[scheme]}" if host else "")
        name, _, port = address.rpartition(":")
        if name in ("", "0.0.0.0"):  # noqa: S104 (compared, not bound)
            name = host
        if name:
            found.append(f"{scheme}://{name}:{port}")
    return tuple(found)


@dataclass(frozen=True)
class Yarn:
    """The ResourceManagers at these addresses, one of which is active; `program`: use the program `yarn` instead."""

    urls: tuple[str, ...]
    user: str
    program: bool = False

    def applications(self, tag: str) -> list[Application]:
        """The applications with this tag, in the order of submission.

        Raises:
            SourceError: No ResourceManager responds.
        """
        found = self._ask_program(tag) if self.program else self._ask(tag)
        return sorted(found, key=lambda each: [int(number) for number in re.findall(r"\d+", each.id)])

    def _ask(self, tag: str) -> list[Application]:
        query = urllib.parse.urlencode({"applicationTags": tag, "user.name": self.user})
        said = "its address is not in yarn-site.xml: set HADOOP_CONF_DIR"
        for url in self.urls:
            request = urllib.request.Request(  # noqa: S310 - Hadoop's
                f"{url}/ws/v1/cluster/apps?{query}", headers={"Accept": "application/json"}
            )
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                    found = (json.load(answer)["apps"] or {}).get("app") or []
                return [_application(each) for each in found]
            except (OSError, ValueError, LookupError, TypeError) as error:  # may be a standby
                said = f"{url}: {getattr(error, 'reason', None) or error}"
        raise SourceError(f"YARN's ResourceManager does not answer: {said}", reason="unavailable")

    def _ask_program(self, tag: str) -> list[Application]:
        binary = shutil.which("yarn")
        hadoop = shutil.which("hadoop")
        if binary is None and hadoop is not None:
            binary = str(Path(hadoop).resolve().with_name("yarn"))
        command = [binary or "yarn", "application", "-list", "-appTags", tag, "-appStates", "ALL"]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PROGRAM_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SourceError(f"YARN cannot be asked: {error}", reason="unavailable") from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
            raise SourceError(f"YARN cannot be asked: yarn application -list: {last}", reason="unavailable")
        # id, name, type, user, queue, state, final state, progress, tracking URL
        rows = [re.split(r"\s*\t\s*", line.strip()) for line in done.stdout.splitlines() if _ROW.match(line)]
        return [_application({"id": row[0], "state": row[5], "finalStatus": row[6]}) for row in rows]


def _application(found: Mapping[str, str]) -> Application:
    """Parse an application from the REST interface. An application may be FINISHED although its job failed."""
    final, state = found["finalStatus"].upper(), found["state"].upper()
    over = state in ("FINISHED", "FAILED", "KILLED")
    said = " ".join(found.get("diagnostics", "").split())
    return Application(found["id"], (final if final != "UNDEFINED" else "FAILED") if over else state, said[:500])
