"""A web server that passes questions on to another one, records the raw answers, and gives them again at once.

/direct/collinfo.json       what cdx-index-client asks first: where the API is, here the other server's
/recorded/collinfo.json     the same, here this server's
/recorded/cdx?…             an answer as the other server gave it when it was first asked
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

__all__ = ["replaying"]

_CLOSE = b"Connection: close\r\n"


@contextmanager
def replaying(port: int, path: str) -> Iterator[str]:
    """Start it in front of `path` at a port of this machine; returns its address."""
    known: dict[bytes, bytes] = {}

    class Handler(StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            while line := self.rfile.readline():
                lines = list(iter(self.rfile.readline, b"\r\n"))
                self.wfile.write(answer(line.split(b" ")[1]))
                if any(line.lower().startswith(b"connection: close") for line in lines):
                    return

    def answer(target: bytes) -> bytes:
        folder, _, question = target.partition(b"?")
        if not question:
            is_direct = folder.startswith(b"/direct/")
            return _listing(f"http://127.0.0.1:{port}{path}" if is_direct else f"{address}/recorded/cdx")
        if question not in known:
            known[question] = _ask(port, path.encode() + b"?" + question)
        return known[question]

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        address = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield address
        finally:
            server.shutdown()


def _listing(api: str) -> bytes:
    text = json.dumps([{"id": "crawl", "name": "crawl", "cdx-api": api}]).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)


def _ask(port: int, target: bytes) -> bytes:
    """The whole answer, head and all, but for the line that says that the connection is closed."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n%b\r\n" % (target, _CLOSE))
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    return received.replace(_CLOSE, b"", 1)
