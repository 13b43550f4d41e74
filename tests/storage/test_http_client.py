"""Requests: redirects, kept connections, authentication, proxies, and secrets that stay secret."""

from __future__ import annotations

import base64
import logging
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.http.client import HttpClient
from crawlmill.storage.http.pools import proxy_for
from crawlmill.storage.limits import Limiter
from crawlmill.storage.retry import Failure
from tests.storage.faults import Fault, FaultServer, Thing

DATA = bytes(range(256)) * 8


def reason(run) -> str:
    with pytest.raises(SourceError) as caught:
        run()
    return caught.value.reason


@pytest.fixture
def web() -> Iterator[FaultServer]:
    with FaultServer({"/x": Thing(DATA)}) as server:
        yield server


class Lookups:
    """Looks up host names: all are this machine's, or none can be resolved; `of` are those asked for."""

    def __init__(self) -> None:
        self.of, self.failing = [], True
        self._look_up = socket.getaddrinfo

    def __call__(self, host, *given, **options):
        self.of.append(host)
        if self.failing:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return self._look_up("127.0.0.1", *given, **options)


@pytest.fixture
def lookups(monkeypatch) -> Lookups:
    found = Lookups()
    monkeypatch.setattr(socket, "getaddrinfo", found)
    return found


def test_host_that_cannot_be_resolved_is_given_up_soon_and_costs_later_inputs_one_look_up(storage_with, lookups, clock):
    storage = storage_with()
    for expected in (4, 5, 6):
        with pytest.raises(SourceError, match="cannot be resolved") as caught:
            storage.open_stream("http://nowhere.example/x")
        assert (caught.value.reason, len(lookups.of)) == ("unavailable", expected)
    assert len(clock.waits) == 3
    assert sum(clock.waits) <= 0.5 + 1 + 2


@pytest.mark.parametrize("host", ["a..b", ".a", "x" * 64])
def test_host_name_that_is_not_valid_is_not_tried_again(storage_with, host, clock):
    with pytest.raises(SourceError, match="the host name is not valid") as caught:
        storage_with().open_stream(f"http://{host}/x")
    assert (caught.value.reason, clock.waits) == ("unavailable", [])


def test_host_that_was_reached_before_has_all_its_retries(storage_with, lookups, web, clock):
    lookups.failing = False
    storage = storage_with()
    url = web.url.replace("127.0.0.1", "web.example")
    web.things["/closing"] = Thing(DATA, every=(200, {"Connection": "close"}))
    storage.open_stream(f"{url}/closing").close()
    lookups.failing = True
    del lookups.of[:]
    with pytest.raises(SourceError, match="cannot be resolved, after 9 tries"):
        storage.open_stream(f"{url}/x")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["/x", "x", "../x", "URL/x", "/x#part"])
def test_redirect_is_followed(storage_with, web, status: int, place: str) -> None:
    web.things["/a/../y"] = web.things["/y"] = Thing(every=(status, {"Location": place.replace("URL", web.url)}))
    assert storage_with().read_range(f"{web.url}/y", 10, 20) == DATA[10:30]


def test_redirect_to_a_raw_utf8_place_is_followed(storage_with, web) -> None:
    web.things["/%C3%BC"] = Thing(DATA)
    web.things["/y"] = Thing(every=(302, {"Location": "/ü".encode().decode("latin-1")}))
    assert storage_with().size_of(f"{web.url}/y") == len(DATA)


def test_redirects_in_a_circle_end(storage_with, web, clock) -> None:
    web.things |= {"/1": Thing(every=(302, {"Location": "/2"})), "/2": Thing(every=(302, {"Location": "/1"}))}
    assert reason(lambda: storage_with().open_stream(f"{web.url}/1")) == "unavailable"
    assert (len(web.seen), clock.waits) == (2, [])


def test_redirects_without_end_end(storage_with, web) -> None:
    web.things |= {f"/{n}": Thing(every=(302, {"Location": f"/{n + 1}"})) for n in range(100)}
    assert reason(lambda: storage_with().open_stream(f"{web.url}/0")) == "unavailable"
    assert len(web.seen) == 11


@pytest.mark.parametrize("place", ["ftp://h/x", "file:///etc/passwd", "http://", "http://h:99999/", "http://[::1", ""])
def test_redirect_to_nowhere_is_unavailable(storage_with, web, place: str) -> None:
    web.things["/y"] = Thing(every=(302, {"Location": place}))
    assert reason(lambda: storage_with().open_stream(f"{web.url}/y")) == "unavailable"
    assert len(web.seen) == 1


@pytest.mark.parametrize("location", ["http://", "http://h:99999/x", "http://[::1/x", "https://ho st/x", "http:///x"])
def test_location_that_is_no_url_is_unavailable(storage_with, location: str) -> None:
    assert reason(lambda: storage_with().open_stream(location)) == "unavailable"


