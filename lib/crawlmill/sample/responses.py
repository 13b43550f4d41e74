"""The responses of the sample crawl's servers: status lines, header fields, and bodies as transferred."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from crawlmill.sample.dice import Dice
from crawlmill.sample.records import Fields

__all__ = [
    "CODINGS",
    "COMMON_SERVERS",
    "ODD_SERVERS",
    "Server",
    "chunked",
    "encode_body",
    "gzip_stored",
    "rename",
    "versioned",
]


@dataclass(frozen=True, slots=True)
class Server:
    """The fields in which a server names itself, and what must be counted for one of its responses."""

    fields: Fields
    counted: tuple[str | None, ...]


def _server(*values: str, counted: tuple[str | None, ...] | None = None) -> Server:
    return Server(tuple(("Server", value) for value in values), values if counted is None else counted)


def versioned(server: Server, dice: Dice) -> Server:
    """One time in four, the server with its own version and host, of which there are thousands."""
    if not dice.chance(0.25) or not server.counted[0]:
        return server
    name = server.counted[0].split("/")[0].strip()
    host = f"node-{int(5_000 ** dice.random())}"
    return _server(f"{name}/{dice.below(3)}.{int(30 ** dice.random())}.{dice.below(9)} ({host})")


# From the most common one to the rarest.
COMMON_SERVERS = (
    _server("nginx"),
    _server("Apache"),
    _server("cloudflare"),
    _server(counted=(None,)),
    _server("Apache/2.4.41 (Ubuntu)"),
    _server("nginx/1.18.0 (Ubuntu)"),
    _server("LiteSpeed"),
    _server("Microsoft-IIS/10.0"),
    _server("openresty"),
    _server("Apache/2.4.6 (CentOS) OpenSSL/1.0.2k-fips PHP/7.4.33"),
    _server("AmazonS3"),
    _server("Jetty(9.4.z-SNAPSHOT)"),
)

ODD_SERVERS = (
    # A header without a value does not count, nor does one with another name.
    _server("", counted=(None,)),
    _server("   ", counted=(None,)),
    _server("", " ", counted=(None,)),
    Server((("X-Server", "decoy"), ("Server-Timing", "cdn;dur=1"), ("Via", "Server: proxy")), (None,)),
    # Several headers: each distinct value counts once.
    _server("nginx", "nginx", counted=("nginx",)),
    _server("nginx", "Varnish"),
    _server("", "openresty", counted=("openresty",)),
    _server("  ATS/9.1.4 ", "ATS/9.1.4", "ATS", counted=("ATS/9.1.4", "ATS")),
    Server((("server", "cloudflare"), ("SERVER", "cloudflare-nginx")), ("cloudflare", "cloudflare-nginx")),
    Server((("sErVeR", "Apache"), ("X-Served-By", "b")), ("Apache",)),
    # Values that are hard to represent in headers, JSON and tables; letter case matters.
    _server("NGINX"),
    _server("Сервер/1.0 (тест)"),
    _server("サーバー"),
    _server('quoted "name" \\ back\\slash'),
    _server('{"Headers":{"Server":"nested"}}'),
    _server("</script><b>bold</b>"),
    _server("tab\tinside"),
    _server("Name: with: colons; and, commas"),
    _server("curly \u201cquotes\u201d and \u2026"),
    _server("🚀/2"),
    _server("null"),
    _server("None"),
)

CODINGS = ("plain", "crawler", "chunked", "gzip", "gzip chunked", "gzip in name only", "chunked in name only")


def encode_body(content: bytes, coding: str, dice: Dice) -> tuple[Fields, bytes]:
    """The header fields of a coding, and the body as stored.

    "crawler" is Common Crawl's way: the body is decoded, its coding is kept under the crawler's own header names, and
    Content-Length is correct. Codings in name only keep the fields but have decoded bodies, as from older crawlers.
    """
    body = gzip_stored(content) if coding in ("gzip", "gzip chunked") else content
    if coding in ("chunked", "gzip chunked"):
        body = chunked(body, dice)
    length = ("Content-Length", str(len(body)))
    if coding == "plain":
        return (length,), body
    if coding == "crawler":
        names = (("X-Crawler-Content-Encoding", dice.pick(("gzip", "br"))), ("X-Crawler-Transfer-Encoding", "chunked"))
        return (*names[: dice.between(1, 2)], length), body
    encodings: Fields = (("Content-Encoding", "gzip"),) if "gzip" in coding else ()
    if "chunked" in coding:
        return (*encodings, ("Transfer-Encoding", "chunked")), body
    return (*encodings, length), body


def gzip_stored(content: bytes) -> bytes:
    """A gzip member with stored blocks: the same bytes with every zlib."""
    blocks = []
    for start in range(0, max(len(content), 1), 0xFFFF):
        block = content[start : start + 0xFFFF]
        last = start + 0xFFFF >= len(content)
        blocks.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    trailer = struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"".join(blocks) + trailer


def chunked(content: bytes, dice: Dice) -> bytes:
    """The content in chunks of uneven size, some with sizes in capitals or padded, some with an extension."""
    framed = []
    start = 0
    while start < len(content):
        chunk = content[start : start + dice.between(1, 16384)]
        size = dice.pick(("%x", "%x", "%X", "%04x", "%x;n=v")) % len(chunk)
        framed.append(b"%s\r\n%s\r\n" % (size.encode(), chunk))
        start += len(chunk)
    return b"".join((*framed, b"0\r\n\r\n"))


def rename(fields: Fields, dice: Dice) -> Fields:
    """The fields with names as servers write them: mostly in title case or, over HTTP/2, in lower case."""
    drawn = dice.random()
    if drawn < 0.5:
        return fields
    change = str.lower if drawn < 0.9 else str.upper if drawn < 0.95 else str.swapcase
    return tuple((_renamed(name, change), value) for name, value in fields)


def _renamed(name: str, change: Callable[[str], str]) -> str:
    # The crawler's prefix precedes the server's spelling: "X-Crawler-content-encoding" in CC-MAIN-2024-22.
    theirs = name.removeprefix("X-Crawler-")
    return name[: len(name) - len(theirs)] + change(theirs)
