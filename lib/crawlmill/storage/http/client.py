"""HTTP requests with time-outs, redirects and politeness limits; each is sent once.

* Userinfo in a URL is sent as Basic authentication, to that origin only.
* Messages contain URLs only as shown by `redact`, and no text from urllib3, which quotes query strings.
"""

from __future__ import annotations

import http.client
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO
from urllib.parse import unquote, urljoin

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    IncompleteRead,
    LocationParseError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from crawlmill import __version__
from crawlmill.storage.http.pools import MAX_POOLS, new_manager, proxy_for
from crawlmill.storage.http.transfer_codings import transfer_decoder
from crawlmill.storage.limits import Limiter, name_of
from crawlmill.storage.locations import redact
from crawlmill.storage.retry import Failure, failure_of_status, parse_retry_after

__all__ = ["Answer", "HttpClient", "failure_of_error"]

USER_AGENT = f"crawlmill/{__version__} (MapReduce jobs for Common Crawl; urllib3)"
MAX_REDIRECTS = 10
MAX_LOOKUPS = 4
"""Look-ups of a host name in a row without success after which each further request does only one."""
_CONNECT_TIMEOUT_S = 20.0
_DRAINED_BYTES = 1 << 13
_ORIGIN = "[A-Za-z]+://"
_LENGTH = re.compile("[0-9]{1,18}")  # Python refuses to parse numbers of more than some thousand digits
_REDIRECTS = (301, 302, 303, 307, 308)

# urllib3 logs whole URLs with signatures and tokens, some of them as warnings.
for _name in ("urllib3.connection", "urllib3.connectionpool"):
    logging.getLogger(_name).setLevel(logging.ERROR)


