"""The process of an engine's client: its lines as they come, its end with all that it has started."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time

import pytest

from crawlmill.mr.engines.client_process import ClientProcess


def started(*command: str) -> ClientProcess:
    return ClientProcess([*command], dict(os.environ))


def is_over(number: int) -> bool:
    """Whether a process that nobody of us has to wait for ends within a while."""
    until = time.monotonic() + 240
    while time.monotonic() < until:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_lines_come_as_they_are_written_with_ticks_meanwhile():
    code = "import sys,time; print('one', flush=True); time.sleep(.6); sys.stderr.write('two'); sys.exit(3)"
    ticks = []
    client = started(sys.executable, "-c", code)
    assert list(client.lines(lambda: ticks.append(1))) == ["one", "two"]
    assert ticks
    assert client.wait() == 3


def test_last_words_are_heard_though_the_launcher_slept_meanwhile(monkeypatch):
    """Those that the client writes after the launcher has looked for lines, and before it looks for the client."""
    client = started("sh", "-c", "echo first; sleep 1; echo last words; exit 1")
    select = selectors.DefaultSelector.select

    def sleepy(self, timeout=None):
        found = select(self, timeout)
        if not found:
            client.wait()
        return found

    monkeypatch.setattr(selectors.DefaultSelector, "select", sleepy)
    assert list(client.lines(lambda: None)) == ["first", "last words"]
    assert client.wait() == 1


def test_what_holds_the_lines_open_after_the_client_has_gone_is_not_waited_for():
    client = started("sh", "-c", "sleep 600 & echo last words")
    began = time.monotonic()
    assert list(client.lines(lambda: None)) == ["last words"]
    assert time.monotonic() - began < 60
    client.end()


def test_client_can_be_ended_at_once():
    client = started("sleep", "600")
    began = time.monotonic()
    client.end()
    client.end()
    assert client.wait() == -signal.SIGKILL
    assert list(client.lines(lambda: None)) == []
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("script", "code"),
    [("trap 'exit 7' TERM; echo ready; sleep 600 & wait", 7), ("echo ready; exec sleep 600", -signal.SIGTERM)],
)
def test_client_that_is_asked_to_end_may_do_so_in_its_own_way(script, code):
    client = started("sh", "-c", script)
    lines = client.lines(lambda: None)
    assert next(lines) == "ready"
    client.end(20)
    assert client.wait() == code
    lines.close()


def test_client_that_does_not_listen_is_ended_after_the_grace():
    client = started("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
    lines = client.lines(lambda: None)
    assert next(lines) == "ready"
    client.end(0.3)
    assert client.wait() == -signal.SIGKILL
    lines.close()


def test_what_a_client_leaves_behind_is_ended_with_it_though_it_has_gone_itself():
    client = started("sh", "-c", "sleep 600 & echo $!; exit 5")
    (left,) = client.lines(lambda: None)
    assert client.wait() == 5
    os.kill(int(left), 0)
    client.end(20)
    assert is_over(int(left))
