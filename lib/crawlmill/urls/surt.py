"""Urlkeys: URLs in the sortable form that orders URL indexes (SURT, by the Internet Archive's rules).

    >>> urlkey("http://www.Example.com:80/A/../b/?y=2&x=1#top")
    'com,example)/b?x=1&y=2'

A key is the URL in lower case without its scheme, user, fragment, default port, `www.` and session ids; the labels of
the host are reversed, the arguments of the query sorted, percent escapes decoded until none are left and encoded once.
International names are in punycode (IDNA 2003), numeric hosts become four numbers. Many URLs can share a key. Keys are
printable ASCII without blanks. Every string has a key: nothing here raises, and nothing queries the DNS. A URL to which
the rules do not apply (`http://host:port/`) is its own key, escaped.

URLs without a host keep their scheme: `dns:example.com`, `urn:uuid:…`, `mailto:a@b`.

Rules: https://github.com/iipc/webarchive-commons (`org.archive.url`), as applied in Common Crawl's index.
"""

from __future__ import annotations

import re
import socket
from typing import Final

from crawlmill import core
from crawlmill.urls.escapes import escape, escape_unprintable, unescape
from crawlmill.urls.sessions import strip_path_session, strip_query_sessions

__all__ = ["urlkey", "urlkey_bytes"]

_NUMBER: Final = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HIGH: Final = rb"%[89a-f][0-9a-f]"

_USUAL: Final = re.compile(
    rb"(https?)://(?:www[0-9]*\.)?((?:[a-z0-9_-]+\.)*[a-z][a-z0-9-]*|(?!0)%b(?:\.%b){3})(?::([1-9][0-9]{0,3}))?"
    rb"(/[!-\"$&->@-~]*+(?:%b[!-\"$&->@-~]*+)*+)?(?:\?([!-\"$&-~]*+(?:%b[!-\"$&-~]*+)*+))?(?:#[!-~]*+)?"
    % (_NUMBER, _NUMBER, _HIGH, _HIGH)
)
"""A lower-case URL whose parts need no repair; its escapes are of bytes beyond ASCII, which stay escaped."""

