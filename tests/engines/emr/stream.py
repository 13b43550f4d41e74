"""Hadoop streaming without Hadoop, in one process: a map task for each line of the input, a sort, one reducer.

    python stream.py FOLDER ARGUMENTS OF hadoop-streaming, all of whose files are local

As on a node, each task runs in a folder of its own, in which the files lie and the archives are unpacked, and finds
the job's configuration in its environment. Combiners, which Hadoop need not run, are not run.

Spec: Apache Hadoop 3.4, "Hadoop Streaming".
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

JOB = "1700000000000_0001"


class Job:
    """What the arguments say."""

    def __init__(self, args: list[str], home: Path) -> None:
        self.home, self.given = home, dict(zip(args[::2], args[1::2], strict=True))
        pairs = list(zip(args[::2], args[1::2], strict=True))
        conf = dict(value.split("=", 1) for option, value in pairs if option == "-D")
        self.environment = {
            **os.environ,
            **{name.replace(".", "_").replace("-", "_"): value for name, value in conf.items()},
            **dict(value.split("=", 1) for option, value in pairs if option == "-cmdenv"),
        }

    def task(self, kind: str, number: int, command: str, data: bytes) -> bytes:
        """Run a task; what it writes. Raises: CalledProcessError."""
        task = f"{JOB}_{kind}_{number:06}"
        folder = self.home / task
        folder.mkdir(parents=True)
        for path, name in self._shipped("-files"):
            (folder / name).symlink_to(path)
        for path, name in self._shipped("-archives"):
            shutil.unpack_archive(path, folder / name)
        of_attempt = {
            "mapreduce_job_id": f"job_{JOB}",
            "mapreduce_task_attempt_id": f"attempt_{task}_0",
            "mapreduce_task_ismap": str(kind == "m").lower(),
            "mapreduce_task_partition": str(number),
        }
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=data,
            stdout=subprocess.PIPE,
            cwd=folder,
            check=True,
            env={**self.environment, **of_attempt},
        )
        return done.stdout

    def _shipped(self, option: str) -> list[tuple[str, str]]:
        shipped = [each.split("#") for each in self.given.get(option, "").split(",") if each]
        return [(path, name) for path, name in shipped]

    def run(self) -> None:
        """Run the job; its output is one part."""
        lines = Path(self.given["-input"]).read_bytes().splitlines(keepends=True)
        mapped = [self.task("m", number, self.given["-mapper"], line) for number, line in enumerate(lines)]
        pairs = sorted(b"".join(mapped).splitlines(keepends=True), key=lambda pair: pair.partition(b"\t")[0])
        reduced = self.task("r", 0, self.given["-reducer"], b"".join(pairs))
        output = Path(self.given["-output"])
        output.mkdir(parents=True)
        (output / "part-00000").write_bytes(reduced)


if __name__ == "__main__":
    Job(sys.argv[2:], Path(sys.argv[1])).run()