def test_connection_is_used_again(storage_with, web) -> None:
    storage = storage_with()
    for start in range(20):
        assert storage.read_range(f"{web.url}/x", start, 5) == DATA[start : start + 5]
    web.things["/busy"] = Thing(DATA, answers=[(503, {}), (429, {})])
    assert storage.size_of(f"{web.url}/busy") == len(DATA)
    assert len({seen.connection for seen in web.seen}) == 1


def test_connection_with_an_unread_body_is_not_used_again(storage_with, web) -> None:
    web.things["/x"].ranges = False
    storage = storage_with()
    for start in (5, 50):
        assert storage.read_range(f"{web.url}/x", start, 5) == DATA[start : start + 5]
    assert len({seen.connection for seen in web.seen}) == 2


def test_connection_that_the_server_closed_meanwhile_is_replaced(storage_with, web) -> None:
    storage = storage_with()
    web.things["/x"].headers = {"Connection": "keep-alive"}
    web.things["/last"] = Thing(DATA, faults=[Fault(len(DATA))])  # whole, then closed without a word
    for path in ("/x", "/last", "/x"):
        assert storage.read_range(f"{web.url}{path}", 0, 9) == DATA[:9]


def test_request_asks_for_bytes_as_they_are(storage_with, web) -> None:
    storage_with().size_of(f"{web.url}/x")
    headers = web.seen[0].headers
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"].startswith("crawlmill/")


def test_userinfo_is_sent_to_its_origin_only(storage_with, web) -> None:
    with FaultServer({"/x": Thing(DATA)}) as other:
        web.things["/y"] = Thing(every=(302, {"Location": "/z"}))
        web.things["/z"] = Thing(every=(302, {"Location": f"{other.url}/x"}))
        storage_with().size_of(f"{web.url.replace('//', '//us%40er:pa:ss@')}/y")
        wanted = "Basic " + base64.b64encode(b"us@er:pa:ss").decode()
        assert [seen.headers.get("Authorization") for seen in (*web.seen, *other.seen)] == [wanted, wanted, None]


SECRET = "s3cr3t"


