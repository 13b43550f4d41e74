"""A standalone Spark (a master, a worker) on loopback until stdin ends: `standalone.py SPARK_SUBMIT`.

Prints the master's URL as soon as jobs can run. Python's package of Spark holds all that this needs.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_READY_WITHIN_S: Final = 60.0
_STOPPED_WITHIN_S: Final = 10.0
_JVM: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_READY: Final = re.compile(r"Successfully registered with master")


def main() -> int:
    """Start, wait, stop; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submit", type=Path, metavar="SPARK_SUBMIT")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    home = _home(options.submit)
    with tempfile.TemporaryDirectory(prefix="crawlmill-spark-") as folder, ExitStack() as stack:
        work = Path(folder)
        stack.enter_context(_daemon(home, work, "master", "--port", "0", "--webui-port", "0"))
        url = _wait_for(work / "master.log", _MASTER)[1]
        worker = ["--cores", str(options.cores), "--memory", "1g", "--webui-port", "0", "--work-dir", folder, url]
        stack.enter_context(_daemon(home, work, "worker", *worker))
        _wait_for(work / "worker.log", _READY)
        print(url, flush=True)
        with suppress(KeyboardInterrupt):
            sys.stdin.read()
    return 0


def _home(submit: Path) -> Path:
    found = [
        submit.resolve().parent.parent,
        *submit.absolute().parent.parent.glob("lib/python3*/site-packages/pyspark"),
    ]
    return next(place for place in found if (place / "jars").is_dir())


@contextmanager
def _daemon(home: Path, work: Path, name: str, *arguments: str) -> Iterator[None]:
    """A daemon that is gone after the block, with what it has started."""
    kind = f"org.apache.spark.deploy.{name}.{name.capitalize()}"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(work),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"{_JVM} -Djava.io.tmpdir={work}",
    }
    with (work / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [home / "bin" / "spark-class", kind, "--host", "127.0.0.1", *arguments],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOPPED_WITHIN_S)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(log: Path, line: re.Pattern[str]) -> re.Match[str]:
    until = time.monotonic() + _READY_WITHIN_S
    while (found := line.search(log.read_text("utf-8", "replace"))) is None:
        if time.monotonic() > until:
            raise SystemExit(f"not ready after {_READY_WITHIN_S:.0f} s:\n{log.read_text('utf-8', 'replace')[-2000:]}")
        time.sleep(0.1)
    return found


if __name__ == "__main__":
    sys.exit(main())
