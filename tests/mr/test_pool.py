"""The pool of workers, with workers that are no jobs."""

from __future__ import annotations

import os
import sys

import pytest
from tests.mr.helpers import HANG_S

from crawlmill.mr.engines.machine.pool import Launchpad, Pool
from crawlmill.mr.engines.machine.runner import Silent
from crawlmill.mr.task.attempt import Attempt
from crawlmill.mr.task.failures import TaskError

WORKER = """
import socket, sys
from crawlmill.mr.engines.machine.channel import Channel
channel = Channel(socket.socket(fileno=int(sys.argv[1].partition("=")[2])))
channel.send("ready")
channel.receive()
channel.send("failed", ("LookupError: nowhere", "Traceback\\nLookupError: " + "nowhere " * {words}))
"""


@pytest.mark.parametrize("words", [1, 10_000])  # what is received at once, and what is not
def test_last_words_of_a_worker_that_ends_while_nobody_listens_are_heard(tmp_path, monkeypatch, words):
    def prepare(folder):
        (folder / "worker.py").write_text(WORKER.format(words=words))
        return [sys.executable, "worker.py"]

    pool = Pool(Launchpad(tmp_path, prepare, [], {"PYTHONPATH": os.pathsep.join(sys.path)}), 1, 0, Silent())
    select, too_early = pool._selector.select, [True]

    def select_too_early(seconds):
        [worker] = pool._workers
        if worker.ready and too_early:
            too_early.clear()
            worker.process.wait(HANG_S)
            return []
        return select(seconds)

    monkeypatch.setattr(pool._selector, "select", select_too_early)
    with pytest.raises(TaskError, match=r"failed 1 times, last error: LookupError: nowhere") as caught:
        list(pool.run([Attempt(str(tmp_path), 0, "map", 0, 1 << 20, line="{}")]))
    assert caught.value.trace.count("nowhere") == words
    pool.close()