@pytest.mark.parametrize(
    "thing",
    [
        None,
        Thing(every=(503, {})),
        Thing(every=(403, {})),
        Thing(raw=b"junk"),
        Thing(every=(302, {"Location": f"ftp://u:{SECRET}@h/?token={SECRET}"})),
        Thing(every=(302, {"Location": f"/x?X-Amz-Signature={SECRET}"})),
        Thing(DATA, raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nbad header\r\n\r\nabc"),
    ],
)
def test_secrets_are_in_no_message_and_no_log(storage_with, web, caplog, capfd, thing: Thing | None) -> None:
    caplog.set_level(logging.INFO)
    web.things = {"/x": thing} if thing else {}
    location = f"{web.url.replace('//', f'//user:{SECRET}@')}/x?X-Amz-Signature={SECRET}&token={SECRET}&a=1"
    with pytest.raises(SourceError) as caught:
        storage_with(retries=1).open_stream(location).read()
    error: BaseException | None = caught.value
    assert SECRET not in str(error)
    assert "a=1" in str(error)
    while error is not None:  # of the causes, those that are ours
        assert "crawlmill" not in type(error).__module__ or SECRET not in str(error)
        error = error.__cause__
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("environment", "scheme", "host", "proxy"),
    [
        ({}, "http", "h", None),
        ({"http_proxy": "http://p:1"}, "http", "h", "http://p:1"),
        ({"http_proxy": "p:1"}, "http", "h", "http://p:1"),
        ({"http_proxy": "http://p:1"}, "https", "h", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https", "h", "http://p:1"),
        ({"all_proxy": "http://p:1"}, "https", "h", "http://p:1"),
        ({"http_proxy": "http://p:1", "no_proxy": "h"}, "http", "h", None),
        ({"http_proxy": "http://p:1", "NO_PROXY": "x,.example.org"}, "http", "a.example.org", None),
        ({"http_proxy": "http://p:1", "no_proxy": "*"}, "http", "h", None),
        ({"http_proxy": "http://p:1", "no_proxy": "10.0.0.0/8"}, "http", "10.1.2.3", None),
        ({"http_proxy": "http://p:1", "no_proxy": "10.0.0.0/8,x"}, "http", "11.1.2.3", "http://p:1"),
        ({"http_proxy": "http://p:1", "no_proxy": "fd00::/8"}, "http", "[fd00::1]", None),
        ({"http_proxy": ""}, "http", "h", None),
    ],
)
def test_proxy_is_the_one_of_the_environment(
    monkeypatch, environment: dict, scheme: str, host: str, proxy: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(scheme, host) == proxy


def test_request_through_a_proxy_carries_the_whole_url(storage_with, web, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", web.url.replace("//", "//user:pass@"))
    web.things["http://example.org/x"] = Thing(DATA)
    assert storage_with().size_of("http://example.org/x") == len(DATA)
    assert web.seen[0].headers["Proxy-Authorization"] == "Basic " + base64.b64encode(b"user:pass").decode()


def test_proxy_that_wants_a_password_is_denied(storage_with, web, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", web.url)
    web.things["http://example.org/x"] = Thing(every=(407, {}))
    assert reason(lambda: storage_with().size_of("http://example.org/x")) == "denied"


def test_proxy_of_another_kind_makes_what_lies_behind_it_unavailable(storage_with, monkeypatch) -> None:
    monkeypatch.setenv("all_proxy", f"socks5://u:{SECRET}@p:1")
    with pytest.raises(SourceError, match="socks5") as caught:
        storage_with().size_of("http://example.org/x")
    assert caught.value.reason == "unavailable"
    assert SECRET not in str(caught.value)


def test_writing_over_http_is_a_mistake_of_the_user(storage_with) -> None:
    storage = storage_with()
    for run in (storage.write, storage.make_folder, storage.remove, storage.list):
        with pytest.raises(UsageError):
            run("https://h/x")
    assert not storage.renames("https://h/x")


def chunked(data: bytes, dice: random.Random) -> bytes:
    """A chunked body whose chunks are mostly small, as of servers that send a line in each, and sometimes large."""
    at, pieces = 0, []
    while at < len(data):
        size = dice.choice((1, 2, 60, 100, 300, 300, 300, 90_000 if dice.random() < 0.02 else 200))
        piece = data[at : at + size]
        pieces.append(b"%x\r\n%b\r\n" % (len(piece), piece))
        at += size
    return b"".join(pieces)


@pytest.mark.parametrize("n", [1, 700, 1 << 20])
def test_chunks_that_are_here_are_read_together(n):
    dice = random.Random(3)
    data = dice.randbytes(20_000 if n == 1 else 500_000)
    body = chunked(data, dice)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    web = FaultServer(
        {"/x": Thing(raw=head + body + b"0\r\nX-Trailer: 1\r\n\r\n"), "/cut": Thing(raw=head + body[:-9])}
    )
    with web, closing(HttpClient(5, Limiter())) as client, closing(HttpClient(5, Limiter())) as other:
        answer = client.request("GET", f"{web.url}/x")
        pieces = list(iter(lambda: answer.read(n), b""))
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) <= n
        assert n < 1 << 20 or len(pieces) < body.count(b"\r\n") / 20
        answer.close()
        cut = other.request("GET", f"{web.url}/cut")  # the server may be about to close the first connection
        found = bytearray()
        with pytest.raises(Failure, match="closed before the end"):
            any(map(found.extend, iter(lambda: cut.read(n), b"")))
        assert data.startswith(found)
        cut.close()


def test_chunk_is_given_before_the_next_one_comes():
    """Nothing waits for a chunk that has not been sent."""
    sent, go_on = b"3\r\nabc\r\n", threading.Event()

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + sent)
            assert go_on.wait(240)
            connection.sendall(b"2\r\nde\r\n0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening, closing(HttpClient(20, Limiter())) as client:
        server = threading.Thread(target=serve, args=(listening,))
        server.start()
        answer = client.request("GET", f"http://127.0.0.1:{listening.getsockname()[1]}/")
        assert answer.read(100) == b"abc"
        go_on.set()
        assert answer.read(100) == b"de"
        assert answer.read(100) == b""
        answer.close()
        server.join()


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="only Linux can acknowledge at once")
def test_what_has_been_received_is_acknowledged_at_once():
    """A server that sends small pieces waits for it (Nagle's algorithm), and the system does it 40 ms later by itself."""
    requests, delayed, go_on = 20, [], threading.Semaphore(0)

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            for _ in range(requests):
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
                assert go_on.acquire(timeout=240)
                unacknowledged = struct.unpack_from(
                    "I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 24
                )
                delayed.append(unacknowledged[0])
                connection.sendall(b"b")

    with socket.create_server(("127.0.0.1", 0)) as listening, closing(HttpClient(20, Limiter())) as client:
        server = threading.Thread(target=serve, args=(listening,))
        server.start()
        for _ in range(requests):
            answer = client.request("GET", f"http://127.0.0.1:{listening.getsockname()[1]}/")
            assert answer.read(1) == b"a"
            go_on.release()
            assert answer.read(1) == b"b"
            assert answer.read(1) == b""
            answer.close()
        server.join()
    assert delayed.count(0) > requests * 3 // 4  # the system may be late once
