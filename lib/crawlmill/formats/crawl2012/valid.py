"""Metadata records of 2012 for jobs: parsed and validated, or a description of what is wrong.

    >>> valid_metadata(b'{"attempt_time":1341708194671,"disposition":"SUCCESS","http_result":200}').http_status
    200

A job may rely on the types of the values in the result of `valid_metadata`. Spec: see `metadata` and `rules`.
"""

from __future__ import annotations

import base64
from typing import Any

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.metadata import MetadataRecord, parse_metadata
from crawlmill.formats.crawl2012.rules import Violation, refusal, validate

__all__ = ["invalid_metadata", "valid_metadata"]


def valid_metadata(value: bytes) -> MetadataRecord:
    """Parse and validate a value of a metadata file.

    Raises:
        FormatError: `bad-encoding`: the value is not UTF-8; `bad-json`: it is not a JSON object, or breaks a rule.
    """
    record = parse_metadata(value)
    if violations := validate(record.fields):
        raise refusal(violations)
    return record


def invalid_metadata(value: bytes) -> dict[str, Any]:
    """What is wrong with a value, and the value itself: parsed if it is a JSON object, else as text, else in base64.

    `{"invalid": [{"path", "expected", "actual"}, …], "value": …}`
    """
    try:
        record = parse_metadata(value)
    except FormatError as error:
        return {"invalid": [Violation.of(error).to_json()], "value": _shown(value)}
    return {"invalid": [violation.to_json() for violation in validate(record.fields)], "value": record.fields}


def _shown(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}
