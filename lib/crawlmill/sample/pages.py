"""The pages of the sample crawl: each a pure function of the seed and its number.

The properties of a page come from a table of a hundred shapes; a hundred consecutive pages have all of them, in an
order that depends on the seed. Copies of earlier pages are made by generating the earlier page again, so no page is
stored.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container
from dataclasses import dataclass
from email.utils import formatdate

from crawlmill.sample.dice import Dice
from crawlmill.sample.org_json import dumps
from crawlmill.sample.records import Fields
from crawlmill.sample.responses import COMMON_SERVERS, ODD_SERVERS, Server, encode_body, rename, versioned
from crawlmill.sample.text.documents import Document, Library

__all__ = ["Address", "Page", "PageMaker", "Shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a response: the kind of its body, its status line after the version, and its content coding.

    `content_types` replace the correct header; `charset` is one that pages rarely have.
    """

    kind: str
    status: str = "200 OK"
    coding: str = "plain"
    content_types: tuple[str, ...] | None = None
    charset: str = ""


_ORDINARY = Shape("document", coding="crawler")
_SHAPES: tuple[Shape, ...] = tuple(
    shape
    for count, shape in (
        (46, _ORDINARY),
        (12, Shape("document")),
        (2, Shape("document", "200 ")),
        (4, Shape("document", coding="chunked")),
        (4, Shape("document", coding="gzip")),
        (3, Shape("document", coding="gzip chunked")),
        (2, Shape("document", coding="gzip in name only")),
        (1, Shape("document", coding="chunked in name only")),
        (1, Shape("document", charset="UTF-16LE")),
        (1, Shape("document", charset="UTF-16BE")),
        (1, Shape("document", charset="ISO-2022-JP")),
        (1, Shape("document", content_types=("text/html; charset=utf-8", "text/plain"), charset="UTF-8")),
        (1, Shape("document", content_types=("text/plain", "text/html; charset=utf-8"), charset="UTF-8")),
        (1, Shape("document", content_types=(), charset="UTF-8")),
        (4, Shape("copy")),
        (3, Shape("small", "404 Not Found")),
        (1, Shape("small", "503 Service Unavailable")),
        (3, Shape("small", "301 Moved Permanently")),
        (1, Shape("empty", "302 Found", content_types=("text/html",))),
        (2, Shape("empty", content_types=("text/html; charset=UTF-8",))),
        (2, Shape("text", content_types=("text/plain; charset=utf-8",))),
        (1, Shape("text", content_types=("application/javascript",))),
        (1, Shape("json", content_types=("application/json",))),
        (2, Shape("image", content_types=("image/png",))),
    )
    for _ in range(count)
)
_HTML_TYPES = (
    "text/html; charset={}",
    "text/html;charset={}",
    "text/html",
    "TEXT/HTML; Charset={}",
    'text/html; version=5; charset="{}"',
    "application/xhtml+xml; charset={}",
)
_PAYLOAD_TYPES = {
    "document": "text/html",
    "small": "text/html",
    "text": "text/plain",
    "json": "application/json",
    "image": "image/png",
}
_SMALL_TITLES = {"404": ("404", "not", "found"), "301": ("301", "moved", "permanently"), "503": ("503", "unavailable")}
_FETCH_SPAN_S = 10800  # the time in which the pages of a segment of Common Crawl are fetched


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a page: `target` is the one in the request line."""

    host: str
    target: str
    url: str
    ip: str


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page.

    `date`: seconds since 1970; `fields`: of the response, as sent; `body`: as stored, `content`: decoded; `source`: the
    HTML document in it, `document`: the same, but None unless the response says that it is HTML; `servers`: the servers
    to count for it.
    """

    seed: int
    number: int
    address: Address
    date: int
    fetch_ms: int
    status: str
    fields: Fields
    content: bytes
    body: bytes
    payload_type: str
    servers: tuple[str | None, ...]
    source: Document | None
    document: Document | None


