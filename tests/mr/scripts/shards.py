"""A job whose results are files: a shard for each number, a file for each input, and an index that the end makes.

A URL http://HOW/… makes the first attempts of its reduce task go wrong, as HOW says, after the shard is written.
"""

import os
import signal
import time
from pathlib import Path

from crawlmill.mr import CrawlJob

MARKS = Path(os.environ.get("MARKS", "/nonexistent"))


class Shards(CrawlJob):
    """Write URLs into shards."""

    types = ("response",)
    writes_files = True
    publishes_pairs = False

    def read(self, reading):
        with self.write_file(f"inputs/name={Path(reading.item.location).name}") as file:
            for record in self.watched(reading):
                file.write(f"{record.uri}\n".encode())
                yield len(record.uri) % 3, record.uri

    def reducer(self, shard, uris):
        found = sorted(uris)
        with self.write_file(f"cdx-{shard:05}") as file:
            file.writelines(f"{uri}\n".encode() for uri in found)
        yield shard, len(found)
        attempt = int(os.environ["mapreduce_task_attempt_id"].rpartition("_")[2])  # noqa: SIM112 - Hadoop's name
        for how in ("raise", "kill", "wait"):
            if attempt % 1000 == 0 and any(uri.startswith(f"http://{how}/") for uri in found):
                getattr(self, f"do_{how}")()

    def finish(self, results):
        counts = sorted(results.pairs())
        assert results.files == sorted(results.files)
        with results.write("cluster.idx") as file:
            for shard, count in counts:
                name = f"cdx-{shard:05}"
                with results.open(name) as stream:
                    assert len(stream.read()) == results.size_of(name)
                file.write(f"{name}\t{count}\n".encode())

    def do_raise(self):
        raise RuntimeError("bad luck")

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_wait(self):
        (MARKS / "waiting").touch()
        time.sleep(600)


if __name__ == "__main__":
    Shards.run()
