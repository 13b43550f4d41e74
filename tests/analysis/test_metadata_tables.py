"""What metadata records count for, counted by hand."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.formats import metadata_values
from tests.formats.metadata_values import ATOM, FAILURE, MISSING, PAGE, RSS

from crawlmill.analysis.metadata_tables import metadata_tables, size_class


def counts(url, value):
    return sorted(metadata_tables(url, json.loads(value)), key=repr)


HOST = [("host", "name", 1), ("tld", "fr", 1), ("domain", "example.fr", 1)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (PAGE, [
            ("disposition", "SUCCESS", 1), ("status", 200, 1), ("redirect", 301, 1), ("server", "nginx", 1),
            ("mime", "text/html", 1), ("charset", "UTF-8", 1), ("detector", 1, 1), ("parsed", "html", 1),
            ("gzip", "gunzipped", 1), ("truncated", True, 1),
            ("content_len", 4096, 1), ("download_size", 4096, 1), ("gunzip_content_len", 16384, 1),
            ("links", "text/css", 1), ("links", "text/javascript", 1), ("links", "img", 1), ("links", "a", 2),
            ("pages_with_links", "text/css", 1), ("pages_with_links", "text/javascript", 1), ("pages_with_links", "img", 1),
            ("pages_with_links", "a", 1), ("links_per_page", 4, 1),
        ]),
        (FAILURE, [("disposition", "FAILURE", 1), ("failure", "DNSFailure", 1), ("redirect", 0, 1)]),
        (MISSING, [("disposition", "SUCCESS", 1), ("status", 404, 1), ("server", None, 1), ("content_len", 0, 1)]),
        (RSS, [
            ("disposition", "SUCCESS", 1), ("status", 200, 1), ("server", None, 1), ("mime", "text/xml", 1),
            ("charset", "UTF-8", 1), ("detector", 0, 1), ("parsed", "rss", 1), ("gzip", "none", 1), ("truncated", False, 1),
            ("content_len", 512, 1), ("download_size", 512, 1),
        ]),
        (ATOM, [
            ("disposition", "SUCCESS", 1), ("status", 200, 1), ("server", None, 1), ("mime", "application/atom+xml", 1),
            ("charset", "UTF-8", 1), ("detector", 0, 1), ("parsed", "atom", 1), ("gzip", "none", 1), ("truncated", False, 1),
            ("content_len", 64, 1), ("download_size", 64, 1),
        ]),
    ],
    ids=["page", "failure", "missing", "rss", "atom"],
)  # fmt: skip
def test_record_counts_in_these_tables(value, expected):
    assert counts("http://www.example.fr/x", value) == sorted([*expected, *HOST], key=repr)


@pytest.mark.parametrize(
    ("url", "host", "tld", "domain"),
    [
        ("http://www.example.co.uk/", "name", "uk", "example.co.uk"),
        ("http://192.0.2.1/", "ipv4", None, None),
        ("http://[::1]/", "ipv6", None, None),
        ("http://co.uk/", "name", "uk", None),
        ("http://www.insuranceforpets.net]www.x/", None, None, None),
        ("", None, None, None),
    ],
)
def test_host_of_every_url_counts(url, host, tld, domain):
    assert counts(url, b"{}") == sorted([("host", host, 1), ("tld", tld, 1), ("domain", domain, 1)], key=repr)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"download_size": 1, "content_is_gzip": True, "gunzip_failed": True}, ("gzip", "failed", 1)),
        ({"download_size": 1, "content_is_gzip": False, "download_truncated": False}, ("truncated", False, 1)),
        ({"content": {}}, ("parsed", None, 1)),
        ({"content": {}, "parsed_as": "feed"}, ("parsed", "feed", 1)),
        ({"content": {"type": "html-doc"}}, ("links_per_page", 0, 1)),
        ({"content": {"type": "html-doc", "links": [{"href": "a"}]}}, ("links", None, 1)),
        ({"redirect_from": {}}, ("redirect", 0, 1)),
        ({"http_headers": {"server": "\tApache \n"}}, ("server", "Apache", 1)),
    ],
)
def test_unusual_record_counts(fields, expected):
    assert expected in metadata_tables("http://a.example/", fields)


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, 0), (1, 1), (2, 2), (3, 2), (4, 4), (4095, 2048), (4096, 4096), (8191, 4096), (2**62, 2**62)],
)
def test_size_class_is_the_power_of_two_below(number, name):
    assert size_class(number) == name


def test_tables_of_genuine_records_add_up():
    totals: Counter = Counter()
    for url, value in metadata_values.real_values():
        for table, item, number in metadata_tables(url, json.loads(value)):
            totals[table] += number
            totals[table, item] += number
    # Counted with grep.
    assert (totals["disposition"], totals["status"], totals["failure"], totals["redirect"]) == (50, 45, 5, 9)
    assert (totals["host"], totals["tld"], totals["domain"]) == (50, 50, 50)
    assert (totals["mime"], totals["charset"], totals["parsed", "html"]) == (36, 36, 35)
    assert (totals["gzip", "gunzipped"], totals["gzip", "none"]) == (13, 23)
    assert (totals["links"], totals["links", "a"], totals["links", "text/javascript"]) == (3552, 2401, 167)
    assert totals["links_per_page"] == 35