class PageMaker:
    """Generates the pages of a crawl. Page 0 and those in `ordinary` are HTML with text, whatever the table says."""

    def __init__(self, seed: int, ordinary: Container[int] = (), *, realistic: bool = False) -> None:
        self._seed = seed
        self._ordinary = ordinary
        self._library = Library(seed, realistic=realistic)
        self._realistic = realistic

    def page(self, number: int, segment_start: int) -> Page:
        """The page with this number, fetched within three hours after `segment_start` (seconds since 1970)."""
        origin = self._origin(number)
        shape = self._shape(origin)
        address = _address(self._seed, number)
        # What a copy shares with its original comes from these dice, everything else from the ones below.
        dice = Dice(self._seed, "content", origin)
        content, document = self._content(shape, dice, _address(self._seed, origin))
        types = _content_types(shape, document, dice)
        coding, body = encode_body(content, shape.coding, dice)

        dice = Dice(self._seed, "fetch", number)
        date = segment_start + dice.below(_FETCH_SPAN_S)
        server = _picked_server(number, dice)
        if self._realistic and len(server.fields) == 1 and number % 11:
            server = versioned(server, Dice(self._seed, "server", number))
        fields: Fields = (
            ("Date", formatdate(date, usegmt=True)),
            *server.fields,
            *((("Location", f"https://{address.host}/moved{address.target}"),) if shape.status[0] == "3" else ()),
            *(("Content-Type", value) for value in types),
            *_other_fields(dice),
            *coding,
        )
        return Page(
            seed=self._seed,
            number=number,
            address=address,
            date=date,
            fetch_ms=dice.between(20, 3000),
            status=shape.status,
            fields=rename(fields, dice),
            content=content,
            body=body,
            payload_type=_PAYLOAD_TYPES.get(shape.kind, ""),
            servers=server.counted,
            source=document,
            document=document
            if types and types[0].lower().startswith(("text/html", "application/xhtml+xml"))
            else None,
        )

    def _shape(self, number: int) -> Shape:
        if number == 0 or number in self._ordinary:
            return _ORDINARY
        return _SHAPES[(number * 37 + self._seed) % len(_SHAPES)]  # 37 and 100 are coprime: all shapes occur

    def _origin(self, number: int) -> int:
        """The number of the page that this one is a copy of; its own if it is not a copy."""
        if self._shape(number).kind != "copy":
            return number
        first = number - 1 - Dice(self._seed, "copy", number).below(50)
        return next((n for n in range(first, -1, -1) if self._shape(n).kind == "document"), 0)

    def _content(self, shape: Shape, dice: Dice, address: Address) -> tuple[bytes, Document | None]:
        if shape.kind == "document":
            document = self._library.document(dice, host=address.host, here=address.url, charset=shape.charset)
            return document.content, document
        if shape.kind == "small":
            words = _SMALL_TITLES[shape.status[:3]]
            document = self._library.small_document(dice, " ".join(words), words, host=address.host, here=address.url)
            return document.content, document
        if shape.kind == "text":
            return self._library.plain_text(dice).encode(), None
        if shape.kind == "json":
            items = [{"id": dice.token(), "html": self._library.plain_text(dice)} for _ in range(dice.between(1, 9))]
            return dumps({"items": items}).encode(), None
        if shape.kind == "image":
            return _image(dice), None
        return b"", None


def _address(seed: int, number: int) -> Address:
    dice = Dice(seed, "address", number)
    name, token = dice.token()[:5], dice.token()
    ip = f"{dice.pick(('192.0.2', '198.51.100', '203.0.113'))}.{dice.between(1, 254)}"
    host = dice.pick(
        (
            f"www.{name}.example",
            f"{name}.example.com",
            f"shop.{name}.example.org",
            "www.example.net",
            "xn--bcher-kva.example",
            f"{name}.test:8080",
            ip,
        )
    )
    target = dice.pick(
        (
            f"/{number}",
            f"/{token}-{number}.html",
            f"/wiki/%D0%9C%D0%B8%D1%80_{number}",
            f"/index.php?id={number}&lang=tr&sid={token}",
            f"/~user/{token}/{number}/",
            f"/A/B.aspx;v={number}?Q=a+b&q=%C3%A9",
        )
    )
    scheme = dice.pick(("https", "https", "http")) if not host.endswith(":8080") else "http"
    return Address(host, target, f"{scheme}://{host}{target}", ip)


def _content_types(shape: Shape, document: Document | None, dice: Dice) -> tuple[str, ...]:
    if shape.content_types is not None:
        return shape.content_types
    if document is None:
        return ()
    if shape.charset:
        # For encodings that are not based on ASCII the header is needed, since a <meta> could not be read.
        return (_HTML_TYPES[0].format(shape.charset),)
    value = dice.pick(_HTML_TYPES) if dice.chance(0.5) else _HTML_TYPES[0]
    return (value.format(document.charset.lower() if dice.chance(0.5) else document.charset),)


def _picked_server(number: int, dice: Dice) -> Server:
    """Every eleventh page comes from an odd server, each of them in turn."""
    turn, rest = divmod(number, 11)
    return dice.pick_early(COMMON_SERVERS) if rest else ODD_SERVERS[turn % len(ODD_SERVERS)]


def _other_fields(dice: Dice) -> Fields:
    """Other fields of servers: empty values, repeated fields, JSON, and long values that differ each time."""
    fields: list[tuple[str, str]] = [("ETag", f'"{dice.token()}"')]
    fields += [("Set-Cookie", f"s{n}={dice.token()}{dice.token()}; path=/; HttpOnly") for n in range(dice.below(4))]
    if dice.chance(0.6):
        fields += [("Cache-Control", f"private, max-age={dice.below(9999)}"), ("Vary", "Accept-Encoding, Cookie")]
    if dice.chance(0.3):
        fields += [("X-Powered-By", f"PHP/8.{dice.below(4)}.{dice.below(30)}"), ("Accept-CH", "")]
    if dice.chance(0.2):
        fields += [("NEL", '{"success_fraction":0,"report_to":"cf-nel","max_age":604800}'), ("CF-RAY", dice.token())]
    if dice.chance(0.3):
        fields += [("Connection", "keep-alive"), ("Keep-Alive", f"timeout=5, max={dice.below(100)}")]
    return tuple(fields)


def _image(dice: Dice) -> bytes:
    """A grey PNG of 8 by 8 to 8 by 511 pixels, its image data in a stored block."""
    height = dice.between(8, 511)
    pixels = b"".join(b"\0" + int(dice.token()[:16], 16).to_bytes(8, "big") for _ in range(height))
    stored = struct.pack("<BHH", 1, len(pixels), len(pixels) ^ 0xFFFF) + pixels
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 8, height, 8, 0, 0, 0, 0)),
        (b"IDAT", b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(pixels))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
