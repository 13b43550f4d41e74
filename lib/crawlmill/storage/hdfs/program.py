"""The program `hadoop`: finds it, runs it, and interprets its error messages."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from typing import IO, Final, cast

from crawlmill.errors import UsageError
from crawlmill.storage.retry import Failure

__all__ = ["Child", "find_hadoop"]

_MAX_SAID: Final = 1 << 16
_LOGGED: Final = re.compile(r"\s|log4j:|SLF4J:|Caused by:|WARNING:|\d{2,4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d")
# What the last line of the output means, by messages of Hadoop and Java.
_MEANINGS: Final = (
    ("no such file or directory", "not-found", False),
    ("permission denied", "denied", False),
    ("cannot authenticate", "denied", False),
    ("no valid credentials", "denied", False),
    ("gss initiate failed", "denied", False),
    ("file exists", "denied", False),
    ("quota", "denied", False),
    ("", "unavailable", True),
)


def find_hadoop(environ: Mapping[str, str] = os.environ) -> str:
    """Find the program `hadoop`: in `HADOOP_HOME` (in tasks `HADOOP_COMMON_HOME`), else on the `PATH`.

    Raises: UsageError.
    """
    homes = [environ[name] for name in ("HADOOP_HOME", "HADOOP_COMMON_HOME") if environ.get(name)]
    path = os.pathsep.join([*(f"{home}/bin" for home in homes), environ.get("PATH", "")])
    if found := shutil.which("hadoop", path=path):
        return found
    raise UsageError(
        "this HDFS wants Kerberos, which is left to the program hadoop: it was not found (on the PATH, or below "
        "HADOOP_HOME)"
    )


class Child:
    """A running `hadoop fs …`. Its stdin is a file, so that it never waits for us; its stderr is another file."""

    def __init__(self, command: list[str], stdin: IO[bytes] | int = subprocess.DEVNULL) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        try:
            # Java decodes its arguments in the encoding of the locale.
            self._process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                process_group=0,
            )
        except OSError as error:
            self._stderr.close()
            raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
        self._out = cast(IO[bytes], self._process.stdout).fileno()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    def read(self, n: int, timeout_s: float) -> bytes:
        """Read at most `n` bytes; returns b"" once it has ended without error. Raises: Failure."""
        if not self._poll.poll(timeout_s * 1000):
            raise Failure(f"hadoop fs says nothing for {timeout_s:.0f} s", transient=True)
        if piece := os.read(self._out, n):
            return piece
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise Failure("hadoop fs does not end", transient=True) from error
        if code:
            raise self._failure(code)
        return b""

    def close(self) -> None:
        """End the program and all processes that it started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        cast(IO[bytes], self._process.stdout).close()
        self._stderr.close()

    def _failure(self, code: int) -> Failure:
        self._stderr.seek(max(self._stderr.seek(0, os.SEEK_END) - _MAX_SAID, 0))
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        line = next((line for line in reversed(lines) if line and not _LOGGED.match(line)), f"exit code {code}")
        reason, transient = next((reason, transient) for said, reason, transient in _MEANINGS if said in line.lower())
        return Failure(f"hadoop fs: {line[:300]}", reason=reason, transient=transient)
