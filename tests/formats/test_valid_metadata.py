"""Metadata records as jobs take them."""

from __future__ import annotations

import json

import pytest
from tests.formats.metadata_values import FAILURE, MISSING, PAGE, RSS

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.valid import invalid_metadata, valid_metadata


@pytest.mark.parametrize("value", [PAGE, FAILURE, MISSING, RSS])
def test_valid_value_is_parsed(value):
    record = valid_metadata(value)
    assert record.fields == json.loads(value)
    assert record.raw == value


@pytest.mark.parametrize(
    ("value", "reason", "path", "shown"),
    [
        (b'{"attempt_time":1,"disposition":7}', "bad-json", "$.disposition", {"attempt_time": 1, "disposition": 7}),
        (b"null", "bad-json", "$", "null"),
        (b'{"attempt_time":01}', "bad-json", "$", '{"attempt_time":01}'),
        (b"", "bad-json", "$", ""),
        (b'{"a":"\xff"}', "bad-encoding", "$", {"base64": "eyJhIjoi/yJ9"}),
    ],
)
def test_invalid_value_is_refused_and_described(value, reason, path, shown):
    with pytest.raises(FormatError) as caught:
        valid_metadata(value)
    assert caught.value.reason == reason
    described = invalid_metadata(value)
    assert [violation["path"] for violation in described["invalid"]] == [path]
    assert described["value"] == shown
    assert list(described) == ["invalid", "value"]
