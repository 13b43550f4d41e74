"""A job that goes wrong as its records' URLs say: http://HOW/N for the attempts 0 to N - 1 at the task.

It waits and signals through files of the folder $MARKS.
"""

import os
import signal
import time
from pathlib import Path

from crawlmill.mr import CrawlJob, summing

MARKS = Path(os.environ.get("MARKS", "/nonexistent"))


class Unlucky(CrawlJob):
    """Count what becomes of the records."""

    types = ("response",)
    reducer = combiner = summing

    def process(self, record):
        how, _, times = record.uri.removeprefix("http://").partition("/")
        yield how, 1
        yield "records", 1
        self.increment_counter("tests", "records")
        attempt = os.environ["mapreduce_task_attempt_id"].rpartition("_")[2]  # noqa: SIM112 - Hadoop's name
        if int(attempt) % 1000 < int(times or 0):  # a restarted master begins with 1000
            getattr(self, f"do_{how}")()

    def do_raise(self):
        raise RuntimeError("bad luck, ä\t'quoted'")

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_hang(self):
        time.sleep(600)

    def do_wait(self):
        (MARKS / "waiting").touch()
        while not (MARKS / "go").exists():
            time.sleep(0.1)


if __name__ == "__main__":
    Unlucky.run()
