"""Both cores select the same records, however odd their headers are, and count the same ones as left out."""

from __future__ import annotations

import json
import random
import re

import pytest
from tests.builders import gzip_member
from tests.formats.test_selectors import TYPES, about, criteria, languages, page
from tests.native.cores import using

from crawlmill import core
from crawlmill.analysis.servers import ServerCounter, servers_of_headers
from crawlmill.errors import FormatError
from crawlmill.formats.selection import Selection
from crawlmill.formats.selectors.awaiting import Awaiting
from crawlmill.formats.selectors.criteria import native_criteria
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage

pytest.importorskip("crawlmill_native", reason="the native core is not installed")

ASKED = [
    ["--status", "200,4xx"], ["--mime", "text/html"], ["--mime", "text/*"], ["--detected-mime", "text/html"],
    ["--host", "e.org"], ["--domain", "e.org"], ["--tld", "org"], ["--url-regex", "org"], ["--from", "2026"],
    ["--to", "20260105"], ["--truncated", "only"], ["--truncated", "none"], ["--sample-records", "50%"],
    ["--status", "200", "--mime", "text/html", "--domain", "e.org"], ["--language", "eng"], ["--charset", "utf-8"],
    ["--language", "eng", "--status", "200"], ["--url-regex", "^$", "--url-regex", r"(?i)^HTTP://(?!e)\w+.\S*/$"],
    ["--url-regex", r"[:.]\W|\d\Z", "--status", "200", "--truncated", "none"], ["--url-regex", "e.org", "--language", "eng"],
]  # fmt: skip

HEADS = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"HTTP/1.1 404\r\ncontent-type:Text/HTML;c=d\r\n\r\n",
    b"HTTP/1.1\r\nX: 404 y\r\n\r\n", b"HTTP/1.1\tx 200 OK\r\n\r\n", b"ICY 200 OK\r\nContent-Type: text/html\r\n\r\n",
    b"HTTP/1.1 200OK\r\n\r\n", b"HTTP/1.1 2000\r\n\r\n", b"HTTP/1.1  \t200 OK\r\n\r\n", b"\r\nHTTP/1.1 200 OK\r\n\r\n",
    b"<html 200 ", b"GET /200 200 x\r\n\r\n", b"x 404 y", b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n", b"",
    b"HTTP/1.1 OK 404\r\nContent-Type: text/plain\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html", b"http/2 404\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html,x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: text/html\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: \xa0text/html\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\x0b;\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"x" * 5000 + b"\r\nContent-Type: text/html\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n\r\nContent-Type: text/html\r\n\r\n",
]  # fmt: skip

URLS = [
    "http://e.org/", "HTTP://E.org:80", "http://www.e.org./", "http://e.org:x/", "http://u@e.org/", "http://e.org\\x", "http:/e.org/",
    "http://[::1]/", "http://1.2.3.4/", "http://1.2/", "http://e%2eorg/", "http://\u00fc.org/", "dns:e.org", "e.org", "http://", "http://org?e.org",
    "http://-.org/", "http://e..org/", "http://" + "a." * 130 + "org/", "<http://e.org/>", "http://e.org#x", "http://a_b.e.org/",
]  # fmt: skip

DATES = ["2026-01-05T10:00:09Z", "2026-01-05", "2026-99-99T99:99:99Z", "20260105100009", "2025-12-31T23:30:00-01:00", "x", "2026-01-05T10:00:09.5Z"]  # fmt: skip


def usual_languages(*codes):
    """The line as the crawler writes it."""
    found = [
        {"code": code[:2], "code-iso-639-3": code, "text-covered": 0.5, "score": 9.0, "name": code.upper()}
        for code in codes
    ]
    return "languages-cld2: " + json.dumps(
        {"reliable": True, "text-bytes": 9, "languages": found}, separators=(",", ":")
    )


def servers_of(record):
    try:
        return servers_of_headers(record.http.get_all("Server")) if record.holds_http else ()
    except FormatError:
        return ()


