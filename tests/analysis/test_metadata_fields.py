"""Fields of metadata records by name: projections and conditions."""

from __future__ import annotations

import json

import pytest
from tests.formats.metadata_values import FAILURE, PAGE

from crawlmill.analysis.metadata_fields import field_at, project, where
from crawlmill.errors import UsageError

FIELDS = json.loads(PAGE)
URL = "http://www.Example.co.uk/"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("http_result", 200),
        ("http_headers.server", " nginx "),
        ("http_headers.x-dotted.name", "7"),
        ("redirect_from.http_headers.location", "/index"),
        ("archiveInfo.arcFileParition", 12),
        ("content.links.href", None),
        ("content.title.x", None),
        ("nothing", None),
        ("", None),
        (".", None),
        ("http_headers.", None),
    ],
)
def test_field_is_found_by_its_name(name, value):
    assert field_at(FIELDS, name) == value


def test_key_with_dots_wins_over_nesting_and_default_is_given():
    assert field_at({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert field_at({"a": {"c": 2}, "a.b": {"c": 3}}, "a.b.c") == 3
    assert field_at({"a": None}, "a", "default") is None
    assert field_at({"a": None}, "a.b", "default") == "default"


def test_projection_has_names_as_given_and_leaves_out_what_is_absent():
    names = [
        "text_simhash",
        "http_headers.server",
        "nothing",
        "content.meta_tags",
        "http_headers.nothing",
        "content_is_gzip",
    ]
    assert project(FIELDS, names) == {
        "text_simhash": -6830530949119961,
        "http_headers.server": " nginx ",
        "content.meta_tags": FIELDS["content"]["meta_tags"],
        "content_is_gzip": True,
    }
    assert list(project(FIELDS, ["md5", "content_len"])) == ["md5", "content_len"]


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ([], True),
        (["http_result=200"], True),
        (["http_result=0200"], False),
        (["http_result=200", "mime_type=text/html"], True),
        (["http_result=200", "mime_type=text/plain"], False),
        (["content_is_gzip=true"], True),
        (["content_is_gzip=True"], False),
        (["gunzip_failed=false"], False),
        (["failure_reason="], False),
        (["failure_reason=null"], False),
        (["text_simhash=-6830530949119961"], True),
        (["http_headers.server= nginx "], True),
        (["redirect_from.source_url=http://example.fr/"], True),
        (['content.meta_tags=[{"a":1}]'], False),
        (["host=www.example.co.uk"], True),
        (["host=WWW.example.co.uk"], True),
        (["domain=example.co.uk"], True),
        (["domain=co.uk"], False),
        (["tld=uk"], True),
        (["tld="], False),
    ],
)
def test_record_meets_all_conditions_or_not(conditions, matches):
    assert where(conditions)(URL, FIELDS) is matches


def test_value_may_have_equals_signs():
    assert where(["a=b=c"])("", {"a": "b=c"})


def test_url_without_host_or_domain_meets_no_condition_on_them():
    fields = json.loads(FAILURE)
    for name in ("host", "domain", "tld"):
        assert not where([f"{name}="])("", fields)
        assert not where([f"{name}=None"])("", fields)
    assert not where(["domain=None"])("http://192.0.2.1/", fields)


@pytest.mark.parametrize("condition", ["", "http_result", "=200"])
def test_condition_without_field_or_value_is_a_usage_error(condition):
    with pytest.raises(UsageError, match="--where: expected FIELD=VALUE, got"):
        where(["a=b", condition])
