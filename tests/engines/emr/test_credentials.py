"""A task that must have credentials never reads S3 without them, and never reports an input as lost for want of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.engines.emr.double import KEYS
from tests.engines.emr.metadata import MetadataService
from tests.engines.emr.services import refusing

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.storage import Storage, StorageOptions

PATIENT = {"AWS_METADATA_SERVICE_TIMEOUT": "5", "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "5"}
REQUIRED = StorageOptions(s3_credentials_required=True)


@pytest.fixture
def node(idle_emr, monkeypatch) -> Iterator[MetadataService]:
    """The metadata service of the machine that this is, where S3 has an object."""
    idle_emr.double.put("s3://mine/x", b"content")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with MetadataService() as service:
        for name, value in {**service.environment, "AWS_ENDPOINT_URL": idle_emr.double.url}.items():
            monkeypatch.setenv(name, value)
        yield service


def read(options: StorageOptions) -> bytes:
    with Storage(options) as storage:
        return storage.read_all("s3://mine/x", limit=100)


def test_credentials_of_a_slow_metadata_service_are_waited_for(node, monkeypatch):
    """EMR's nodes are told to wait; by default botocore waits for a second, once."""
    for name, value in PATIENT.items():
        monkeypatch.setenv(name, value)
    node.slow = 1
    assert read(REQUIRED) == b"content"
    assert node.asked[0] == "PUT /latest/api/token"


def test_missing_credentials_are_trouble_of_the_attempt_and_not_of_its_input(node):
    node.slow = 1
    with pytest.raises(CrawlmillError, match="the AWS credentials cannot be used: none are found") as caught:
        read(REQUIRED)
    assert not isinstance(caught.value, SourceError)
    node.broken = True
    with pytest.raises(SourceError) as denied:
        read(StorageOptions())
    assert denied.value.reason == "denied"


@pytest.mark.parametrize("code", ["ExpiredToken", "AccessDenied"])
def test_expired_credentials_are_trouble_of_the_attempt_and_a_refusal_is_not(monkeypatch, code):
    with refusing(403, f"<Error><Code>{code}</Code><Message>no</Message></Error>") as (url, _):
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": url}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(CrawlmillError) as caught:
            read(REQUIRED)
    assert isinstance(caught.value, SourceError) == (code == "AccessDenied")
    assert code in str(caught.value)
