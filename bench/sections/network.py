"""Counting the same WARC files from disk, HTTP and S3 in one process, compared with warcio on requests and boto3.

The servers run on this machine but are not measured: CPU and memory are those of the client, and wall time says
little. The HTTP server is the standard library's with ranges added; S3 is moto's.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.harness import AtLeast, Comparison, Contender
from bench.lab import Lab, ours

__all__ = ["measure"]

_MEGABYTES = 120.0  # files come in pairs: of `full`, four are the first that hold 100 MB
_CHUNK = 1 << 20
_KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_DEFAULT_REGION": "us-east-1"}


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table."""
    workload = lab.corpus.workload("warc", megabytes=_MEGABYTES)
    with ExitStack() as stack:
        web = stack.enter_context(_http(workload.paths))
        store = stack.enter_context(_s3(workload.paths))
        lists = {
            "disk": workload.paths,
            "HTTP": [f"{web}/{number}" for number in range(len(workload.paths))],
            "S3": [f"s3://bench/{number}" for number in range(len(workload.paths))],
        }
        contenders: list[Contender] = []
        folder = Path(workload.input_list).parent
        for kind, locations in lists.items():
            input_list = folder / f"network-{kind}.paths"
            input_list.write_text("".join(f"{location}\n" for location in locations))
            options = ("--s3-endpoint", store) if kind == "S3" else ()
            env = {**_KEYS, "NO_PROXY": "*"}
            contenders += lab.inline_jobs("tag_count.py", str(input_list), *options, suffix=f", {kind}", env=env)
        contenders.append(lab.network_loop("http", lists["HTTP"], {"NO_PROXY": "*"}))
        keys = [location.removeprefix("s3://") for location in lists["S3"]]
        contenders.append(lab.network_loop("s3", keys, {**_KEYS, "AWS_ENDPOINT_URL": store, "NO_PROXY": "*"}))
        goals = [
            AtLeast(name, disk, "cpu", 1 / 1.1)
            for kind in ("HTTP", "S3")
            for name, disk in zip(ours(f", {kind}"), ours(", disk"), strict=True)
        ]
        yield lab.compare("network", "tag_count -r inline", contenders, workload, goals=goals)


@contextmanager
def _http(paths: tuple[str, ...]) -> Iterator[str]:
    """A loopback server; returns the URL under which the files are, named by number."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._serve(body=False)

        def do_GET(self) -> None:
            self._serve(body=True)

        def _serve(self, *, body: bool) -> None:
            path = Path(paths[int(self.path.strip("/"))])
            size = path.stat().st_size
            first, _, last = (self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last or size - 1), size - 1) + 1
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("ETag", f'"{size}"')
            self.send_header("Content-Length", str(end - start))
            if "Range" in self.headers:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
            self.end_headers()
            if body:
                with path.open("rb") as file:
                    file.seek(start)
                    left = end - start
                    while left and (piece := file.read(min(_CHUNK, left))):
                        self.wfile.write(piece)
                        left -= len(piece)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _s3(paths: tuple[str, ...]) -> Iterator[str]:
    """moto's server with the files in the bucket `bench`; its URL."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    try:
        client = boto3.client(
            "s3", endpoint_url=url, aws_access_key_id="bench", aws_secret_access_key="bench", region_name="us-east-1"
        )
        client.create_bucket(Bucket="bench")
        for number, path in enumerate(paths):
            with Path(path).open("rb") as file:
                client.put_object(Bucket="bench", Key=str(number), Body=file)
        yield url
    finally:
        server.stop()
        shutil.rmtree(".moto", ignore_errors=True)
