"""TLS: whose certificates are trusted, by HTTP and by S3."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from crawlmill.errors import SourceError
from crawlmill.storage.http import pools as http_pools
from tests.storage.faults import Fault, FaultServer, Thing

DATA = bytes(range(256)) * 8


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def tls(certificate: Path) -> Iterator[FaultServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with FaultServer({"/x": Thing(DATA, faults=[Fault(1000)])}, context=context) as server:
        yield server


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificate_of_the_environment_is_trusted(storage_with, tls, certificate, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, str(certificate / "cert.pem"))
    with storage_with().open_stream(f"{tls.url}/x") as stream:
        assert stream.read() == DATA
    assert len(tls.seen) == 2


def test_certificate_of_nobody_is_not_trusted_and_asked_once(storage_with, tls, clock) -> None:
    with pytest.raises(SourceError, match="not trusted") as caught:
        storage_with().open_stream(f"{tls.url}/x")
    assert (caught.value.reason, clock.waits) == ("unavailable", [])


def test_certificate_for_another_name_is_not_trusted(storage_with, tls, certificate, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with pytest.raises(SourceError, match="not trusted"):
        storage_with().open_stream(f"{tls.url.replace('127.0.0.1', 'localhost')}/x")


def test_certificates_that_are_not_there_make_what_needs_them_unavailable(storage_with, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(SourceError, match="REQUESTS_CA_BUNDLE") as caught:
        storage_with().open_stream("https://127.0.0.1:1/x")
    assert caught.value.reason == "unavailable"


@pytest.mark.parametrize("way", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "config"])
def test_certificate_of_the_settings_of_aws_is_trusted_by_s3(
    storage_with, tls, certificate, keys, monkeypatch, way: str, tmp_path
) -> None:
    if way == "config":
        (tmp_path / "config").write_text(f"[default]\nca_bundle = {certificate / 'cert.pem'}\n")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    else:
        monkeypatch.setenv(way, str(certificate / "cert.pem"))
    tls.things["/b/x"] = tls.things["/x"]
    storage = storage_with(s3_endpoint=tls.url)
    with storage.open_stream("s3://b/x") as stream:
        assert stream.read() == DATA
    with pytest.raises(SourceError, match="not trusted" if way != "REQUESTS_CA_BUNDLE" else "404"):
        storage.open_stream(f"{tls.url}/nothing")


def test_certificate_of_nobody_is_not_trusted_by_s3(storage_with, tls, keys) -> None:
    with pytest.raises(SourceError, match="not trusted"):
        storage_with(s3_endpoint=tls.url).open_stream("s3://b/x")


@pytest.mark.parametrize("package", ["certifi", "botocore"])
@pytest.mark.parametrize("folder", [True, False])
def test_system_without_certificates_borrows_those_of_a_package(
    storage_with, tls, certificate, monkeypatch, tmp_path, package: str, folder: bool
) -> None:
    shutil.copy(certificate / "cert.pem", tmp_path / "cacert.pem")
    (tmp_path / "empty").mkdir()
    nothing = ssl.get_default_verify_paths()._replace(cafile=None, capath=str(tmp_path / "empty") if folder else None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    there = {package: ModuleSpec(package, None, origin=str(tmp_path / "__init__.py"))}
    monkeypatch.setattr(http_pools, "find_spec", there.get)
    with storage_with().open_stream(f"{tls.url}/x") as stream:
        assert stream.read() == DATA
