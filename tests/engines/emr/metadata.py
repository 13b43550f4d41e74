"""A stand-in for a machine's instance metadata service, from which nodes of a cluster get their credentials.

Spec: Amazon EC2 User Guide, "Use the Instance Metadata Service to access instance metadata" (version 2: a token by
PUT, without which a GET is answered 401) and "Retrieve security credentials from instance metadata".
"""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

ROLE = "EMR_EC2_DefaultRole"
_TOKEN = "a-token"
_CREDENTIALS = "/latest/meta-data/iam/security-credentials/"


class MetadataService(ThreadingHTTPServer):
    """Serves credentials. The first `slow` answers take `slow_s`; `broken`: answers are errors; only version 2."""

    def __init__(self, *, slow: int = 0, slow_s: float = 1.2) -> None:
        self.slow, self.slow_s, self.broken = slow, slow_s, False
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def environment(self) -> dict[str, str]:
        """What makes AWS' SDKs ask here, and have no credentials of another kind."""
        return {
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{self.server_port}",
            "AWS_CONFIG_FILE": "/nonexistent",
            "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        }

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Whoever asks may be gone before a slow answer comes."""


class _Handler(BaseHTTPRequestHandler):
    server: MetadataService

    def do_PUT(self) -> None:
        self._answer(_TOKEN if self.path == "/latest/api/token" else None)

    def do_GET(self) -> None:
        if self.headers.get("X-aws-ec2-metadata-token") != _TOKEN:
            self._answer("", 401)
        elif self.path == _CREDENTIALS:
            self._answer(ROLE)
        elif self.path == _CREDENTIALS + ROLE:
            now = datetime.now(UTC)
            self._answer(
                json.dumps(
                    {
                        "Code": "Success",
                        "Type": "AWS-HMAC",
                        "AccessKeyId": "ASIANODE",
                        "SecretAccessKey": "of-a-node",
                        "Token": "token-of-a-node",
                        "LastUpdated": f"{now:%FT%TZ}",
                        "Expiration": f"{now + timedelta(hours=6):%FT%TZ}",
                    }
                )
            )
        else:
            self._answer(None)

    def _answer(self, text: str | None, status: int = 200) -> None:
        server = self.server
        server.asked.append(f"{self.command} {self.path}")
        if server.slow:
            server.slow -= 1
            time.sleep(server.slow_s)
        content = (text or "").encode()
        self.send_response(500 if server.broken else 404 if text is None else status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
