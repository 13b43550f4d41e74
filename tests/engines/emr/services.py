"""Services that answer otherwise than they should."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@contextmanager
def refusing(status: int, body: dict[str, str] | str) -> Iterator[tuple[str, list[str]]]:
    """A service that answers everything so; and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.headers.get("X-Amz-Target", self.path))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_PUT = do_HEAD = do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Proxy(ThreadingHTTPServer):
    """Stands before EMR, and does otherwise with the first requests for an operation: `trouble` is called with what
    forwards the request, and gives the answer, or None for a connection that is closed without one.
    """

    def __init__(self, url: str, operation: str, trouble: Callable[[Callable[[], bytes]], bytes | None]) -> None:
        asked = self.asked = []
        host = url.removeprefix("http://")

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                target = self.headers["X-Amz-Target"].rpartition(".")[2]
                body = self.rfile.read(int(self.headers["Content-Length"]))

                def forward() -> bytes:
                    connection = http.client.HTTPConnection(host)
                    connection.request("POST", "/", body, dict(self.headers))
                    answer = connection.getresponse()
                    content = answer.read()
                    head = f"HTTP/1.1 {answer.status} X\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
                    connection.close()
                    return head.encode() + content

                asked.append(target)
                answer = trouble(forward) if target == operation else forward()
                if answer is not None:
                    self.wfile.write(answer)
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
