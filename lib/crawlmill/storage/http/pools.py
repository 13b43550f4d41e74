"""Connections to web servers: pools, proxies, certificates, and time-outs for servers that only trickle.

* Proxies come from the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, in either case; `no_proxy`
may contain networks such as 10.0.0.0/8).
* Certificates come from `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, `SSL_CERT_FILE`, `SSL_CERT_DIR`, else from the system;
  for S3 from `AWS_CA_BUNDLE` first.
* A server that sends less than a kilobyte per read time-out counts as silent, in headers and bodies alike.
* What has been received is acknowledged at once. The system would wait some 40 ms, and servers that send a response in
small pieces (pywb's among them) wait for that before they send the next one (RFC 9293 section 3.7.4).
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import os
import re
import socket
import ssl
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from crawlmill.errors import UsageError

__all__ = ["MAX_POOLS", "MIN_BYTES_PER_TIMEOUT", "new_manager", "proxy_for"]

MIN_BYTES_PER_TIMEOUT = 1024
MAX_POOLS = 32
"""Hosts whose connections are kept."""

_MAX_FRAMING_BYTES = 1 << 20
_MAX_TIMEOUTS = 4
_BUFFER = 1 << 16
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)  # of Linux
_NEXT_CHUNK = re.compile(rb"\r\n([0-9A-Fa-f]{1,8})\r\n")


class _Watched(io.RawIOBase):
    """The receiving side of a socket; ends a connection that only trickles, or sends overhead without content.

    A call to http.client may receive only a limited number of bytes beyond those it returns, and wait for a limited
    number of time-outs: by itself it would read header fields and chunk trailers for as long as they come.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._raw = sock.makefile("rb", buffering=0)
        self._quick_ack = None  # TLS within TLS, as proxies have it, has no options
        if _QUICK_ACK is not None and isinstance(sock, socket.socket):
            self._quick_ack = partial(sock.setsockopt, socket.IPPROTO_TCP, _QUICK_ACK, 1)
        self._timeout_s = sock.gettimeout() or float("inf")
        self._waited_s, self._got, self._all = 0.0, 0, 0
        self.allow(0)

    def allow(self, n: int) -> None:
        """Reset the limits for a call that returns at most `n` bytes."""
        self._left, self._left_s = n + _MAX_FRAMING_BYTES, _MAX_TIMEOUTS * self._timeout_s

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        """The number of bytes received."""
        return self._all

    def readinto(self, buffer: Any) -> int:
        began = time.monotonic()
        got = self._raw.readinto(buffer) or 0
        waited_s = time.monotonic() - began
        self._all += got
        self._left -= got
        self._left_s -= waited_s
        if self._left < 0:
            raise OSError("the server sends header or trailer fields without end")
        if 0 < got < len(buffer) and self._quick_ack is not None:
            self._quick_ack()  # holds for what has been received, not for later
        self._waited_s += waited_s
        self._got += got
        if self._waited_s > self._timeout_s:
            if self._left_s < 0 or (got and self._got < MIN_BYTES_PER_TIMEOUT):
                raise TimeoutError(f"only {self._got} bytes in {self._waited_s:.0f} s")
            self._waited_s, self._got = 0.0, 0
        return got

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self._watched = _Watched(sock)
        self.fp = io.BufferedReader(self._watched, _BUFFER)

    def read1(self, n: int = -1) -> bytes:
        self._watched.allow(max(n, 0))
        piece = super().read1(n)
        return piece + self._chunks_received(n - len(piece)) if piece and self.chunk_left == 0 else piece

    def _chunks_received(self, most: int) -> bytes:
        """The chunks after the one that was just read to its end, as far as they have been received.

        Some servers send each line as a chunk; http.client takes about ten microseconds for each.
        """
        if self._watched.tell() == self.fp.tell():
            return b""  # if nothing is buffered, peeking would block
        held, at, pieces = self.fp.peek(), 0, []
        while self.chunk_left == 0 and (found := _NEXT_CHUNK.match(held, at)) is not None:
            start, length = found.end(), int(found[1], 16)
            end = min(start + length, start + most, len(held))
            if end <= start:
                break
            at = end
            most -= end - start
            self.chunk_left = start + length - end
            pieces.append(held[start:end])
        self.fp.read(at)
        return b"".join(pieces)


class _HttpConnection(HTTPConnection):
    response_class = _Response


class _HttpsConnection(HTTPSConnection):
    response_class = _Response


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


def proxy_for(scheme: str, host: str) -> str | None:
    """The proxy for a host according to the environment."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return proxy if "://" in proxy else f"http://{proxy}"
    for network in proxies.get("no", "").split(","):
        try:
            if address in ipaddress.ip_network(network.strip(), strict=False):
                return None
        except ValueError:
            continue  # a name, which proxy_bypass has checked
    return proxy if "://" in proxy else f"http://{proxy}"


def new_manager(scheme: str, proxy: str | None, certificates: str | None = None) -> urllib3.PoolManager:
    """A pool manager for the hosts reached over one scheme and proxy, with these CA certificates or the usual ones."""
    options: dict[str, Any] = {"num_pools": MAX_POOLS, "maxsize": 8}
    if scheme == "https":
        options["ssl_context"] = _trust(certificates)
    manager: urllib3.PoolManager
    if proxy is None:
        manager = urllib3.PoolManager(**options)
    else:
        parsed = urllib3.util.parse_url(proxy)
        if parsed.scheme not in ("http", "https"):
            raise UsageError(f"proxies of the kind {parsed.scheme}:// are not supported: expected http or https")
        userinfo = unquote(parsed.auth) if parsed.auth else None
        headers = urllib3.util.make_headers(proxy_basic_auth=userinfo) if userinfo else None
        manager = urllib3.ProxyManager(parsed._replace(auth=None).url, proxy_headers=headers, **options)
    manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return manager


def _trust(certificates: str | None) -> ssl.SSLContext:
    """A context that trusts the given certificates, else those of the environment, else those of the system."""
    name = next((name for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if os.environ.get(name)), None)
    place = certificates or (os.environ[name] if name else None)
    if place is None:
        return _system_trust()
    try:
        if Path(place).is_dir():
            return ssl.create_default_context(capath=place)
        return ssl.create_default_context(cafile=place)
    except OSError as error:
        what = name if name and not certificates else "the configuration of AWS"
        message = f"{what} does not name a file of certificates: {error.strerror or error}"
        raise UsageError(message, source=place) from error


def _system_trust() -> ssl.SSLContext:
    """The system's certificates; if it has none (slim images, some Macs), those of a package that brings some."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and not (paths.capath and any(Path(paths.capath).iterdir())):
        for package in ("certifi", "botocore"):  # not dependencies, but often installed
            found = find_spec(package)
            if found and found.origin and (file := Path(found.origin).with_name("cacert.pem")).is_file():
                return ssl.create_default_context(cafile=file)
    return ssl.create_default_context()
