"""A job whose first reducer takes its executor with it, so that Spark has lost what the mappers gave, and runs them again."""

import os
import signal
from pathlib import Path

from crawlmill.mr import CrawlJob, summing

MARKS = Path(os.environ.get("MARKS", "/nonexistent"))


class LostExecutor(CrawlJob):
    """Count responses by host, and by what an uploaded file says."""

    types = ("response",)

    def process(self, record):
        with (MARKS / "mapped").open("a") as file:
            file.write(f"{record.uri}\n")
        self.increment_counter("tests", "records")
        yield record.uri.split("/")[2], 1
        yield Path("note.txt").read_text(), 1

    def reducer(self, key, values):
        if not (MARKS / "lost").exists():
            (MARKS / "lost").touch()
            status = Path(f"/proc/{os.getppid()}/status").read_text()
            executor = int(status.partition("PPid:")[2].split()[0])  # this process is a child of Spark's Python daemon
            os.kill(executor, signal.SIGKILL)
        yield from summing(self, key, values)


if __name__ == "__main__":
    LostExecutor.run()
