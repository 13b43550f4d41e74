"""A CDX API as an index: what it is asked, what its answers mean, what becomes of those that are none."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from tests.indexes.api_server import NOTHING, ApiServer, Said, in_pages
from tests.indexes.captures import make_lines
from tests.indexes.test_lookup import query

from crawlmill.errors import UsageError
from crawlmill.indexes.cdx_api.index import ApiOptions
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import Query
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.storage import Storage, StorageOptions
from crawlmill.urls.patterns import parse_pattern

LINES = [line for line in make_lines(2000, seed=5) if line.startswith("com,example)/")][:40]
HOST = {"match": "host"}


@pytest.fixture(autouse=True)
def direct(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def ask(names, *queries, problems=None, waits=None, retries=2, index_url=None, limits=(1000.0, 2), **options):
    """The lines of each query. `waits` gets the seconds that are waited, which take no time."""
    found = [] if problems is None else problems
    slept = [] if waits is None else waits
    names = [names] if isinstance(names, str) else names
    settings = StorageOptions(retries=retries, max_requests_per_second=limits[0], max_connections_per_host=limits[1])
    with Storage(settings, sleep=slept.append) as storage:
        places = find_indexes(names, storage, index_url=index_url)
        indexes = open_indexes(places, storage, found.append, ApiOptions(**options))
        answers = [b"".join(chunks).decode().splitlines() for _, chunks in look_up(indexes, queries, found.append)]
    assert problems is not None or not found, found
    return answers


def test_pages_are_counted_first_and_come_in_order():
    with ApiServer(in_pages(LINES, 7)) as api:
        assert ask(api.url, query("example.com", **HOST)) == [LINES]
        assert api.asked[0] == {"url": "example.com", "matchType": "host", "allowFuzzy": "0", "showNumPages": "true"}
        assert sorted(api.pages(), key=int) == [str(n) for n in range(6)]


@pytest.mark.parametrize("empty", [0, 2, 5])
def test_an_empty_page_is_no_end(empty):
    with ApiServer(in_pages(LINES, 7, **{f"page{empty}": b""})) as api:
        assert ask(api.url, query("example.com", **HOST)) == [LINES[: empty * 7] + LINES[empty * 7 + 7 :]]


@pytest.mark.parametrize(
    "nothing",
    [
        Said(NOTHING, 404),
        Said(NOTHING.replace(b"message", b"error"), 404),
        b'{"pages": 0, "pageSize": 5, "blocks": 0}',
        b"",
    ],
    ids=["404", "404 of older servers", "no pages", "empty"],
)
def test_nothing_found_is_no_line_and_no_loss(nothing):
    with ApiServer(lambda _: nothing) as api:
        assert ask(api.url, query("example.com")) == [[]]


def test_another_404_is_a_lost_index_that_is_told_once():
    with ApiServer(lambda _: Said(b"<html>404</html>", 404)) as api:
        problems = []
        assert ask(api.url, query("a.com"), query("b.com"), problems=problems) == [[], []]
        assert [error.reason for error in problems] == ["not-found"]
        assert len(api.asked) == 1


TROUBLE = {
    "503": Said(b"<html>", 503),
    "429": Said(b"", 429),
    "504": Said(b"", 504),
    "403": Said(b"slow down", 403),
    "HTML with 200": b"<!DOCTYPE html><html>back soon</html>\n",
    "cut": Said(LINES[7].encode()[:30], length=900),
    "torn within a line": Said("\n".join(LINES[7:13]).encode(), length=None),
    "a message": b'{"error": "try again"}\n',
    "a line of something else": b"what is this\n",
    "cut gzip": Said(gzip.compress(LINES[7].encode())[:30], headers={"content-encoding": "gzip"}),
}


@pytest.mark.parametrize("what", TROUBLE)
def test_trouble_is_asked_again_and_nothing_is_lost_doubled_or_half(what):
    with ApiServer(in_pages(LINES, 7, page1=[TROUBLE[what], TROUBLE[what]])) as api:
        assert ask(api.url, query("example.com", **HOST)) == [LINES]
        assert api.pages().count("1") == 3


@pytest.mark.parametrize("what", TROUBLE)
def test_a_page_that_is_lost_is_named_and_the_others_are_given(what):
    with ApiServer(in_pages(LINES, 7, page2=TROUBLE[what])) as api:
        problems = []
        assert ask(api.url, query("example.com", **HOST), problems=problems) == [LINES[:14] + LINES[21:]]
        assert len(problems) == 1
        assert "page 2 of example.com is lost" in str(problems[0])


def test_a_server_that_fails_three_pages_in_a_row_is_not_asked_for_the_rest():
    dead = {f"page{n}": Said(b"", 503) for n in range(1, 40)}
    with ApiServer(in_pages(LINES, 1, **dead)) as api:
        problems = []
        assert ask(api.url, query("example.com", **HOST), problems=problems) == [LINES[:1]]
        assert [re.search(r"pages? [\d to]+ of", str(error))[0] for error in problems] == [
            "page 1 of",
            "page 2 of",
            "pages 3 to 39 of",
        ]
        assert len(set(api.pages())) <= 8


def test_retry_after_is_waited_for():
    with ApiServer(in_pages(LINES, 7, page1=[Said(b"", 503, {"Retry-After": "7"})])) as api:
        waits = []
        ask(api.url, query("example.com", **HOST), waits=waits)
        assert max(waits) >= 6.9


def test_a_page_past_the_end_is_named():
    with ApiServer(in_pages(LINES, 7, count=b'{"pages": 7, "pageSize": 1, "blocks": 7}')) as api:
        problems = []
        assert ask(api.url, query("example.com", **HOST), problems=problems) == [LINES]
        assert "HTTP 400 Bad Request: Page 6 invalid" in str(problems[0])


def test_too_few_pages_for_the_blocks_are_told_and_all_are_read():
    with ApiServer(in_pages(LINES, 7, count=b'{"pages": 2, "pageSize": 1, "blocks": 6}')) as api:
        problems = []
        assert ask(api.url, query("example.com", **HOST), problems=problems) == [LINES]
        assert [error.reason for error in problems] == ["bad-length"]


def test_a_page_that_lacks_the_beginning_of_a_block_is_asked_again_then_told():
    """pywb 2.10 lists the blocks of its index so, for showPagedIndex and output=json."""
    blocks = [
        json.dumps({"urlkey": " ".join(line.split(" ")[:2]), "part": "a", "offset": 0, "length": 1, "lineno": n})
        for n, line in enumerate(LINES[::7])
    ]
    for short, lost in (([2], 0), ([2, 2], 1)):
        whole = in_pages(LINES, 14)
        short = list(short)

        def answer(asked, whole=whole, short=short):
            if "showPagedIndex" in asked:
                return "".join(f"{block}\n" for block in blocks).encode()
            if "showNumPages" in asked:
                return b'{"pages": 3, "pageSize": 2, "blocks": 6}'
            said = whole(asked)
            return said[: said.index(b"\n") + 1] if asked["page"] == "1" and short and short.pop() else said

        with ApiServer(answer) as api:
            problems = []
            found = ask(api.url, query("example.com", **HOST), problems=problems)[0]
            assert len(problems) == lost
            assert found == (LINES if not lost else LINES[:15] + LINES[28:])
            assert not lost or (problems[0].reason == "truncated" and "page 1 of example.com" in str(problems[0]))


def test_only_what_means_the_same_everywhere_is_sent():
    with ApiServer(lambda _: Said(NOTHING, 404)) as api, ApiServer(lambda _: b"") as wayback:
        filters = [
            "=status:200",
            "!~mime:text/.*",
            "=charset:UTF-8",
            "=languages:eng",
            "~url:.*x",
            "url:%41",
            "=status:",
            "word",
        ]
        ask(api.url, query("*.example.com/*", start="20250", end="2025", filters=filters))
        ask(api.url, query("*.example.com", start="202", filters=["!status:-"]))
        assert api.given[0]["url"] == ["example.com/"]
    asked = {}
    with ApiServer(in_pages(LINES, 50)) as api:
        ask(api.url, query("*.example.com", start="20250", end="2025", filters=filters))
        asked = api.given[-1]
        assert asked["filter"] == ["=status:200", "!~mime:text/.*"]
        assert (asked["from"], asked["to"]) == (["2025"], ["2025"])
        ask(api.url, query("*.example.com", start="202", filters=["!status:-", "url:shop"]))
        assert "from" not in api.given[-1]
        assert api.given[-1]["filter"] == ["url:shop"]
    assert not wayback.asked


def test_filters_times_and_orders_are_applied_here_too():
    with ApiServer(in_pages(LINES, 7)) as api:
        found = ask(api.url, query("example.com", **HOST, filters=["=status:404"], start="2012"))[0]
        assert found == [line for line in LINES if '"status": "404"' in line and line.split(" ")[1] >= "2012"]
        exact = ask(api.url, query("http://example.com/a", end="2015"))[0]
        assert exact == [line for line in LINES if line.split(" ")[1][:4] <= "2015"]
        assert ask(api.url, query("example.com", **HOST, sort="reverse", limit=3)) == [LINES[:-4:-1]]


def test_a_limit_is_sent_where_the_first_captures_are_those_wanted():
    with ApiServer(in_pages(LINES, 7)) as api:
        assert ask(api.url, query("example.com", **HOST, limit=3)) == [LINES[:3]]
        assert api.asked[-1]["limit"] == "3"
        assert ask(api.url, query("example.com", **HOST, limit=3, filters=["=mime:text/html"]))
        assert "limit" not in api.asked[-1]
        ask(api.url, query("example.com", **HOST), page_size=50)  # pywb would end a page after 100,000 lines
        assert int(api.asked[-1]["limit"]) >= 150_000
        assert api.asked[-1]["pageSize"] == "50"


URLS = [
    ("*.example.com", {}, "example.com", "domain"),
    ("http://a.org/x*", {}, "http://a.org/x", "prefix"),
    ("a.org:8080/x", {}, "http://a.org:8080/x", "exact"),
    ("a.org", {"match": "host"}, "a.org", "host"),
]
KEYS = [
    ("org,a)/x?y=1", "exact", "http://a.org/x?y=1"),
    ("7,2,0,192)/", "prefix", "http://192.0.2.7/"),
    ("com,example:8080)/", "exact", "http://example.com:8080/"),
    ("com,example", "domain", "http://example.com/"),
    ("2001:db8::1)/x", "exact", "http://[2001:db8::1]/x"),
    ("dns:a.org", "exact", "dns:a.org"),
]


def test_a_pattern_is_sent_as_a_url_and_a_match_also_where_it_is_a_key():
    with ApiServer(lambda _: Said(NOTHING, 404)) as api:
        queries = [query(text, **more) for text, more, *_ in URLS]
        queries += [Query(parse_pattern(key, match, is_key=True)) for key, match, _ in KEYS]
        ask(api.url, *queries)
        wanted = [(url, match) for _, _, url, match in URLS] + [(url, match) for _, match, url in KEYS]
        assert [(asked["url"], asked["matchType"]) for asked in api.asked] == wanted


WAYBACK = [
    f"com,example)/ 2001010100000{n} http://example.com/{n} text/html {'-' if n == 3 else 200} ABC {n + 10}"
    for n in range(9)
]
AS_CDXJ = [
    f'com,example)/ 2001010100000{n} {{"url": "http://example.com/{n}", "mime": "text/html", '
    + ('"status": "200", ' if n != 3 else "")
    + f'"digest": "ABC", "length": "{n + 10}"}}'
    for n in range(9)
]


def resuming(rows=WAYBACK, trouble=()):
    trouble = list(trouble)

    def answer(asked):
        if trouble and (said := trouble.pop(0)) is not None:
            return said
        start = int(asked.get("resumeKey", "key 0").removeprefix("key "))
        text = "".join(f"{row}\n" for row in rows[start : start + 4])
        return (text + (f"\nkey+{start + 4}\n" if start + 4 < len(rows) else "")).encode()

    return answer


def test_wayback_is_followed_by_resume_keys():
    trouble = [Said(b"com,exa", length=None), None, Said(b"", 503), None]
    with ApiServer(resuming(trouble=trouble), "/cdx/search/cdx") as api:
        assert ask(api.url, query("*.example.com")) == [AS_CDXJ]
        assert {"allowFuzzy", "page"} & set(api.asked[0]) == set()
        assert api.asked[0]["showResumeKey"] == "true"


def test_a_resume_key_that_comes_again_ends_the_query_and_is_told():
    with ApiServer(
        lambda _: b"com,a)/ 20010101000000 http://a.com/ text/html 200 A 1\n\nkey\n", "/cdx/search/cdx"
    ) as api:
        problems = []
        assert len(ask(api.url, query("a.com"), problems=problems)[0]) == 2
        assert "resume key again" in str(problems[0])


def test_rows_of_json_and_gzip_are_read_too():
    table = [
        ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"],
        *(row.split(" ") for row in WAYBACK),
    ]
    with ApiServer(
        lambda _: Said(json.dumps(table).encode(), headers={"Content-Encoding": "gzip"}), "/cdx/search/cdx"
    ) as api:
        assert ask(api.url, query("*.example.com")) == [AS_CDXJ]


def test_wayback_at_another_address_shows_from_its_page_count():
    with ApiServer(lambda asked: b"3\n" if "showNumPages" in asked else resuming()(asked), "/other") as api:
        assert ask(f"api:{api.url}", query("*.example.com")) == [AS_CDXJ]


def test_a_server_without_pages_is_asked_for_all():
    """pywb answers so from a CDXJ file that is not a cluster: it takes no notice of pages."""
    whole = "".join(f"{line}\n" for line in LINES).encode()
    with ApiServer(lambda _: whole) as api:
        assert ask(api.url, query("example.com", **HOST)) == [LINES]
        assert [asked.get("limit") for asked in api.asked] == [None, str(10**9)]


def test_several_apis_are_merged_and_a_dead_one_costs_only_its_own():
    with ApiServer(in_pages(LINES[::2], 4)) as one, ApiServer(in_pages(LINES[1::2], 3)) as two:
        assert ask([one.url, two.url], query("example.com", **HOST)) == [LINES]
        with ApiServer(lambda _: Said(b"", 503)) as dead:
            problems = []
            assert ask([dead.url, two.url], query("example.com", **HOST), problems=problems) == [LINES[1::2]]
            assert [error.reason for error in problems] == ["unavailable"]


def test_a_checkpoint_goes_on_where_a_look_up_ended(tmp_path):
    broken = {f"page{n}": Said(b"", 503) for n in range(3, 6)}
    with ApiServer(in_pages(LINES, 7, **broken)) as api:
        problems = []
        assert ask(api.url, query("example.com", **HOST), problems=problems, checkpoint=tmp_path) == [LINES[:21]]
        broken.clear()
        before = len(api.asked)
        api.asked.clear()
        assert before
    with ApiServer(in_pages(LINES, 7)) as other:
        # The same server, at another port: its name is part of what is kept.
        kept = next(tmp_path.iterdir())
        assert ask(other.url, query("example.com", **HOST), checkpoint=tmp_path) == [LINES]
        new = next(path for path in tmp_path.iterdir() if path != kept)
        for path in list(new.iterdir()):
            path.unlink()
        for path in kept.iterdir():
            path.rename(new / path.name)
        other.asked.clear()
        (new / "page-000001").write_bytes((new / "page-000001").read_bytes()[:-9])
        assert ask(other.url, query("example.com", **HOST), checkpoint=tmp_path) == [LINES]
        assert sorted(set(other.pages())) == ["1", "3", "4", "5"]  # what was damaged is fetched again
        other.asked.clear()
        assert ask(other.url, query("example.com", **HOST), checkpoint=tmp_path) == [LINES]
        assert not other.asked


def test_a_checkpoint_of_resume_keys_asks_only_for_the_rest(tmp_path):
    with ApiServer(resuming(trouble=[None, None, *[Said(b"", 500)] * 3]), "/cdx/search/cdx") as api:
        problems = []
        assert ask(api.url, query("*.example.com"), problems=problems, checkpoint=tmp_path) == [AS_CDXJ[:8]]
        assert "from key+8" in str(problems[0])
        api.asked.clear()
        assert ask(api.url, query("*.example.com"), checkpoint=tmp_path) == [AS_CDXJ]
        assert [asked["resumeKey"] for asked in api.asked] == ["key 8"]


def test_the_catalogue_names_the_api_of_a_crawl(tmp_path):
    with ApiServer(in_pages(LINES, 50), "/CC-MAIN-2099-01-index") as api:
        crawls = [{"id": "CC-MAIN-2099-01", "cdx-api": api.url}, {"id": "CC-MAIN-2098-01"}]
        (tmp_path / "collinfo.json").write_text(json.dumps(crawls))
        found = ask("api:CC-MAIN-2099-01", query("example.com", **HOST), index_url=str(tmp_path))
        assert found == [LINES]
    with pytest.raises(UsageError, match="a URL or a crawl"):
        ask("api:nonsense", query("a.com"))


def test_requests_are_a_second_apart_by_default():
    with ApiServer(in_pages(LINES, 20)) as api:
        waits = []
        ask(api.url, query("example.com", **HOST), waits=waits, limits=(None, None))
        assert [round(wait) for wait in sorted(waits)][-1] >= 1
        assert sum(wait > 0.5 for wait in waits) >= len(api.asked) - 1
