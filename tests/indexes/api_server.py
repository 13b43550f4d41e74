"""A CDX API on this machine: answers as a table says, by what was asked, and writes down what was asked."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

NOTHING = b'{"message": "No Captures found for: x"}\n'


@dataclass
class Said:
    """An answer. `length`: the length that is stated, if it is not that of the body; None: none is."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = -1


class ApiServer:
    """Gives what `answer` says of each question: the parameters, by name, each the last of its name."""

    def __init__(self, answer: Callable[[dict[str, str]], Said | bytes], path: str = "/coll-index") -> None:
        self.asked: list[dict[str, str]] = []
        self.given: list[dict[str, list[str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                every = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
                outer.given.append(every)
                asked = {name: values[-1] for name, values in every.items()}
                outer.asked.append(asked)
                said = answer(asked)
                said = said if isinstance(said, Said) else Said(said)
                body = said.body
                if said.headers.get("Content-Encoding") == "gzip":
                    body = gzip.compress(body)
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                if said.length is None:
                    self.send_header("Connection", "close")
                else:
                    self.send_header("Content-Length", str(len(body) if said.length < 0 else said.length))
                self.close_connection = said.length != -1
                self.end_headers()
                self.wfile.write(body)

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}{path}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pages(self) -> list[str]:
        """The numbers of the pages that were asked for, in order, without other questions."""
        return [asked["page"] for asked in self.asked if "page" in asked and "showPagedIndex" not in asked]


def in_pages(lines: list[str], size: int, **more: Said | bytes | list[Said | bytes]) -> Callable[[dict], Said | bytes]:
    """Answers of a server whose pages hold so many lines each, whatever is asked for.

    `more`: what else to say of `count` or `pageN`; of a list, one after another, and the usual when it is empty.
    """
    pages = [lines[at : at + size] for at in range(0, len(lines), size)]

    def answer(asked: dict[str, str]) -> Said | bytes:
        name = "count" if "showNumPages" in asked else f"page{asked.get('page', '')}"
        special = more.get(name)
        if isinstance(special, list):
            special = special.pop(0) if special else None
        if special is not None and "showPagedIndex" not in asked:
            return special
        if "showNumPages" in asked:
            return b'{"pages": %d, "pageSize": 1, "blocks": %d}' % (len(pages), len(pages))
        if "showPagedIndex" in asked:
            return Said(b"unknown", 400)
        number = int(asked.get("page", 0))
        if number >= len(pages):
            return Said(b'{"message": "Page %d invalid: First Page is 0"}' % number, 400)
        return "".join(f"{line}\n" for line in pages[number]).encode()

    return answer
