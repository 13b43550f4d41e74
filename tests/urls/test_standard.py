"""URLs by the URL standard: the standard's own examples, cases of its test suite, and what Node.js makes of references."""

from __future__ import annotations

import json

import pytest
from tests.data import shared

from crawlmill.urls import domains
from crawlmill.urls.standard import Resolver, parse_url

PAGE = "http://h.example/d/e/f?q#g"

# (reference, base, what the URL standard makes of them): from the test suite of the standard (web-platform-tests),
# and from its text.
CASES = [
    ("", PAGE, "http://h.example/d/e/f?q"),
    ("#", PAGE, "http://h.example/d/e/f?q#"),
    ("?", PAGE, "http://h.example/d/e/f?"),
    ("?a b'\"<>é", PAGE, "http://h.example/d/e/f?a%20b%27%22%3C%3E%C3%A9"),
    ("g#a b\"<>`'é", PAGE, "http://h.example/d/e/g#a%20b%22%3C%3E%60'%C3%A9"),
    ("a b\"<>^`{}'|~", PAGE, "http://h.example/d/e/a%20b%22%3C%3E%5E%60%7B%7D'|~"),
    ("../../../x", PAGE, "http://h.example/x"),
    ("%2e%2E/./x/.%2e/y/.", PAGE, "http://h.example/d/y/"),
    (".hidden/..x/%zz", PAGE, "http://h.example/d/e/.hidden/..x/%zz"),
    ("//", PAGE, None),
    ("///", PAGE, None),
    ("///x.example", PAGE, "http://x.example/"),
    ("\\\\x.example\\y", PAGE, "http://x.example/y"),
    (" \x00\t\n/x\ty\r \x1f", PAGE, "http://h.example/xy"),
    ("ht\ntp:x", PAGE, "http://h.example/d/e/x"),
    ("https:x", PAGE, "https://x/"),
    ("http:/x", PAGE, "http://h.example/x"),
    ("http://x.example:0080", PAGE, "http://x.example/"),
    ("http://x.example:65535?y", PAGE, "http://x.example:65535/?y"),
    ("http://x.example:65536", PAGE, None),
    ("http://x.example:8a", PAGE, None),
    ("http://:80/", PAGE, None),
    ("http://a:b:@c@x.example/", PAGE, "http://a:b%3A%40c@x.example/"),
    ("http://@x.example/", PAGE, "http://x.example/"),
    ("http://@/", PAGE, None),
    ("http://X_1.-a-.Example./", PAGE, "http://x_1.-a-.example./"),
    ("http://a..b/", PAGE, "http://a..b/"),
    ("http://%41.example", PAGE, "http://a.example/"),
    ("http://a%2f.example", PAGE, None),
    ("http://a%00.example", PAGE, None),
    ("http://a b/", PAGE, None),
    ("http://1.2.3", PAGE, "http://1.2.0.3/"),
    ("http://0x7F.0.0.01.", PAGE, "http://127.0.0.1/"),
    ("http://1.2.3.4.5", PAGE, None),
    ("http://256.1.1.1", PAGE, None),
    ("http://x.08", PAGE, None),
    ("http://4294967295", PAGE, "http://255.255.255.255/"),
    ("http://4294967296", PAGE, None),
    ("http://" + "9" * 5000, PAGE, None),
    ("http://[::1]:80/", PAGE, "http://[::1]/"),
    ("http://[1:0:0:2:0:0:0:3]:8080", PAGE, "http://[1:0:0:2::3]:8080/"),
    ("http://[::FFFF:1.2.3.4]", PAGE, "http://[::ffff:102:304]/"),
    ("http://[1:2:3:4:5:6:7:8]", PAGE, "http://[1:2:3:4:5:6:7:8]/"),
    ("http://[1:2:3:4:5:6:0:8]", PAGE, "http://[1:2:3:4:5:6:0:8]/"),
    ("http://[::1%eth0]/", PAGE, None),
    ("http://[::1/", PAGE, None),
    ("http://Bücher.example", PAGE, "http://xn--bcher-kva.example/"),
    ("http://faß.example", PAGE, "http://xn--fa-hia.example/"),
    ("http://☃.example。net", PAGE, "http://xn--n3h.example.net/"),
    ("http://Ｇｏ.example", PAGE, "http://go.example/"),
    ("http://xn--a/", PAGE, "http://xn--a/"),
    ("http://xn--a.é/", PAGE, None),
    ("http://\xad/", PAGE, None),
    ("http://a\u200db.é", PAGE, None),
    ("http://אa.example", PAGE, None),
    ("http://" + "é" * 2000, PAGE, None),
    ("mailto:a b@c", PAGE, "mailto:a b@c"),
    ("javascript:x('é') #y", PAGE, "javascript:x('%C3%A9')%20#y"),
    ("data:,a?b", PAGE, "data:,a?b"),
    ("foo:/a/../b", PAGE, "foo:/b"),
    ("foo:/.//x", PAGE, "foo:/.//x"),
    ("foo://", PAGE, "foo://"),
    ("foo://A b/", PAGE, None),
    ("foo://É:80/x\\y", PAGE, "foo://%C3%89:80/x\\y"),
    ("x", "mailto:a", None),
    ("#x", "mailto:a", "mailto:a#x"),
    ("", "mailto:a", None),
    ("file:x", PAGE, "file:///x"),
    ("/C|/../x", "file:///d", "file:///C:/x"),
    ("/x", "file:///C:/y", "file:///C:/x"),
    ("//LocalHost/x", "file:///", "file:///x"),
    ("//C:/x", "file://h/y", "file:///C:/x"),
    ("\ud800", PAGE, "http://h.example/d/e/%EF%BF%BD"),
]


