"""Builds small crawl files for the tests, byte by byte, with the standard library alone."""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib

DATE = "2026-01-05T10:00:00Z"


def gzip_member(
    content: bytes,
    *,
    level: int = 6,
    name: bytes = b"",
    comment: bytes = b"",
    extra: bytes = b"",
    header_crc: bool = False,
    mtime: int = 0,
    xfl: int = 0,
    os: int = 3,
) -> bytes:
    """One gzip member (RFC 1952) with the header fields asked for."""
    flags = (2 if header_crc else 0) | (4 if extra else 0) | (8 if name else 0) | (16 if comment else 0)
    head = struct.pack("<3sBIBB", b"\x1f\x8b\x08", flags, mtime, xfl, os)
    if extra:
        head += struct.pack("<H", len(extra)) + extra
    head += name + b"\0" if name else b""
    head += comment + b"\0" if comment else b""
    if header_crc:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflater.compress(content) + deflater.flush()
    return head + body + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)


def sha1_of(data: bytes) -> str:
    """A digest as WARC writes it: `sha1:` and base32."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def record(
    kind: str,
    block: bytes,
    uri: str | None = None,
    content_type: str | None = None,
    *,
    version: str = "1.0",
    length: int | None = None,
    eol: bytes = b"\r\n",
    fields: tuple[tuple[str, str], ...] = (),
) -> bytes:
    """One WARC record; `length` lies about the block."""
    identity = hashlib.md5(f"{kind} {uri}".encode() + block).hexdigest()
    head = [("WARC-Type", kind), ("WARC-Date", DATE), ("WARC-Record-ID", f"<urn:test:{identity}>")]
    head += [("WARC-Target-URI", uri)] if uri is not None else []
    head += [("Content-Type", content_type)] if content_type is not None else []
    head += [*fields, ("Content-Length", str(len(block) if length is None else length))]
    lines = [f"WARC/{version}".encode(), *(f"{name}: {value}".encode() for name, value in head)]
    return eol.join(lines) + eol + eol + block + eol + eol


def warcinfo() -> bytes:
    """The record that opens a WARC file."""
    return record("warcinfo", b"software: crawlmill tests\r\n", None, "application/warc-fields")


def http(headers: list[tuple[str, str]], body: bytes = b"", status: str = "HTTP/1.1 200 OK") -> bytes:
    """An HTTP response."""
    return f"{status}\r\n".encode() + b"".join(f"{n}: {v}\r\n".encode() for n, v in headers) + b"\r\n" + body


def response(
    uri: str,
    body: bytes = b"",
    headers: list[tuple[str, str]] | None = None,
    *,
    status: str = "HTTP/1.1 200 OK",
    kind: str = "response",
    **options: object,
) -> bytes:
    """A response record with true digests; an HTML page from nginx unless said otherwise."""
    if headers is None:
        headers = [("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx")]
    block = http(headers, body, status)
    digests = (("WARC-Payload-Digest", sha1_of(body)), ("WARC-Block-Digest", sha1_of(block)))
    return record(kind, block, uri, "application/http; msgtype=response", fields=digests, **options)  # type: ignore[arg-type]


def request(uri: str) -> bytes:
    """A request record."""
    block = b"GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: crawlmill\r\n\r\n"
    return record("request", block, uri, "application/http; msgtype=request")


def metadata(uri: str) -> bytes:
    """A metadata record as Common Crawl adds one to each page."""
    return record("metadata", b"fetchTimeMs: 7\r\n", uri, "application/warc-fields")


def pages(count: int, host: str = "example.org") -> list[bytes]:
    """A warcinfo and the request, response and metadata records of `count` pages."""
    found = [warcinfo()]
    for number in range(count):
        uri = f"http://{host}/{number}"
        body = f"<html><title>{number}</title><p>{' '.join(f'w{number}x{k}' for k in range(40))}</html>".encode()
        found += [request(uri), response(uri, body), metadata(uri)]
    return found


def pack(records: list[bytes], *, level: int = 6) -> bytes:
    """A WARC file with one gzip member per record."""
    return b"".join(gzip_member(content, level=level) for content in records)


def conversion(uri: str, text: str, *fields: tuple[str, str]) -> bytes:
    """A WET record."""
    return record("conversion", text.encode(), uri, "text/plain", fields=fields)


def arc(pages: list[tuple[str, bytes]]) -> bytes:
    """A gzipped ARC v1 file as Common Crawl wrote it in 2010: (URL, block) per page."""
    version = b"1 0 CommonCrawl\nURL IP-address Archive-date Content-type Archive-length\n"
    head = b"filedesc://test.arc.gz 0.0.0.0 20100106101234 text/plain %d\n" % len(version)
    packed = gzip_member(head + version + b"\n", extra=b"LX\x04\x00\0\0\0\0")
    for url, block in pages:
        line = f"{url} 192.0.2.1 20100106101235 text/html {len(block)}\n".encode()
        packed += gzip_member(line + block + b"\n", os=0)
    return packed
