"""Hosts of URLs, sound and not, and the domains they belong to."""

from __future__ import annotations

import sys

import pytest

from crawlmill.errors import MissingDependency
from crawlmill.urls import suffixes
from crawlmill.urls.hosts import host_kind, host_of, top_level_domain
from crawlmill.urls.suffixes import public_suffix, registered_domain

HOSTS = {
    "http://www.example.com/a?b#c": "www.example.com",
    "HTTPS://WWW.Example.COM:8080": "www.example.com",
    "http://example.com.": "example.com",
    "http://example.com:": "example.com",
    "http://example.com?q": "example.com",
    "http://example.com#f": "example.com",
    "http://example.com\\path": "example.com",
    " http://example.com/": "example.com",
    "ftp://user:p@ss@example.com/": "example.com",
    "http://a_b.-x-.example.com/": "a_b.-x-.example.com",
    "http://bücher.de/": "xn--bcher-kva.de",
    "http://b%C3%BCcher.de/": "xn--bcher-kva.de",
    "http://пример.рф/": "xn--e1afmkfd.xn--p1ai",
    "http://localhost/": "localhost",
    "http://192.0.2.1:80/": "192.0.2.1",
    "http://[2001:DB8::1]:80/": "[2001:db8::1]",
    "http://1.2.3.com/": "1.2.3.com",
    "http://www.insuranceforpets.net]www.x.com/": None,
    "http://a%3Fb.com/": None,
    "http://%ff.com/": None,
    "http://a..b.com/": None,
    "http://.com/": None,
    "http:///path": None,
    "http://": None,
    "http://[::1/": None,
    "http://[::g]/": None,
    "http://a b.com/": None,
    "http://a\0.com/": None,
    "http://a.com:port/": None,
    "http://256.1.1.1/": None,
    "http://1.2.3/": None,
    "http://3232235777/": None,
    "http://" + "a" * 64 + ".com/": None,
    "http://" + "a." * 126 + "com/": None,
    "http://" + "é" * 70 + ".com/": None,
    "mailto:a@example.com": None,
    "//example.com/": None,
    "example.com": None,
    "": None,
}


@pytest.mark.parametrize("url", HOSTS, ids=lambda url: ascii(url)[:40])
def test_host_of_a_url_is_a_host_or_nothing(url):
    host = host_of(url)
    assert host == HOSTS[url]
    assert host is None or host_kind(host) is not None


@pytest.mark.parametrize(
    ("host", "kind", "tld", "domain"),
    [
        ("www.example.com", "name", "com", "example.com"),
        ("a.b.example.co.uk", "name", "uk", "example.co.uk"),
        ("example.com", "name", "com", "example.com"),
        ("me.blogspot.com", "name", "com", "blogspot.com"),  # blogspot.com is in the private section only
        ("co.uk", "name", "uk", None),
        ("com", "name", "com", None),
        ("www.city.kawasaki.jp", "name", "jp", "city.kawasaki.jp"),  # an exception to *.kawasaki.jp
        ("a.b.kawasaki.jp", "name", "jp", "a.b.kawasaki.jp"),
        ("www.harbour.example", "name", "example", "harbour.example"),  # a suffix the list does not have
        ("a.xn--e1afmkfd.xn--p1ai", "name", "xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("localhost", "name", "localhost", None),
        ("192.0.2.1", "ipv4", None, None),
        ("[2001:db8::1]", "ipv6", None, None),
        ("not a host", None, None, None),
    ],
)
def test_host_has_kind_top_level_domain_and_registered_domain(host, kind, tld, domain):
    assert (host_kind(host), top_level_domain(host), registered_domain(host)) == (kind, tld, domain)


def test_private_suffixes_and_unknown_ones_count_as_asked():
    host = "a.me.blogspot.com"  # blogspot.com is in the private section only
    assert (public_suffix(host), registered_domain(host)) == ("com", "blogspot.com")
    assert (public_suffix(host, private=True), registered_domain(host, private=True)) == (
        "blogspot.com",
        "me.blogspot.com",
    )
    unlisted = "www.harbour.example"
    assert (public_suffix(unlisted), public_suffix(unlisted, unknown=False)) == ("example", None)
    assert registered_domain(unlisted, unknown=False) is None
    assert public_suffix("192.0.2.1") is None


def test_list_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    suffixes._suffixes.cache_clear()
    registered_domain.cache_clear()
    with pytest.raises(MissingDependency, match="pip install publicsuffixlist"):
        registered_domain("www.example.com")


@pytest.mark.parametrize("unit", ["。", "ä", "ä.", "%C3%A4", "1:", "a@"])
def test_host_of_very_many_characters_is_none(unit):
    assert host_of(f"http://{unit * 500_000}/") is None  # IDNA alone would take hours
