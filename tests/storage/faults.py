"""A web server on 127.0.0.1 that cuts, resets, stalls, refuses, lies, changes, redirects: whatever a test asks of it."""

from __future__ import annotations

import gzip
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODIFIED = "Sat, 17 Jan 2026 08:15:00 GMT"
CLOSE, RESET, STALL, TRICKLE = "close", "reset", "stall", "trickle"


@dataclass
class Fault:
    """What goes wrong with one answer after `at` bytes of its body."""

    at: int
    how: str = CLOSE


@dataclass
class Thing:
    """What a path serves. Lists are used up from the front, one entry per GET; the last words are those of the fields."""

    data: bytes = b""
    etag: str | None = '"one"'
    modified: str | None = MODIFIED
    ranges: bool = True
    faults: list[Fault | None] = field(default_factory=list)
    always: Fault | None = None
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # refusals, before the data
    every: tuple[int, dict[str, str]] | None = None
    claim: int = 0  # added to Content-Length
    later: dict[str, Any] = field(default_factory=dict)  # fields to change after the first 200 or 206
    headers: dict[str, str] = field(default_factory=dict)
    coding: str = ""  # Transfer-Encoding
    part_limit: int | None = None  # a range is answered with at most so many bytes
    content_range: str | None = None  # a lie
    close_delimited: bool = False
    raw: bytes | None = None  # the whole answer, byte for byte


@dataclass
class Seen:
    method: str
    path: str
    range: str | None
    status: int
    headers: Message
    body: bytes
    connection: int


class FaultServer:
    """Serves `things` by path; `seen` lists the requests; the status of each is there before its answer is."""

    def __init__(self, things: dict[str, Thing] | None = None, *, context: Any = None) -> None:
        self.things = things or {}
        self.seen: list[Seen] = []
        self.handle: Callable[[Any, bytes], bool] | None = None
        self.lock, self.over = threading.Lock(), threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 20
            wbufsize = -1

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    pass

            def handle_expect_100(self) -> bool:
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                self.wfile.flush()
                return True

            def do_GET(self) -> None:
                outer.serve(self)

            do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 (names of http.server)

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

            def get_request(self) -> Any:
                connection, address = super().get_request()
                if context is not None:
                    connection.settimeout(5)
                    connection = context.wrap_socket(connection, server_side=True)
                return connection, address

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def asked(self, path: str) -> list[Seen]:
        with self.lock:
            return [seen for seen in self.seen if seen.path.partition("?")[0] == path]

    def serve(self, http: Any) -> None:
        body = http.rfile.read(int(http.headers.get("Content-Length") or 0))
        if (http.headers.get("Transfer-Encoding") or "") == "chunked":
            while size := int(http.rfile.readline(), 16):
                body += http.rfile.read(size)
                http.rfile.readline()
            http.rfile.readline()
        seen = Seen(http.command, http.path, http.headers.get("Range"), 0, http.headers, body, http.client_address[1])
        with self.lock:
            self.seen.append(seen)
        try:
            if self.handle is None or not self.handle(http, body):
                self.answer(http, seen)
        except OSError:
            http.close_connection = True

    def refuse(self, http: Any, seen: Seen, status: int, headers: dict[str, str]) -> None:
        seen.status = status
        http.send_response(status)
        text = f"status {status}\n".encode()
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            http.send_header(name, value)
        http.end_headers()
        if http.command != "HEAD":
            http.wfile.write(text)

    def answer(self, http: Any, seen: Seen) -> None:
        thing = self.things.get(http.path.partition("?")[0])
        if thing is None:
            return self.refuse(http, seen, 404, {})
        with self.lock:
            refusal = thing.every or (thing.answers.pop(0) if thing.answers else None)
        if refusal:
            return self.refuse(http, seen, *refusal)
        if thing.raw is not None:
            seen.status = 200
            http.wfile.write(thing.raw)
            http.wfile.flush()
            http.close_connection = True
            return None
        if http.headers.get("If-Match") not in (None, thing.etag):
            return self.refuse(http, seen, 412, {})
        first, last = 0, len(thing.data) - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", http.headers.get("Range") or "")
        seen.status = 200
        if asked and thing.ranges and http.headers.get("If-Range") in (None, thing.etag):
            seen.status, first, last = 206, int(asked[1]), min(int(asked[2] or last), last)
            if thing.part_limit is not None:
                last = min(last, first + thing.part_limit - 1)
            if first >= len(thing.data):
                return self.refuse(http, seen, 416, {"Content-Range": f"bytes */{len(thing.data)}"})
        return self.give(http, thing, seen.status, first, last)

    def give(self, http: Any, thing: Thing, status: int, first: int, last: int) -> None:
        with self.lock:
            fault = thing.faults.pop(0) if thing.faults else thing.always
        part = thing.data[first : last + 1]
        http.send_response(status)
        headers = {"ETag": thing.etag, "Last-Modified": thing.modified, **thing.headers}
        if status == 206:
            headers["Content-Range"] = thing.content_range or f"bytes {first}-{last}/{len(thing.data)}"
        if thing.coding:
            headers["Transfer-Encoding"] = thing.coding
        elif not thing.close_delimited:
            headers["Content-Length"] = str(len(part) + thing.claim)
        for name, value in headers.items():
            if value is not None:
                http.send_header(name, value)
        http.end_headers()
        if thing.claim or thing.close_delimited or (thing.coding and "chunked" not in thing.coding):
            http.close_connection = True  # nothing else tells where the body ends
        wire = coded(part[: thing.claim] if thing.claim < 0 else part, thing.coding)
        for name, value in thing.later.items():
            setattr(thing, name, value)
        if http.command == "HEAD":
            return
        if fault is None:
            http.wfile.write(wire)
        else:
            self.fail(http, wire, fault)

    def fail(self, http: Any, wire: bytes, fault: Fault) -> None:
        http.close_connection = True
        http.wfile.write(wire[: fault.at])
        http.wfile.flush()
        if fault.how == STALL:
            self.over.wait(20)
        elif fault.how == TRICKLE:
            for byte in wire[fault.at :]:
                if self.over.wait(0.01):
                    return
                http.wfile.write(bytes([byte]))
                http.wfile.flush()
        elif fault.how == RESET:
            time.sleep(0.02)  # let what was sent arrive: a reset throws it away
            http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            http.connection.close()


def coded(part: bytes, coding: str) -> bytes:
    """The bytes in a transfer coding: gzip, chunks of 3,000 bytes, or both."""
    wire = gzip.compress(part) if "gzip" in coding else part
    if "chunked" in coding:
        pieces = [wire[at : at + 3000] for at in range(0, len(wire), 3000)]
        wire = b"".join(b"%x;note=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nX-T: 1\r\n\r\n"
    return wire
