"""What the tests of jobs share: running them in this process and as a user would, and reading what they leave."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawlmill.errors import CrawlmillError
from crawlmill.mr.job.base import CrawlJob

PROJECT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
HANG_S = 240  # a limit that no machine reaches, however busy it is, unless something hangs
_PROGRESS = re.compile(rb"^\d[\d,]*/\d[\d,]* inputs, .*\n", re.MULTILINE)


@dataclass
class Ended:
    """How a job ended."""

    code: int
    out: str
    err: str

    @property
    def pairs(self) -> dict[str, object]:
        """Result lines as {JSON of key: value}; a key that comes twice is an error."""
        found: dict[str, object] = {}
        for line in filter(None, self.out.split("\n")):
            key, _, value = line.partition("\t")
            assert key not in found, f"twice: {key}"
            found[key] = json.loads(value)
        return found


def run_here(job: type[CrawlJob], *args: object, stdin: bytes = b"") -> Ended:
    """Launch a job in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    code = 0
    try:
        made = job(["--no-conf", "--no-progress", *map(str, args)])
        made.sandbox(stdin=io.BytesIO(stdin), stdout=out, stderr=err)
        made.run_job()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except CrawlmillError as error:
        code = 1
        err.write(f"{error}\n".encode())
    return Ended(code, out.getvalue().decode(), err.getvalue().decode())


def environment(**more: str) -> dict[str, str]:
    """The environment of a user who has nothing set."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MRJOB", "HADOOP"))}, **more}


def start(script: Path, *args: object, cwd: Path | str = "/", **more: str) -> subprocess.Popen[bytes]:
    """Start a job as a user does."""
    return subprocess.Popen(
        [sys.executable, str(script), "--no-conf", *map(str, args)],
        cwd=cwd,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for a job's end; what it says is without the line that comes every ten seconds."""
    out, err = process.communicate(timeout=HANG_S)
    return Ended(process.returncode, out.decode(), _PROGRESS.sub(b"", err).decode())


def wait_until(condition: Callable[[], object], process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for what will be the case; in vain if the process that is to bring it about has ended."""
    until = time.monotonic() + HANG_S
    while not condition():
        assert process is None or process.poll() is None, f"it ended with {process.returncode}"
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def run(script: Path, *args: object, cwd: Path | str = "/", **more: str) -> Ended:
    """Run a job as a user does."""
    return finish(start(script, *args, cwd=cwd, **more))


def rows(path: Path) -> dict[str, dict[str, object]]:
    """{input: row} of a ledger, which must be sorted and name nothing twice."""
    found = [json.loads(line) for line in path.read_text().split("\n") if line]
    names = [row["input"] for row in found]
    assert names == sorted(set(names))
    return dict(zip(names, found, strict=True))
