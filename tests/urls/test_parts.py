"""Parts of URLs, as the converter of Common Crawl's columnar index has them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data import shared

from crawlmill.urls.parts import url_parts


def test_parts_equal_those_of_common_crawls_converter():
    for line in shared("columnar/expected.jsonl").read_text().split("\n")[:-1]:
        row = json.loads(line)["row"]
        names = ("url_protocol", "url_host_name", "url_port", "url_path", "url_query")
        assert tuple(url_parts(row["url"])) == tuple(row[name] for name in names), row["url"]


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://EXAMPLE.com", ("http", "example.com", None, "", None)),
        ("http://example.com:80/?", ("http", "example.com", 80, "/", "")),
        ("http:////u:p@example.com:/a?b#c", ("http", "example.com", None, "/a", "b")),
        ("http://08.8.8.8/", ("http", "8.8.8.8", None, "/", None)),
        ("http://010.0.0.1/", ("http", "010.0.0.1", None, "/", None)),
        ("http://1.2.3.4./", ("http", "1.2.3.4", None, "/", None)),
        ("http://1.2.3.256/", ("http", "1.2.3.256", None, "/", None)),
        ("http://4294967296/", ("http", "4294967296", None, "/", None)),
        ("http://[::FFFF:1.2.3.4]:81/", ("http", "[::ffff:1.2.3.4]", 81, "/", None)),
        ("http://%45xample.com/", ("http", "example.com", None, "/", None)),
        ("http://faß.de/", ("http", "fass.de", None, "/", None)),
        ("dns:www.example.com", ("dns", "", None, "www.example.com", None)),
        ("http://example.com:99999999999/", ("http", "example.com", None, "/", None)),
        ("", ("", "", None, "", None)),
    ],
)
def test_hard_urls(url, parts):
    assert tuple(url_parts(url)) == parts


@given(st.text() | st.text("http:/.[]@%0123x?#\\").map("http://".__add__))
def test_every_text_has_parts(text):
    parts = url_parts(text)
    assert parts.port is None or 0 <= parts.port < 1 << 31