_TWICE: Final = re.compile(rb"\A(?:https?://)+(https?://)")
_SCHEME: Final = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_PARTS: Final = re.compile(rb"(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_NUMBERS: Final = re.compile(rb"0[0-7]*(?:\.[0-7]+){1,3}|[1-9][0-9]*(?:\.[0-9]+){1,3}")
_WWW: Final = re.compile(rb"www[0-9]*\.")
_PORTS: Final = {b"http": b"80", b"https": b"443"}

_MAX_LABEL: Final = 1 << 10  # longest label passed to IDNA, in characters, since it takes quadratic time


def urlkey(url: str | bytes) -> str:
    """The key of a URL, as text.

    Args:
        url: The URL as recorded; text is encoded as UTF-8 (with `surrogateescape`).
    """
    if isinstance(url, bytes):
        return urlkey_bytes(url).decode("ascii")
    native = core.native()
    try:
        if native is not None and (key := native.urlkey_of(url)) is not None:
            return str(key)
    except UnicodeEncodeError:  # surrogates for bytes that are not UTF-8
        pass
    return _python_key(_encoded(url)).decode("ascii")


def urlkey_bytes(url: bytes) -> bytes:
    """The key of a URL, as bytes."""
    native = core.native()
    if native is not None and isinstance(key := native.urlkey(url), bytes):
        return key
    return _python_key(url)


def _python_key(url: bytes) -> bytes:
    usual = _USUAL.fullmatch(url.lower())
    if usual is None:
        return _key(url)
    scheme, host, port, path, query = usual.groups()
    if path is None:
        path = b"/"
    elif b"//" in path or b"/." in path:
        path = _without_dots(path)
    if b".aspx" in path:
        path = strip_path_session(path)
    if len(path) > 1 and path.endswith(b"/"):
        path = path[:-1]
    where = b",".join(host.split(b".")[::-1])
    if port is not None and port != _PORTS[scheme]:
        where = b"%b:%b" % (where, port)
    key = b"%b)%b" % (where, path)
    return b"%b?%b" % (key, ordered) if query and (ordered := _ordered(query)) else key


def _encoded(url: str) -> bytes:
    try:
        return url.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return url.encode("utf-8", "surrogatepass")


def _key(url: bytes) -> bytes:
    """The key of any URL; one to which the rules do not apply is its own key, in lower case."""
    if url.startswith(b"filedesc"):
        return escape_unprintable(url)
    stripped = _TWICE.sub(rb"\1", re.sub(rb"[\t\r\n]+", b"", url.strip()))
    if not stripped:
        return b"-"
    found = _SCHEME.fullmatch(stripped)
    scheme, rest = found.groups() if found else (b"http", b"//" + stripped)
    authority, path, query = _PARTS.match(rest).groups()  # type: ignore[union-attr] # it matches anything
    host, port = _host_and_port(authority or b"")
    if not host and scheme in _PORTS and path:
        # `http:/host/`, `http:////host/`: the host is the whole first segment, including what looks like user and port
        host, _, path = path.lstrip(b"/").partition(b"/")
        path = b"/" + path
    if port and not (port.isdigit() and len(port) <= _MAX_LABEL and int(port) <= 0xFFFF):
        return escape(unescape(stripped)).lower()
    port = port.lstrip(b"0")
    name = _name(host)
    query = _ordered(escape(unescape(query)).lower()) if query else b""
    path = unescape(path)
    if name:
        path = escape(_without_dots(path)).lower()
        where = b",".join(name.split(b".")[::-1])
        start = b"%b:%b)" % (where, port) if port and port != _PORTS.get(scheme.lower()) else where + b")"
    else:
        path = escape(path).lower()
        start = scheme + b":"
    path = strip_path_session(path)
    if len(path) > 1 and path.endswith(b"/"):
        path = path[:-1]
    if query:
        return b"%b%b?%b" % (start, path or b"/", query)
    return start + path


def _host_and_port(authority: bytes) -> tuple[bytes, bytes]:
    authority = authority.rstrip(b":").rpartition(b"@")[2]
    _, bracket, rest = authority.partition(b"[")
    if bracket:
        host, _, port = rest.partition(b"]")
        return host, port.partition(b":")[2]
    host, _, port = authority.partition(b":")
    return host, port


def _name(host: bytes) -> bytes:
    """A host in its form in keys, not yet reversed."""
    host = unescape(host)
    if not host.isascii():
        host = _punycode(host)
    host = host.strip(b".").replace(b"..", b".")
    host = _address(host) or escape(host.lower())
    www = _WWW.match(host)
    return host[www.end() :] if www else host


def _punycode(host: bytes) -> bytes:
    try:
        text = host.decode(errors="ignore")
        if max(map(len, text.split("."))) > _MAX_LABEL:
            return host
        return text.encode("idna")
    except UnicodeError:
        return host


def _address(host: bytes) -> bytes | None:
    """The address of a numeric host: a single number is taken modulo 2^32, several are read as by `inet_aton`."""
    if host.isdigit():
        return _dotted((_number(host) & 0xFFFFFFFF).to_bytes(4, "big"))
    if not _NUMBERS.fullmatch(host):
        return None
    try:
        return _dotted(socket.inet_aton(host.decode()))
    except OSError:
        return None


def _number(digits: bytes) -> int:
    """A decimal number modulo a power of two, of any length (`int` refuses more than 4,300 digits)."""
    value = 0
    for start in range(0, len(digits), 9):
        piece = digits[start : start + 9]
        value = (value * 10 ** len(piece) + int(piece)) & 0xFFFFFFFF
    return value


def _dotted(address: bytes) -> bytes:
    return b"%d.%d.%d.%d" % tuple(address)


def _without_dots(path: bytes) -> bytes:
    """A path without empty segments, without `.`, and without each `..` that has a segment to remove."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".":
            continue
        if segment == b".." and kept:
            kept.pop()
        else:
            kept.append(segment)
    if not kept:
        return b"/"
    last = kept.pop()
    return b"/" + b"".join(segment + b"/" for segment in kept if segment) + last


def _ordered(query: bytes) -> bytes:
    """A lower-case query without session ids, with arguments sorted by name and value."""
    query = strip_query_sessions(query)
    if b"&" not in query:
        return query
    # A query has no blanks or control characters left, so a name sorts before every longer one that begins with it.
    arguments = query.split(b"&")
    arguments.sort(key=lambda argument: argument.replace(b"=", b"\0", 1))
    return b"&".join(arguments)
