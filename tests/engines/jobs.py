"""What the tests of engines share: a job as a process that does not outlive its test, its inputs, what it says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import builders
from tests.mr.helpers import Ended, environment


@contextmanager
def started(command: list[str], variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A job that runs; nothing is left of its process after the block."""
    process = subprocess.Popen(
        command,
        cwd="/",
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def warc(*uris: str, cut: int = 0) -> bytes:
    data = builders.pack([builders.warcinfo(), *(builders.response(uri, b"<p><b>x</b>") for uri in uris)])
    return data[: len(data) - cut]


def unlucky(tmp_path: Path, *uris: str) -> Path:
    """A list of one WARC for each URI."""
    for number, uri in enumerate(uris):
        (tmp_path / f"{number}.warc.gz").write_bytes(warc(uri))
    lst = tmp_path / "x.paths"
    lst.write_text("".join(f"{number}.warc.gz\n" for number in range(len(uris))))
    return lst


def counters(result: Ended) -> dict[str, int]:
    found = re.findall(r"^step 1, (.*) = ([\d,]+)$", result.err, re.MULTILINE)
    return {name: int(count.replace(",", "")) for name, count in found}
