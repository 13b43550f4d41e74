"""A job that goes wrong in whatever way its records' URLs say, once or always, so that tests can watch what happens then.

http://HOW/TIMES: the first TIMES attempts at the record go wrong. Attempts leave marks in the folder $FRAGILE.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.mr import CrawlJob, summing

MARKS = Path(os.environ.get("FRAGILE", "/nonexistent"))


class Fragile(CrawlJob):
    """Count URLs, if all goes well."""

    types = ("response",)
    reducer = summing

    def process(self, record):
        how, _, times = record.uri.removeprefix("http://").partition("/")
        yield how, 1
        if times.isdigit():
            mark = MARKS / how
            with mark.open("a") as file:
                file.write(f"{os.getpid()}\n")
            if len(mark.read_text().split()) <= int(times):
                getattr(self, f"do_{how}")()

    def do_raise(self):
        raise RuntimeError("bad luck")

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_exit(self):
        sys.exit(3)

    def do_orphan(self):
        subprocess.Popen(["sleep", "300"], close_fds=False)
        os.kill(os.getpid(), signal.SIGKILL)

    def do_print(self):
        print("not a pair")
        os.write(1, b"nor\tthis\n")
        sys.stderr.write("said by the task\n")
        self.increment_counter("tasks", "printed", 2)
        self.set_status("fine")

    def do_lose(self):
        raise FormatError("cannot be taken", reason="bad-json")

    def do_miss(self):
        raise MissingDependency("the package nowhere is not installed")

    def do_wait(self):
        time.sleep(300)


if __name__ == "__main__":
    Fragile.run()
