"""Statistics of crawls and hosts are the same with either core: lines, counts, sketches, what is lost, and the sums."""

from __future__ import annotations

import json
import random

import pytest
from tests.native.cores import using

from crawlmill.analysis.statistics.groups import GroupLines, grouped
from crawlmill.analysis.statistics.page_lines import PageLines
from crawlmill.analysis.statistics.tally import counted_pages
from crawlmill.indexes.capture import disk_fields

native = pytest.importorskip("crawlmill_native", reason="the native core is not installed")

FILE = "crawl-data/CC-MAIN-2024-10/segments/1.1/{}/CC-MAIN-20240220-20240221-00000.warc.gz"
USUAL = {"url": "http://www.e.co.uk/a/b?c", "mime": "text/html", "mime-detected": "text/html", "status": "200",
         "digest": "A", "length": "9", "offset": "0", "filename": FILE.format("warc"), "charset": "UTF-8",
         "languages": "eng,deu"}  # fmt: skip


def on_both(function):
    found = []
    for name in ("python", "native"):
        with using(name):
            found.append(function())
    assert found[1] == found[0]
    return found[0]


def line(key="uk,co,e)/a", **fields):
    said = USUAL | {name.replace("_", "-"): value for name, value in fields.items()}
    return f"{key} 20240220000000 {json.dumps({name: value for name, value in said.items() if value is not ...})}"


def statistics(text, *, exact=True, crawl=None):
    """What is counted of lines, from the lines of the shuffle to the sums."""
    pages, lost = PageLines(disk_fields, exact=exact), []
    lines = pages.add(text, crawl, lambda number, error: lost.append((number, str(error))))
    counts, sketches = pages.drain()
    rows = sorted(lines.split(b"\n"))
    cuts = [b"".join(each + b"\n" for each in rows[at : at + 7]) for at in range(0, len(rows), 7)]
    sums = sorted(b"".join(counted_pages(cuts, exact=exact)).split(b"\n"))
    return rows, sorted(lost), dict(counts), {key: each.registers for key, each in sketches.items()}, sums


def groups(text, by, *, least=1, ranked=False):
    """The same of lines that are grouped."""
    lost = []
    lines = GroupLines(disk_fields, by).add(text, lambda number, why: lost.append((number, str(why))))
    rows = sorted(lines.split(b"\n"))
    return rows, sorted(lost), b"".join(grouped([b"\n".join(rows)], least=least, ranked=ranked))


def same(lines):
    text = b"".join(
        each if isinstance(each, bytes) else f"{each}\n".encode("utf-8", "surrogateescape") for each in lines
    )
    found = on_both(lambda: statistics(text))
    on_both(lambda: statistics(text, exact=False, crawl='m"ine\udcff'))
    for by in ("host", "domain", "tld", 1, 2):
        on_both(lambda by=by: groups(text, by))
    on_both(lambda: groups(text, "host", least=2, ranked=True))
    return found


URLS = [
    "http://e.org", "https://E.org:443/x", "HTTP://e.org/", "http://e.org?x=/", "http://e.org#/", "http://e.org:/", "http://e.org:x/",
    "http://.e.org./", "http:///x/y", "http://", "http:/e.org/", "http:e.org", "//e.org/", "ftp://e.org/", "mailto:a@e.org",
    "http://u:p@e.org/", "http://e.org@f.org/", "http://[::1]/", "http://[::1]:80/", "http://[bad/", "http://bad]/", "http://e%2eorg/",
    "http://ü.de/", "http://xn--tda.de/", "http://192.0.2.7/", "http://192.0.2.256/", "http://1.2/", "http://localhost/", "http://co.uk/",
    "http://a.b.co.uk:81/", "http://a_b.e.org/", "http://e..org/", " http://e.org/", "http://e.org /", "\thttp://e.org/", "http://e\n.org/",
    "http://e.org\\f/", "http://" + "a" * 300 + ".org/", "http://e.org/a//b/./c/", "http://e.org//", "http://e.org/a?b/c#d/e",
    "http://blogspot.com/", "http://x.blogspot.com/", "http://e.org/\u2028", "http://e.org/\ud800", "http://a/b", "http://-/",
    "https:///x", "http://K.org/",
]  # fmt: skip


def test_urls_of_all_kinds_count_alike():
    same(
        [line(url=url) for url in URLS]
        + [line(url=url, status="404", filename=FILE.format("robotstxt")) for url in URLS]
    )


@pytest.mark.parametrize(
    "name", ["url", "mime", "mime_detected", "status", "digest", "length", "filename", "charset", "languages"]
)
def test_fields_of_all_kinds_count_alike(name):
    values = [
        ..., None, "", "-", "a\"b", "a\\b", "\u00e9", "\0", "\x7f", "\t", "200", "0200", "-1", "2 00", "1234567890", "\u0662", "x/robotstxt/y",
        "CC-NEWS-2020-1234-5/CC-A-20201", "sha1:", "sha1:X", "sha1:sha1:", 200, 0, True, False, 1.5, [], {}, ["a"], "eng,", ",eng", "99999999999999999999",
        "\ud800",
    ]  # fmt: skip
    same([line(**{name: value}) for value in values])


