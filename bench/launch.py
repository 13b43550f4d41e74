"""What the launcher itself costs, by the number of inputs: lists to tasks before the run, rows to a ledger after it.

    python bench/launch.py [--sizes 1000,10000,100000] [--runs 3]
    python bench/launch.py --local 5000

Tasks are stubs: an engine that takes the task list and leaves a row for each input, in 20 files and in no order, as
reducers would. Each measurement is a process of its own; its peak memory is the launcher's, stub included. `--local`
runs a whole job on the local runner over so many small WARC files instead.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

_PROJECT = Path(__file__).resolve().parents[1]
sys.path[0] = str(_PROJECT)  # the package `tests` is imported by its name

_JOB = _PROJECT / "jobs" / "tag_count.py"
_FILES = 20
_RECORDS = 10


def main() -> int:
    """Measure what the command line asks for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of inputs (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each; medians are shown (default: %(default)s)")
    parser.add_argument("--local", type=int, metavar="N", help="instead: a local run over N small files")
    parser.add_argument("--once", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(_launch(options.once[0], int(options.once[1]))))
        return 0
    if options.local:
        return _local_run(options.local)
    print("| inputs | tasks | before the run | after it | CPU in all | peak memory |")
    print("|---|---|---|---|---|---|")
    for kind in ("files", "ranges", "cdxj"):
        for size in map(int, options.sizes.split(",")):
            runs = [_once(kind, size) for _ in range(options.runs)]
            before, after, cpu, memory = (
                median(run[name] for run in runs) for name in ("before", "after", "cpu", "rss")
            )
            print(
                f"| {size:,} {kind} | {runs[0]['tasks']:,} | {before:.2f} s | {after:.2f} s | {cpu:.2f} s "
                f"| {memory / 1e6:.0f} MB |",
                flush=True,
            )
    return 0


def _once(kind: str, size: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--once", kind, str(size)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def lines(kind: str, size: int) -> Iterator[str]:
    """The lines of an input list as Common Crawl and its index give them."""
    for number in range(size):
        segment, file = 1715971057000 + number // 800 % 100, number % 800
        if kind == "files":
            yield f"crawl-data/CC-MAIN-2024-22/segments/{segment}.{number // 80_000}/warc/{_name(file)}"
            continue
        name = f"crawl-data/CC-MAIN-2024-22/segments/{segment}.0/warc/{_name(number * 7 % 800)}"
        offset = number * 9973 % 1_000_000_000
        if kind == "ranges":
            yield f"{name}\t{offset}\t{20_000 + number % 977}"
        else:
            capture = {
                "url": f"https://example.org/{number}",
                "mime": "text/html",
                "status": "200",
                "digest": "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH",
                "length": f"{20_000 + number % 977}",
                "offset": f"{offset}",
                "filename": name,
            }
            yield f"org,example)/{number} 20240517123456 {json.dumps(capture)}"


def _name(number: int) -> str:
    return f"CC-MAIN-20240517233122-20240518023122-{number:05}.warc.gz"


def _launch(kind: str, size: int) -> dict[str, Any]:
    """Launch a job over so many inputs, whose tasks are stubs."""
    from crawlmill.ledger.row import LedgerRow
    from crawlmill.mr import CountJob, launch
    from crawlmill.mr.run.progress import Console
    from crawlmill.mr.task.pairs import encode_pair
    from crawlmill.mr.task.rows import row_pair
    from crawlmill.mr.task.task_list import decode_task

    found: dict[str, Any] = {}

    class Stub:
        """An engine that has done its work at once."""

        def __init__(self, scratch: Path) -> None:
            self.scratch, self.parts, self.rows = scratch, [], []

        def write_to(self, output: object) -> None: ...
        def warm_up(self) -> None: ...
        def close(self) -> None: ...
        def limit_tasks(self, most: int, settings: object) -> None: ...
        def set_reducers(self, number: int) -> None: ...
        def counters(self) -> list[dict[str, int]]:
            return []

        def run(self) -> None:
            found["before"] = time.monotonic() - began
            self.rows = [self.scratch / f"{number}.rows" for number in range(_FILES)]
            dice, found["tasks"] = random.Random(1), 0
            with ExitStack() as stack, (self.scratch / "tasks.jsonl").open() as task_list:
                files = [stack.enter_context(path.open("wb")) for path in self.rows]
                for line in task_list:
                    found["tasks"] += 1
                    for rank, item in decode_task(line):
                        row = LedgerRow(item.shown, item.location, item.offset, item.length, "warc", 40_000, 10**9)
                        dice.choice(files).write(encode_pair(*row_pair(rank, row)) + b"\n")
            self.ended = time.monotonic()

    class Launch(launch._Launch):  # noqa: SLF001
        """A launch that runs the stub."""

        def _work(self) -> Any:
            self.stub = Stub(self.scratch)
            return self.stub

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.paths")
        with path.open("w") as file:
            file.writelines(f"{line}\n" for line in lines(kind, size))
        job = CountJob(["-r", "hadoop", "--no-progress", "--quiet", "--ledger", f"{folder}/ledger", str(path)])
        job.sandbox(stdout=io.BytesIO(), stderr=io.BytesIO())
        scratch = Path(folder, "scratch")
        scratch.mkdir()
        began = time.monotonic()
        launched = Launch(job, scratch, Console(job.stderr))
        code = launched.run()
        found["after"] = time.monotonic() - launched.stub.ended
        if code or Path(folder, "ledger").read_bytes().count(b"\n") != size:
            raise SystemExit(f"exit code {code}, or rows are missing")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {**found, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024}


def _local_run(size: int) -> int:
    from tests import builders

    with tempfile.TemporaryDirectory() as folder:
        data = builders.pack(builders.pages(_RECORDS))
        for number in range(size):
            Path(folder, f"{number:06}.warc.gz").write_bytes(data)
        lst = Path(folder, "x.paths")
        lst.write_text("".join(f"{number:06}.warc.gz\n" for number in range(size)))
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(_JOB), "--no-progress", str(lst)], stdout=subprocess.DEVNULL, check=False
        )
        wall = time.monotonic() - began
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"| {size:,} files of {len(data):,} bytes | {wall:.1f} s | {usage.ru_utime + usage.ru_stime:.1f} s "
        f"| {usage.ru_maxrss * 1024 / 1e6:.0f} MB |"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