def found_by(tmp_path, data, asked, **options):
    """What each core says: the records that are selected, the ledger's numbers, and how many servers of each name."""
    path = tmp_path / "x"
    path.write_bytes(data)
    types = options.pop("types", TYPES)
    found = []
    for name in ("native", "python"):
        with using(name):
            for counter in (None, ServerCounter()):
                reading = Reading(
                    Input("x", str(path)), Storage(), ReadOptions(**options), Selection(None, types, (), asked)
                )
                reading.counter = None if counter is None else counter.native
                seen = []
                for each in reading:
                    seen.append(each.uri)
                    if counter is not None:
                        counter.add(servers_of(each))
                row = reading.row
                numbers = row.outcome, row.records, row.deselected, row.truncated, dict(row.lost)
                found.append((numbers, seen) if counter is None else (numbers, sorted(counter.drain(), key=str)))
    return found[:2], found[2:]


@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
def test_odd_pages_are_selected_alike(tmp_path, arguments):
    dice = random.Random(9)
    records = []
    for number in range(120):
        url = dice.choice(URLS) + (f"/{number}" if dice.random() < 0.5 else "")
        fields = {}
        if dice.random() < 0.4:
            fields["WARC_Truncated"] = dice.choice(["length", "", " ", "time", "\u00e9"])
        if dice.random() < 0.6:
            fields["WARC_Identified_Payload_Type"] = dice.choice(
                ["text/html", "Text/HTML; x", "", "text", "\u00e9/html"]
            )
        made = page(url, dice.choice(HEADS), dice.choice([DATES[0], *DATES]), **fields)
        for old, new in [(b"application/http; msgtype=response", b"text/html"), (b"WARC-Type: response", b"WARC-Type: revisit"),
                         (b"WARC-Date", b"X-Date"), (b"WARC-Target-URI", b"WARC-Other-URI"), (b"application/http", b"Application/HTTP")]:  # fmt: skip
            if dice.random() < 0.05:
                made = made.replace(old, new, 1) if len(old) == len(new) or b"Content-Length" not in old else made
        records.append(made)
        if dice.random() < 0.7:
            lines = [
                dice.choice([usual_languages, usual_languages, languages])(
                    *dice.choice([["eng"], ["deu", "eng"], ["deu"], []])
                ),
                f"charset-detected: {dice.choice(['UTF-8', 'x'])}",
            ]
            said = about(dice.choice([url, url, url, dice.choice(URLS)]), *dice.choice([lines, lines[:1], []]))
            if dice.random() < 0.7:
                own = re.search(rb"WARC-Record-ID: (\S+)", dice.choice([*records[-3:], made, made, made]))[1]
                said = said.replace(b"\r\nContent-Type", b"\r\nWARC-Concurrent-To: " + own + b"\r\nContent-Type", 1)
            records.append(said)
    data = b"".join(map(gzip_member, records))
    for options in ({}, {"heads_only": True}, {"types": None}):
        native, python = found_by(tmp_path, data, criteria(*arguments), **options)
        assert native == python


def test_pages_left_out_for_the_metadata_after_them_never_reach_python(tmp_path, monkeypatch):
    seen = []
    take = Awaiting._take
    monkeypatch.setattr(Awaiting, "_take", lambda self, record: (seen.append(record.uri), take(self, record)))
    codes = ["deu", "eng", "deu", "eng", "deu", "deu"]
    records = []
    for number, code in enumerate(codes):
        records += [page(f"http://e.org/{number}"), about(f"http://e.org/{number}", usual_languages(code))]
    (tmp_path / "x").write_bytes(b"".join(map(gzip_member, records)))
    with using("native"):
        reading = Reading(
            Input("x", str(tmp_path / "x")),
            Storage(),
            selection=Selection(None, TYPES, (), criteria("--language", "eng")),
        )
        assert [each.uri[-1] for each in reading] == ["1", "3"]
    assert "".join(uri[-1] for uri in seen) == "001133"  # the first record is always read by Python
    assert (reading.row.records, reading.row.deselected) == (12, 4)


def test_an_exception_while_a_url_is_searched_ends_reading_with_it():
    def search(url):
        asked.append(url)
        raise KeyboardInterrupt

    asked: list[str] = []
    wanted = native_criteria(criteria("--url-regex", "a"))
    reader = core.native().RecordReader(None, 0, 1 << 20, {**wanted, "search": search})
    with pytest.raises(KeyboardInterrupt):
        reader.read(gzip_member(page("http://e.org/a")) * 2, 0, True)
    assert asked == ["http://e.org/a"]