@pytest.mark.parametrize(("reference", "base", "expected"), CASES)
def test_references_are_resolved_as_the_url_standard_says(reference, base, expected):
    assert Resolver(base).resolve(reference) == expected


def test_references_are_resolved_as_node_resolves_them():
    cases = json.loads(shared("structured/urls.json").read_text())
    wrong = [case for case in cases if Resolver(*case[:2]).resolve(case[2]) != case[3]]
    assert len(cases) > 100
    assert not wrong


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (None, "http://h.example/d/e/x"),
        ("", "http://h.example/d/e/x"),
        ("../b/", "http://h.example/d/b/x"),
        ("//cdn.example", "http://cdn.example/x"),
        ("ftp://f.example/a/b", "ftp://f.example/a/x"),
        ("http://[bad/", "http://h.example/d/e/x"),
        ("data:text/html,", "http://h.example/d/e/x"),
        ("JavaScript:void(0)", "http://h.example/d/e/x"),
        ("mailto:a@b", None),
    ],
)
def test_a_base_that_is_unusable_is_ignored(base, expected):
    assert Resolver(PAGE, base).resolve("x") == expected


def test_a_page_whose_url_is_none_has_absolute_links_only():
    page = Resolver("no url")
    assert page.base is None
    assert page.resolve("/x") is None
    assert page.resolve("http://x.example") == "http://x.example/"
    assert Resolver("no url", "http://x.example/a/").resolve("b") == "http://x.example/a/b"


def test_usual_references_are_resolved_as_all_are():
    page = Resolver(PAGE)
    parts = [
        "",
        "a",
        "/",
        "//",
        "?",
        "#",
        ".",
        "%",
        "%2e",
        ":",
        "http://x.example",
        "HTTP:",
        "é",
        "'",
        "[",
        "\\",
        "x=1&y",
    ]
    for first in parts:
        for second in parts:
            for third in parts:
                reference = first + second + third
                url = parse_url(reference, page.base)
                assert page.resolve(reference) == (None if url is None else str(url)), reference


def test_parts_of_a_url():
    url = parse_url("HTTPS://u:p@Example.com:8443/a/../b?c#d")
    assert (url.scheme, url.username, url.password, url.host, url.port) == ("https", "u", "p", "example.com", 8443)
    assert (url.pathname, url.query, url.fragment, url.special) == ("/b", "c", "d", True)


def test_hosts_of_megabytes_are_not_kept():
    before = domains._known_host.cache_info().currsize
    assert parse_url(f"http://{'A' * 1_000_000}.example/").host == f"{'a' * 1_000_000}.example"
    assert domains._known_host.cache_info().currsize == before
