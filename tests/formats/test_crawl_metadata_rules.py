"""What is wrong with metadata records, told beside an independent program that reads the same JSON Schema."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from tests.data import shared
from tests.formats import metadata_values
from tests.formats.metadata_values import PAGE

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012 import rules as crawl_metadata_rules
from crawlmill.formats.crawl2012.metadata import parse_metadata
from crawlmill.formats.crawl2012.rules import Violation, metadata_schema, refusal, validate
from crawlmill.mr.engines.shipping import zip_package

# The one deviation: an integer is written as one.
integers = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
INDEPENDENT = extend(Draft202012Validator, type_checker=integers)(metadata_schema())


def independent_paths(fields):
    """The paths of what the other program finds wrong."""
    found = set()
    for error in INDEPENDENT.iter_errors(fields):
        steps = list(error.absolute_path)
        if error.validator == "required":
            steps.append(re.match("'(.*)' is a required", error.message)[1])
        found.add("$" + "".join(map(step, steps)))
    return found


def step(key):
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else f"[{json.dumps(key)}]"


def shown(fields):
    return [str(violation) for violation in validate(fields)]


def record(**fields):
    return {"attempt_time": 1, "disposition": "SUCCESS", **fields}


@pytest.mark.parametrize("value", metadata_values.ALL, ids=lambda value: value[50:80])
def test_stored_record_is_valid(value):
    assert shown(json.loads(value)) == []
    assert independent_paths(json.loads(value)) == set()


@pytest.mark.parametrize(
    ("fields", "violations"),
    [
        ([], ["$: expected an object, got an array"]),
        (None, ["$: expected an object, got null"]),
        ({}, ["$.attempt_time: expected an integer, got nothing", "$.disposition: expected a string, got nothing"]),
        (record(attempt_time="now"), ['$.attempt_time: expected an integer, got "now"']),
        (record(attempt_time=1e12), ["$.attempt_time: expected an integer, got 1000000000000.0"]),
        (record(attempt_time=True), ["$.attempt_time: expected an integer, got true"]),
        (record(disposition="success"), ['$.disposition: expected "SUCCESS" or "FAILURE", got "success"']),
        (record(text_simhash=-(2**63)), []),
        (record(text_simhash=2**63 - 1), []),
        (record(text_simhash=2**63), [f"$.text_simhash: expected at most {2**63 - 1}, got {2**63}"]),
        (record(text_simhash=-(2**63) - 1), [f"$.text_simhash: expected at least -{2**63}, got -{2**63 + 1}"]),
        (record(text_simhash=None), ["$.text_simhash: expected an integer, got null"]),
        (record(content_len=-1), ["$.content_len: expected at least 0, got -1"]),
        (record(download_truncated=False), []),
        (record(download_truncated=1), ["$.download_truncated: expected true or false, got 1"]),
        (record(md5="0" * 31), [f'$.md5: expected text like ^[0-9A-Fa-f]{{32}}$, got "{"0" * 31}"']),
        (record(md5="0" * 32 + "\n"), [f'$.md5: expected at most 32 characters, got "{"0" * 32}\\n"']),
        (record(http_headers={"a-b": 1}), ['$.http_headers["a-b"]: expected a string, got 1']),
        (
            record(redirect_from={"http_headers": []}),
            ["$.redirect_from.http_headers: expected an object, got an array"],
        ),
        (record(unknown={"deep": [None]}, Content=1), []),
        (record(content={"type": "pdf-doc", "pages": 7}), []),
        (
            record(content={"links": [{"href": "a"}, {"href": None}, 3]}),
            ["$.content.links[1].href: expected a string, got null", "$.content.links[2]: expected an object, got 3"],
        ),
        (record(content={"link": {"href": 1}}), ["$.content.link.href: expected a string, got 1"]),
        (record(content={"link": [{"href": "a"}, []]}), ["$.content.link[1]: expected an object, got an array"]),
        (record(content={"link": "a"}), ['$.content.link: expected an object or an array, got "a"']),
        (
            record(content={"items": [{"content": [{"items": [{"content": {"title": 1}}]}]}]}),
            ["$.content.items[0].content[0].items[0].content.title: expected a string, got 1"],
        ),
        (
            record(archiveInfo={"arcSourceSegmentId": 1, "arcFileDate": 1, "arcFileParition": 0, "compressedSize": -1}),
            [
                "$.archiveInfo.compressedSize: expected at least 0, got -1",
                "$.archiveInfo.arcFileOffset: expected an integer, got nothing",
            ],
        ),
        (record(failure_detail=["a" * 100]), ["$.failure_detail: expected a string, got an array"]),
    ],
)
def test_violations_are_told_with_path_expected_and_actual(fields, violations):
    assert sorted(shown(fields)) == sorted(violations)
    assert independent_paths(fields) == {violation.path for violation in validate(fields)}


def test_long_value_is_cut_and_stays_one_encodable_line():
    (violation,) = validate(record(disposition="\n\ud800" + "é" * 100))
    assert violation.actual.startswith('"\\n\\ud800éé')
    assert violation.actual.endswith("é…")
    assert len(violation.actual) < 70
    str(violation).encode()


def test_violation_as_json_and_as_error():
    violations = validate(record(content_len=-1, server_ip=7))
    assert violations[0].to_json() == {"path": "$.content_len", "expected": "at least 0", "actual": "-1"}
    error = refusal(violations)
    assert error.reason == "bad-json"
    assert str(error) == "metadata record, $.content_len (and 1 more): expected at least 0, got -1"
    assert str(refusal(violations[1:])) == "metadata record, $.server_ip: expected a string, got 7"


def test_unparsable_value_has_a_violation_too():
    with pytest.raises(FormatError) as caught:
        parse_metadata(b'{"a":01}')
    violation = Violation.of(caught.value)
    assert (violation.path, violation.expected) == ("$", "an RFC 8259 text")
    assert re.fullmatch(r".+ at character \d", violation.actual)


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


RECORDS = [json.loads(value) for value in metadata_values.ALL]
PLACES = [(number, path) for number, fields in enumerate(RECORDS) for path in places(fields) if path]
ODD_VALUES = (
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | st.sampled_from(
        [-(2**63) - 1, -(2**63), -(2**31) - 1, -1, 0, 2**31 - 1, 2**31, 2**63 - 1, 2**63, "SUCCESS", "0" * 32]
    )
    | st.sampled_from([[], {}, [[]], [{}], {"a": 1}, {"a": "b"}, [{"a": None}, {"a": "b"}], [1, "a"], ["a"]])
)


@settings(derandomize=True, database=None, max_examples=800, deadline=None)
@given(st.data())
def test_changed_record_breaks_the_same_rules_for_both_programs(data):
    number, path = data.draw(st.sampled_from(PLACES))
    fields = copy.deepcopy(RECORDS[number])
    for _ in range(data.draw(st.integers(1, 2))):
        inner = fields
        for key in path[:-1]:
            inner = inner[key]
        if data.draw(st.integers(0, 4)):
            inner[path[-1]] = copy.deepcopy(data.draw(ODD_VALUES))
        else:
            del inner[path[-1]]
        path = data.draw(st.sampled_from([path for path in places(fields) if path]))
    violations = validate(fields)
    assert {violation.path for violation in violations} == independent_paths(fields)
    assert all(violation.expected and violation.actual for violation in violations)


def test_schema_is_one_and_every_key_of_it_is_explained():
    Draft202012Validator.check_schema(metadata_schema())
    for schema in (metadata_schema(), metadata_schema()["$defs"]["archive"]):
        for key, rule in schema["properties"].items():
            assert "description" in rule or key in ("server_ip", "content"), key


def test_keyword_that_nobody_understands_is_an_error(monkeypatch):
    monkeypatch.setattr(crawl_metadata_rules, "metadata_schema", lambda: {"$defs": {}, "multipleOf": 2})
    with pytest.raises(KeyError, match="multipleOf"):
        crawl_metadata_rules._rules.__wrapped__()


def test_schema_is_found_in_the_zip_that_goes_to_the_nodes(tmp_path):
    archive = zip_package(tmp_path / "crawlmill.zip")
    code = (
        "from crawlmill.formats.crawl2012 import rules as rules\n"
        "print(rules.__file__); print(*rules.validate({'attempt_time': 1}))"
    )
    command, environment = [sys.executable, "-S", "-c", code], os.environ | {"PYTHONPATH": str(archive)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith(str(archive))
    assert done.stdout.splitlines()[1] == "$.disposition: expected a string, got nothing"


def test_genuine_records_are_valid_for_both_programs():
    for _, value in metadata_values.real_values():
        fields = json.loads(value)
        assert shown(fields) == []
        assert independent_paths(fields) == set()


def samples():
    lines = shared("legacy/metadata_samples.jsonl").read_text("utf-8").split("\n")
    for sample in (json.loads(line) for line in lines if line):
        value = base64.b64decode(sample["value_b64"]) if "value_b64" in sample else sample["value"].encode()
        yield sample["name"], sample["kind"], value


def test_samples_are_valid_or_malformed_as_they_are_labelled():
    for name, kind, value in samples():
        try:
            violations = validate(parse_metadata(value).fields)
        except FormatError as error:
            violations = [Violation.of(error)]
        else:
            assert {violation.path for violation in violations} == independent_paths(json.loads(value)), name
        assert bool(violations) == (kind == "malformed"), (name, violations)


def test_valid_samples_are_written_as_they_were_stored():
    for name, kind, value in samples():
        if kind == "valid":
            assert parse_metadata(value).to_json().encode() == value, name


def test_page_is_not_changed_by_validation():
    fields = json.loads(PAGE)
    validate(fields)
    assert fields == json.loads(PAGE)
