"""Pages: what a hundred in a row hold, copies, and charsets."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import Counter

import pytest

from crawlmill.sample.pages import PageMaker

START = 1_767_225_600


@pytest.fixture(scope="module")
def pages():
    maker = PageMaker(5, ordinary={40})
    return [maker.page(number, START) for number in range(200)]


def header(page, name):
    return [value for known, value in page.fields if known.lower() == name.lower()]


def test_pages_are_a_function_of_seed_and_number(pages):
    again = PageMaker(5, ordinary={40})
    for number in (150, 3, 199, 0):
        page = again.page(number, START)
        assert (page.fields, page.body, page.date) == (pages[number].fields, pages[number].body, pages[number].date)
    assert PageMaker(6).page(3, START).body != pages[3].body


def test_pages_have_addresses_of_their_own_within_the_segments_time(pages):
    assert len({page.address.url for page in pages}) == len(pages)
    assert all(page.address.url.endswith(page.address.host + page.address.target) for page in pages)
    assert all(START <= page.date < START + 3 * 3600 for page in pages)
    assert all(page.address.url.isascii() and " " not in page.address.url for page in pages)


def test_a_hundred_pages_have_every_kind_of_response(pages):
    some = pages[100:200]
    statuses = Counter(page.status for page in some)
    assert statuses["404 Not Found"] == 3
    assert statuses["301 Moved Permanently"] == 3
    assert {"302 Found", "503 Service Unavailable", "200 "} <= set(statuses)
    assert sum(not page.body for page in some) == 3
    assert all(header(page, "Location") for page in some if page.status.startswith("30"))
    types = Counter((header(page, "Content-Type") or [""])[0].split(";")[0].lower() for page in some)
    assert {"text/html", "application/xhtml+xml", "text/plain", "application/json", "image/png", ""} <= set(types)
    codings = {(*header(page, "Transfer-Encoding"), *header(page, "Content-Encoding")) for page in some}
    assert codings == {(), ("chunked",), ("gzip",), ("chunked", "gzip")}
    assert {page.document.content[:2] for page in some if page.document} >= {b"\xff\xfe", b"\xfe\xff"}
    assert any(header(page, "Content-Type") == ["text/html; charset=ISO-2022-JP"] for page in some)
    assert sum(len(header(page, "Content-Type")) == 2 for page in some) == 2


def test_pages_count_by_their_first_content_type_only(pages):
    for page in pages:
        first = (header(page, "Content-Type") or [""])[0].split(";")[0].strip().lower()
        assert (page.document is not None) == (first in ("text/html", "application/xhtml+xml") and page.content != b"")


def test_first_pages_are_html_with_text_whatever_the_table_says(pages):
    for number in (0, 40):
        assert pages[number].status == "200 OK"
        assert pages[number].document.text().strip()


def test_copies_repeat_an_earlier_body_at_another_address(pages):
    seen: dict[bytes, str] = {}
    copies = 0
    for page in pages:
        if page.document and len(page.body) > 500 and page.status.startswith("200"):
            copies += page.body in seen
            assert seen.get(page.body) != page.address.url
            seen[page.body] = page.address.url
    assert 6 <= copies <= 8


def test_pages_can_be_decoded_by_the_charset_they_name(pages):
    charsets = set()
    for page in pages:
        if page.document is None or page.document.charset == "UTF-8":
            continue
        charsets.add(page.document.charset)
        codec = {"UTF-16LE": "utf-16", "UTF-16BE": "utf-16"}.get(page.document.charset, page.document.charset)
        text = page.content.decode(codec)
        assert text.startswith(page.document.fragments[0].markup)
        named = re.search(r'charset="?([\w-]+)', header(page, "Content-Type")[0], re.IGNORECASE)
        assert named is None or named[1].lower() == page.document.charset.lower()
    assert len(charsets) >= 10


def test_pages_have_realistic_sizes(pages):
    sizes = [len(page.content) for page in pages if page.document and page.status.startswith("200")]
    assert 25_000 < sum(sizes) / len(sizes) < 60_000
    assert min(sizes) < 1500
    assert 150_000 < max(sizes) < 600_000


def test_realistic_pages_are_three_times_as_large_and_have_words_of_their_own(pages):
    maker = PageMaker(5, ordinary={40}, realistic=True)
    ratios, plain, rich = [], Counter(), Counter()
    for number in range(40):
        page, other = maker.page(number, START), pages[number]
        assert (page.address, page.status) == (other.address, other.status)
        if page.document and page.status.startswith("200"):
            ratios.append(len(page.content) / len(other.content))
            plain.update(re.findall(r"\w+", other.document.text()))
            rich.update(re.findall(r"\w+", page.document.text()))
    # The last fragment of a page may be a large one, which makes small pages larger than wanted.
    assert 2.2 < sum(ratios) / len(ratios) < 3.5
    assert len(rich) > 2 * len(plain)


def test_other_bodies_are_what_they_say(pages):
    for page in pages:
        if page.payload_type == "application/json":
            assert all("<p>" in item["html"] for item in json.loads(page.content)["items"])
        elif page.payload_type == "image/png":
            assert pixels(page.content) > 0


def pixels(png: bytes) -> int:
    """The size of a PNG's image data; every chunk's CRC is checked."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    position, size = 8, 0
    while position < len(png):
        (length,) = struct.unpack_from(">I", png, position)
        kind, data = png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        assert struct.unpack_from(">I", png, position + 8 + length) == (zlib.crc32(kind + data),)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", data)
        if kind == b"IDAT":
            size = len(zlib.decompress(data))
        position += 12 + length
    assert (kind, size) == (b"IEND", height * (1 + width))
    return size
