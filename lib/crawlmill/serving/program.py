"""Runs the program pywb: finds it, starts it, waits for it, and stops it with its children.

pywb needs other versions of packages than Crawlmill, so it has its own environment, which `make` installs as `serve`
inside Crawlmill's. A pywb installed next to Crawlmill is used too, or the one of the Python in `CRAWLMILL_PYWB`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from crawlmill.errors import MissingDependency, UsageError
from crawlmill.serving.collection import COLLECTION

__all__ = ["PYTHON", "address", "check_port", "find_pywb", "serving"]

PYTHON: Final = "CRAWLMILL_PYWB"
"""The environment variable that names the Python of an environment with pywb."""

_MAX_PORT: Final = 65535
_START_S: Final = 60.0
_STOP_S: Final = 5.0
_POLL_S: Final = 0.1
_BOUND: Final = """
import os, runpy, signal, sys
if os.fork() == 0:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.argv[0] = "wayback"
runpy.run_module("pywb.apps.cli", run_name="__main__", alter_sys=True)
"""
"""Runs pywb with a process beside it that waits on a pipe: it breaks when whoever holds it ends, were it by SIGKILL."""


def find_pywb() -> str:
    """The Python of an environment with pywb.

    Raises:
        MissingDependency: pywb was not found.
    """
    named = os.environ.get(PYTHON)
    own = Path(sys.prefix, "serve", "bin", "python")
    if named:
        if not os.access(named, os.X_OK):
            raise UsageError(f"{PYTHON} names no program", actual=named)
        return named
    if own.exists():
        return str(own)
    if find_spec("pywb") is not None:
        return sys.executable
    raise MissingDependency(
        "pywb is not installed: run `make` in a clone of the project, or install crawlmill[serve] into an environment "
        f"of its own and name its Python by {PYTHON}"
    )


def check_port(host: str, port: int) -> None:
    """Check that an address is free. Raises: UsageError."""
    if port > _MAX_PORT:
        raise UsageError("cannot listen there: no such port", expected=f"at most {_MAX_PORT}", actual=port)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        why = "not a host name" if isinstance(error, UnicodeError) else error.strerror or error
        raise UsageError(f"cannot listen on {host}, port {port}: {why}") from error


@contextmanager
def serving(python: str, work: Path, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run pywb on the collection in a folder, within this block; it responds when the block begins.

    Raises:
        UsageError: It ended, or does not respond.
    """
    command = [python, "-c", _BOUND, "--port", str(port), "--bind", host, "--directory", str(work)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    log = work / "pywb.log"
    with log.open("wb") as file:
        # In a session of its own, so that Ctrl-C reaches only us, and all its children can be stopped together.
        process = subprocess.Popen(
            command,
            cwd=work,
            env={**environment, "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(process, f"{address(host, port)}/{COLLECTION}/cdx?url=http://localhost/", log)
        yield process
    finally:
        _stop(process)
        if process.stdin is not None:
            process.stdin.close()


def _wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with opener.open(url, timeout=10):
                return
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            time.sleep(_POLL_S)
    said = log.read_text(errors="replace").strip().rpartition("\n")[2]
    raise UsageError(f"pywb did not start: {said}" if said else "pywb did not start")


def _stop(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            continue


def address(host: str, port: int) -> str:
    """The address of the server; if it listens on all addresses of this machine, one that can be opened."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - requested by the user
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
