"""`sitemaps`: what robots.txt files name, by the rules of RFC 9309."""

from __future__ import annotations

import gzip
import json

import pytest
from tests import builders
from tests.mr.helpers import rows, run_here

from crawlmill.analysis.links.robots import is_robots_txt, sitemaps_in

URL = "http://example.com/robots.txt"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"Sitemap: /a\rsitemap:b\n SITEMAP\t:\tc \r\nSiteMap: //d.example", ["/a", "/b", "/c", "http://d.example/"]),
        (b"\xef\xbb\xbfSitemap: /a\n# Sitemap: /b\nSitemap: /c#d\nSitemap: # e\nSitemap:\n", ["/a", "/c"]),
        (b"Disallow: /sitemap: x\nX-Sitemap: /a\nSitemap /b\nSitemap\n: /c\n", []),
        (
            b"Sitemap: /a:b\nSitemap: /a b\nSitemap: /\xe9\nSitemap: /\xc3\xa9",
            ["/a:b", "/a%20b", "/%EF%BF%BD", "/%C3%A9"],
        ),
        (b"Sitemap: http://[x]/\nSitemap: /a\nSitemap: /a", ["/a", "/a"]),
        (b"\n" + b" " * 100_000 + b"x\n" * 100_000 + b"sitemap: /a", ["/a"]),
    ],
)
def test_lines_are_read_as_rfc_9309_says(body, expected):
    found = [target.removeprefix("http://example.com") for target in sitemaps_in(body, URL)]
    assert found == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (URL, True),
        ("https://a.example:8080/robots.txt?x", True),
        ("http://a.example/x/../robots.txt", True),
        ("http://a.example/x/robots.txt", False),
        ("http://a.example/?/robots.txt", False),
        ("http://a.example/ROBOTS.txt", False),
        ("http://[x/robots.txt", False),
    ],
)
def test_path_decides_what_a_robots_txt_is(url, expected):
    assert is_robots_txt(url) is expected


def robots(host, body, status="HTTP/1.1 200 OK", *more):
    return builders.response(f"http://{host}/robots.txt", body, [("Content-Type", "text/plain"), *more], status=status)


@pytest.fixture
def crawls(crawl):
    chunked = b"9\r\nSitemap: \r\n1b\r\nhttp://shared.example/s.xml\r\n0\r\n\r\n"
    records = [
        builders.warcinfo(),
        robots("b.example", b"Sitemap: http://shared.example/s.xml\n" * 2),
        robots("A.Example.:80", b"Sitemap: http://shared.example/s.xml\nSitemap: x\n"),
        robots("packed.example", gzip.compress(b"Sitemap: /z"), "HTTP/1.1 200 OK", ("Content-Encoding", "gzip")),
        robots("chunked.example", chunked, "HTTP/1.1 200 OK", ("Transfer-Encoding", "chunked")),
        robots("gone.example", b"Sitemap: /no", "HTTP/1.1 404 Not Found"),
        builders.response("http://page.example/", b"Sitemap: /no"),
        builders.record("response", b"Sitemap: /no", "dns:a.example/robots.txt", "text/dns"),
        robots("large.example", b"x" * 2000 + b"\nSitemap: /late\n"),
    ]
    arc = builders.arc([("http://arc.example/robots.txt", builders.http([], b"Sitemap: /arc"))])
    return crawl.list(crawl.write("a", builders.pack(records)), crawl.write("b", arc))


EXPECTED = {
    "http://shared.example/s.xml": ["a.example", "b.example", "chunked.example"],
    "http://a.example./x": ["a.example"],
    "http://packed.example/z": ["packed.example"],
    "http://large.example/late": ["large.example"],
    "http://arc.example/arc": ["arc.example"],
}


def test_hosts_are_gathered_by_sitemap(job, crawls):
    ended = run_here(job.Sitemaps, "-r", "inline", crawls)
    assert (ended.code, {json.loads(key): value for key, value in ended.pairs.items()}) == (0, EXPECTED), ended.err


def test_a_file_that_is_too_large_is_lost_by_name(job, crawls, tmp_path):
    ended = run_here(job.Sitemaps, "-r", "inline", "--max-body", "1000", "--ledger", tmp_path / "l", crawls)
    assert ended.code == 2
    assert '"http://large.example/late"' not in ended.pairs
    assert len(ended.pairs) == len(EXPECTED) - 1
    assert [row["lost"] for row in rows(tmp_path / "l").values() if row["lost"]] == [{"too-large": 1}]
