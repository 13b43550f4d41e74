"""Sizes of many files: asked on several connections, and no longer where nobody answers."""

from __future__ import annotations

import socket
import threading

import pytest
from tests.storage.faults import FaultServer, Thing

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs import sizes
from crawlmill.inputs.lists import Input
from crawlmill.inputs.sizes import ask_sizes
from crawlmill.storage import Storage, StorageOptions


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


def inputs(url, count):
    return [Input(f"{url}/{n}", f"{url}/{n}") for n in range(count)]


def test_sizes_come_in_the_order_of_the_files():
    with FaultServer({f"/{n}": Thing(b"x" * (n + 1)) for n in range(30) if n != 7}) as web:
        asked = ask_sizes(inputs(web.url, 30), Storage())
    assert asked.found == [n + 1 for n in range(30) if n != 7]
    assert [(error.reason, error.source) for error in asked.missing] == [("not-found", f"{web.url}/7")]
    assert asked.unknown == {}


def test_several_are_asked_at_once_but_no_more_than_the_limit():
    class Slow(FaultServer):
        now = most = 0
        meeting = threading.Barrier(2)

        def answer(self, http, seen):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            self.meeting.wait(240)  # a question that goes alone never gets its answer
            with self.lock:
                self.now -= 1
            super().answer(http, seen)

    with Slow({f"/{n}": Thing(b"x") for n in range(12)}) as web:
        asked = ask_sizes(inputs(web.url, 12), Storage(StorageOptions(max_connections_per_host=2)))
    assert asked.found == [1] * 12
    assert web.most == 2


@pytest.mark.parametrize(("status", "reason"), [(500, "unavailable"), (403, "denied")])
def test_host_that_does_not_answer_is_given_up(status, reason):
    with (
        FaultServer({f"/{n}": Thing(every=(status, {})) for n in range(200)}) as bad,
        FaultServer({"/0": Thing(b"abc")}) as good,
    ):
        files = [*inputs(bad.url, 200), *inputs(good.url, 1)]
        asked = ask_sizes(files, Storage(StorageOptions(retries=0)))
        assert len(bad.seen) <= sizes._FEW + sizes._CONNECTIONS
    assert asked.found == [3]
    assert asked.missing == []
    assert list(asked.unknown) == [bad.url]
    assert [error.reason for error in asked.unknown[bad.url]] == [reason] * 200


def test_host_that_answers_in_between_is_asked_on():
    things = {f"/{n}": Thing(b"x") if n % 4 == 0 else Thing(every=(500, {})) for n in range(40)}
    with FaultServer(things) as web:
        asked = ask_sizes(inputs(web.url, 40), Storage(StorageOptions(retries=0, max_connections_per_host=1)))
        assert len(web.seen) == 40
    assert len(asked.found) == 10
    assert len(asked.unknown[web.url]) == 30


def test_missing_files_say_nothing_of_the_host():
    with FaultServer({"/29": Thing(b"x")}) as web:
        asked = ask_sizes(inputs(web.url, 30), Storage())
    assert len(asked.missing) == 29
    assert asked.found == [1]


def test_closed_port_is_tried_twice_at_most():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    asked = ask_sizes(inputs(url, 200), Storage(StorageOptions(retries=8)))
    assert len(asked.unknown[url]) == 200
    assert all("after 2 tries" in str(error) for error in asked.unknown[url])


def test_local_files_that_cannot_be_asked_for_do_not_hide_others(tmp_path):
    (tmp_path / "there").write_bytes(b"abc")
    others = [Input(f"file://other/{n}", f"file://other/{n}") for n in range(20)]
    asked = ask_sizes([*others, Input("x", str(tmp_path / "there"))], Storage())
    assert asked.found == [3]
    assert len(asked.missing) == 20


def test_mistake_that_concerns_all_is_raised(monkeypatch):
    def refuse(self, location):
        raise UsageError("a package is missing")

    monkeypatch.setattr(Storage, "size_of", refuse)
    with pytest.raises(UsageError, match="a package is missing"):
        ask_sizes(inputs("http://127.0.0.1:1", 3), Storage())


def test_no_files_are_no_question():
    asked = ask_sizes([], Storage())
    assert (asked.found, asked.missing, asked.unknown) == ([], [], {})


def test_message_hides_secrets():
    url = "http://user:secret@127.0.0.1:1"
    asked = ask_sizes(inputs(url, 1), Storage(StorageOptions(retries=0)))
    (error,) = asked.unknown[url]
    assert isinstance(error, SourceError)
    assert "secret" not in str(error)
