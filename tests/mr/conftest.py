"""A small crawl in a folder of its own."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
from tests import builders


class Crawl:
    """A folder of crawl files, and lists of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def warc(self, name: str, *uris: str, cut: int = 0) -> Path:
        """A WARC of an HTML page per URI; the last `cut` bytes are missing."""
        records = [builders.warcinfo(), *(builders.response(uri, b"<p><b>x</b>") for uri in uris)]
        data = builders.pack(records)
        return self.write(name, data[: len(data) - cut])

    def write(self, name: str, data: bytes) -> Path:
        """A file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def list(self, *lines: object, name: str = "x.paths") -> Path:
        """An input list."""
        return self.write(name, "".join(f"{line}\n" for line in lines).encode())


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)


@pytest.fixture
def s3(monkeypatch, tmp_path):
    """A client of an S3 with an empty bucket of the name `bucket`."""
    boto3 = pytest.importorskip("tests.aws", exc_type=ImportError).boto3
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    reset = urllib.request.Request(f"http://{host}:{port}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset).close()  # its memory is that of the process
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    yield client
    client.close()
    server.stop()