class Answer:
    """A response whose body has not been read. `read` returns bytes as stored: content codings are not removed."""

    def __init__(self, response: urllib3.BaseHTTPResponse, url: str, release: Callable[[], None]) -> None:
        self._response, self._release = response, release
        self.status, self.headers, self.url = response.status, response.headers, url
        coding = self.headers.get("Transfer-Encoding", "")
        try:
            self._decode = transfer_decoder(coding, self._read)
        except Failure:
            self.close()
            raise
        length = self.headers.get("Content-Length")
        self.length: int | None = None
        """Bytes of the body as declared; None where only its end tells."""
        if length is not None and not coding:
            if not _LENGTH.fullmatch(length):
                self.close()
                raise Failure("the server states a length that is not a number")
            self.length = int(length)

    @property
    def host(self) -> str:
        """The host that responded."""
        return host_of(self.url)

    def read(self, n: int, /) -> bytes:
        """Read at most `n` bytes, as soon as some are there; returns b"" once the body is complete. Raises: Failure."""
        return self._decode(n) if self._decode else self._read(n)

    def failure(self) -> Failure:
        """The failure that this response means if it is not a success; closes it."""
        wait = parse_retry_after(self.headers.get("Retry-After"))
        self.drain()
        phrase = http.client.responses.get(self.status, "")
        return failure_of_status(self.status, phrase, self.host, wait)

    def drain(self, limit: int = _DRAINED_BYTES) -> bytes:
        """The first bytes of an unwanted body; the connection can be kept if the body has no more."""
        pieces = []
        try:
            while limit and (piece := self.read(limit)):
                limit -= len(piece)
                pieces.append(piece)
        except Failure:
            pass  # the body was not wanted
        self.close()
        return b"".join(pieces)

    def close(self) -> None:
        """Keep the connection if the body was read to its end, else close it."""
        try:
            self._response.close()
        except (OSError, HTTPError):
            pass  # it is closed anyway
        self._release()

    def _read(self, n: int) -> bytes:
        try:
            return self._response.read1(n, decode_content=False)
        except (HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            raise failure_of_error(error) from error


class HttpClient:
    """Sends requests; can be shared by threads. `certificates`: a file or folder of CA certificates to use."""

    def __init__(self, read_timeout_s: float, limiter: Limiter, *, certificates: str | None = None) -> None:
        self._limiter, self._certificates = limiter, certificates
        self._timeout = urllib3.Timeout(connect=min(_CONNECT_TIMEOUT_S, read_timeout_s), read=read_timeout_s)
        self._managers: dict[tuple[str, str | None], urllib3.PoolManager] = {}
        self._by_host: dict[tuple[str, str], urllib3.PoolManager] = {}
        self._pools: dict[tuple[str | None, str | None, int | None], urllib3.HTTPConnectionPool] = {}
        self._failed_lookups: dict[str, int] = {}  # by host: failures in a row since it was last reached
        self._reached: set[str] = set()

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        body: IO[bytes] | bytes | None = None,
        follow: bool = True,
        limited_as: str | None = None,
        kind: str | None = None,
    ) -> Answer:
        """Send a request once, follow at most ten redirects, and return the response, whatever its status.

        The limits of the host apply, or those of the given name or kind of service.

        Raises: Failure: There was no response.
        """
        target, authorization = _target(url)
        sent = {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": "identity", **(headers or {})}
        if authorization:
            sent.setdefault("Authorization", authorization)
        seen = {target.url}
        while True:
            answer = self._send(method, target, sent, body, limited_as or name_of(target.host or "", kind))
            place = answer.headers.get("Location")
            if not follow or answer.status not in _REDIRECTS or not place:
                return answer
            answer.drain()
            before = target
            target = _redirected(target, place)
            if (before.scheme, before.netloc) != (target.scheme, target.netloc):
                sent.pop("Authorization", None)
            if target.url in seen:
                raise Failure("redirects in a circle")
            if len(seen) > MAX_REDIRECTS:
                raise Failure(f"more than {MAX_REDIRECTS} redirects")
            seen.add(target.url)

    def slow_down(self, url: str, kind: str | None = None) -> Callable[[float], None]:
        """A function to call, with seconds, if the host of a URL, or its service of this kind, throttles."""
        return lambda wait_s: self._limiter.slow_down(name_of(host_of(url), kind), wait_s)

    def close(self) -> None:
        """Close idle connections."""
        self._pools.clear()
        for manager in list(self._managers.values()):
            manager.clear()

    def _send(
        self,
        method: str,
        target: urllib3.util.Url,
        headers: Mapping[str, str],
        body: IO[bytes] | bytes | None,
        limited_as: str,
    ) -> Answer:
        release = self._limiter.admit(limited_as)
        try:
            urlopen, url = self._way_to(target)
            response = urlopen(
                method,
                url,
                body=body,
                headers=headers,
                redirect=False,
                retries=False,
                preload_content=False,
                decode_content=False,
                timeout=self._timeout,
            )
        except (HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            release()
            # Not bound to a name: together with the error's traceback it would form a cycle that keeps a socket open.
            raise self._failure_of(error, target.host or "") from error
        except BaseException:
            release()
            raise
        self._reached.add(target.host or "")
        return Answer(response, target.url, release)

    def _failure_of(self, error: Exception, host: str) -> Failure:
        """The failure that an error means. Without a network, or for an unknown host name, few retries are allowed.

        A host that was reached before gets all retries.
        """
        failure = failure_of_error(error)
        if isinstance(error, NameResolutionError) and host not in self._reached:
            count = self._failed_lookups[host] = self._failed_lookups.get(host, 0) + 1
            failure.most_retries = MAX_LOOKUPS - 1 if count <= MAX_LOOKUPS else 0
        return failure

    def _way_to(self, target: urllib3.util.Url) -> tuple[Callable[..., urllib3.BaseHTTPResponse], str]:
        """What sends a request, and the URL to call it with.

        Without a proxy it is the pool of the host itself; to find it, urllib3 would parse the URL twice more.
        """
        manager = self._manager(target)
        if manager.proxy is not None:
            return manager.urlopen, target.url
        key = target.scheme, target.host, target.port
        pool = self._pools.get(key)
        if pool is None:
            if len(self._pools) >= MAX_POOLS:
                self._pools.clear()
            pool = self._pools[key] = manager.connection_from_host(target.host, target.port, target.scheme)
        return partial(pool.urlopen, assert_same_host=False), target.request_uri

    def _manager(self, target: urllib3.util.Url) -> urllib3.PoolManager:
        key = (target.scheme or "", target.host or "")
        if key not in self._by_host:
            way = (key[0], proxy_for(*key))
            if way not in self._managers:
                self._managers[way] = new_manager(*way, self._certificates)
            self._by_host[key] = self._managers[way]
        return self._by_host[key]


def host_of(url: str) -> str:
    """The host of a URL in lower case, or "": the key for politeness limits."""
    try:
        return urllib3.util.parse_url(url).host or ""
    except LocationParseError:
        return ""


def _redirected(target: urllib3.util.Url, place: str) -> urllib3.util.Url:
    # A header is decoded as Latin-1; non-ASCII bytes in a location are usually UTF-8.
    place = place.encode("latin-1", "replace").decode("utf-8", "replace")
    try:
        return _target(urljoin(target.url, place))[0]
    except ValueError as error:
        raise Failure(f"a redirect to something that is not a URL{_shown(place)}") from error


def _target(url: str) -> tuple[urllib3.util.Url, str | None]:
    """The normalised URL without userinfo and fragment, and the userinfo as Basic authentication, if any."""
    try:
        parsed = urllib3.util.parse_url(url)
    except LocationParseError:
        parsed = urllib3.util.Url()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Failure(f"not a valid http or https URL{_shown(url)}")
    authorization = None
    if parsed.auth:
        authorization = urllib3.util.make_headers(basic_auth=unquote(parsed.auth))["authorization"]
    return parsed._replace(auth=None, fragment=None), authorization


def _shown(url: str) -> str:
    """The part of an invalid URL that is safe to show: without a valid URL, it is unknown where its query begins."""
    return f": {redact(url)[:200]}" if re.match(_ORIGIN, url) else ""


def failure_of_error(error: Exception) -> Failure:
    """The failure that an error of urllib3, http.client or the operating system means."""
    cause = error.__cause__ or error.__context__
    if isinstance(error, ProxyError):
        denied = "407" in str(error.original_error)
        what = "the proxy refuses (HTTP 407)" if denied else "the proxy cannot be reached or refuses the connection"
        return Failure(what, reason="denied" if denied else "unavailable", transient=not denied)
    if isinstance(error, SSLError):
        untrusted = next((arg for arg in error.args if isinstance(arg, ssl.SSLCertVerificationError)), None)
        if untrusted is not None:
            return Failure(f"the server's certificate is not trusted: {untrusted.verify_message}")
        return Failure("the TLS connection failed", transient=True)
    if isinstance(cause, IncompleteRead | http.client.IncompleteRead):
        what = "the connection was closed before the end of the body"
    elif isinstance(error, LocationParseError):
        return Failure("the host name is not valid")
    elif isinstance(error, NameResolutionError):
        what = "the host name cannot be resolved"
    elif isinstance(error, ConnectTimeoutError) and not isinstance(error, NewConnectionError):
        what = "the host does not answer"
    elif isinstance(error, ReadTimeoutError | TimeoutError):
        what = "the server fell silent (read time-out)"
    else:
        broken = cause if isinstance(cause, OSError | http.client.HTTPException) else error
        what = f"the connection failed: {getattr(broken, 'strerror', None) or type(broken).__name__}"
    return Failure(what, transient=True)