def test_names_of_cdx_apis_and_twice_the_same_name_count_alike():
    api = [
        line(url=..., original="http://o.org/"), line(url=None, original="http://o.org/"), line(original="http://o.org/"),
        line(mime=..., mimetype="a/b"), line(status=..., statuscode="404"), line(charset=..., encoding="x"),
        line(length=..., compressedSize="7"), line(length="-", compressedSize="7"),
    ]  # fmt: skip
    twice = [line().replace('"length"', '"url": "http://f.org/", "length"'), line().replace('"offset"', '"status"')]
    same(api + twice)


def test_lines_of_all_forms_count_alike():
    good = line()
    key, time, text = good.split(" ", 2)
    columns = "http://e.org/ text/html 200 B - - 10 20 x.warc.gz"
    odd = [
        "", "x", " CDX N b a m s k r M S V g", "!meta {}", f"{key} {time}", f"{key} {time} ", f" {time} {text}", f"{key} 2024 {text}",
        f"{key} {time}  {text}", f"{key} {time} {text} ", f"{key} {time} {text}\r", f"{key} {time} {text}\r\r", f"{key} {time} [1]",
        f"{key} {time} {{}}", f"{key} {time} {text[:-1]}", f"{key} {time} {text[:-2]}", f"{key} {time} {text.replace(', ', ',')}",
        f"{key} {time} {text.replace(': ', ':')}", f"{key} {time} {json.dumps(json.loads(text), indent=1).replace(chr(10), ' ')}",
        f"{key} {time} {columns}", f"{key} {time} {columns} y", f"{key} {time} {columns.replace('200', '-')}",
        f"no-parenthesis {time} {text}", f"a\"b)/ {time} {text}", f"a\\b)/ {time} {text}", f"é)/ {time} {text}", f")/ {time} {text}",
        f"\udcff)/ {time} {text}", f"\x01)/ {time} {text}", f"{key} {time} {text}}}",
    ]  # fmt: skip
    same([good, *odd, good])


def test_mutated_lines_count_alike():
    dice = random.Random(7)
    lines = [
        line(),
        line(filename=FILE.format("robotstxt")),
        line(status="404", digest=...),
        line(url="https://b.org:8/?"),
    ]
    mutated = []
    for _ in range(1500):
        text = bytearray(dice.choice(lines).encode())
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(len(text))
            if dice.random() < 0.5:
                text[at] = dice.choice(b'"\\ :,{}[]-/.?#@%)\t\r\x00\x7f\xc3\xff0aA')
            else:
                del text[at : at + dice.randrange(1, 9)]
        mutated.append(bytes(text.replace(b"\n", b"")) + b"\n")
    same(mutated)


def test_captures_of_few_urls_in_several_crawls_count_alike():
    dice = random.Random(8)
    hosts = ["e.org", "www.e.org", "E.org:81", "f.co.uk", "192.0.2.1", "[::1]", "", "localhost", "a.b.f.co.uk"]
    lines = [
        line(
            key=dice.choice(["org,e)/", "org,e:81)/", "uk,co,f)/"]), url=f"http://{dice.choice(hosts)}/{dice.randrange(3)}",
            status=dice.choice(["200", "200", "404", "-"]), mime=dice.choice(["a/b", "c/d", "é"]), digest=dice.choice("ABC"),
            languages=dice.choice(["eng", "deu,eng", "-"]), charset=dice.choice(["UTF-8", ""]),
            filename=FILE.format(dice.choice(["warc", "warc", "robotstxt"])).replace("2024-10", dice.choice(["2024-10", "2023-50", "x"])),
        )
        for _ in range(600)
    ]  # fmt: skip
    *_, sums = same(lines)
    assert {json.loads(each.split(b"\t")[0])[0] for each in sums if each} > {
        "host",
        "tld",
        "new_items",
        "robotstxt_status",
    }


def test_usual_lines_never_reach_python():
    text = "".join(
        f"{line(url=url)}\n" for url in ("http://e.org/", "https://www.E.org:8/?x", "http://192.0.2.1/a")
    ).encode()
    _, left = native.StatisticsLines(lambda host: (b"h", b"d", b"t"), True).add(text)
    assert left == []
    assert native.GroupLines(lambda host: b'"h"').add(text)[1] == []


def test_what_python_raises_when_it_is_asked_passes():
    def ask(host):
        raise LookupError(host)

    for lines in (native.StatisticsLines(ask, True), native.GroupLines(ask)):
        with pytest.raises(LookupError, match=r"www\.e\.co\.uk"):
            lines.add(f"{line()}\n".encode())


@pytest.mark.parametrize(
    "count", [lambda text: counted_pages([text], exact=True), lambda text: grouped([text], least=1, ranked=False)]
)
def test_lines_of_others_are_refused_by_both(count):
    for name in ("python", "native"):
        with using(name), pytest.raises(ValueError, match=r"\w"):
            list(count(b'1\tp"e"\0c\n'))
