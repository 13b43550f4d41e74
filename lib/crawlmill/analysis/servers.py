r"""The Server headers of responses: what `server_count` asks, of HTTP headers and of the JSON of WAT records.

Spec: the WAT metadata that Common Crawl publishes: one JSON object per WARC record, of which are used
`Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers`, an object {name as sent: value, or list of values where the
name is repeated}, and `Envelope.WARC-Header-Metadata.WARC-Type`. Key order differs between crawls (2014: Headers after
the page's links); HTML metadata can make up most of the text.

A WAT record is read without parsing all of it: `wat_json` says why keys may be sought for in the text. What follows
such a key is cut out up to its `}` and parsed alone; where a key is not found like that (blanks between tokens, no
headers), or its object holds another, everything is parsed.

Deviations:
* Keys written with escapes where none are needed (`"Header\u0073"`) count as other keys; no writer of WAT does so.
* Of a record read in parts, the rest is only seen to begin with `{` and to end with `}`; of one without an HTTP
  response, also that it has as many of the one as of the other. That the bytes are those that were written is for the
  checksum of their gzip member to prove.
* JSON is what `ujson` takes for it: control characters may stand in strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import ujson

from crawlmill import core
from crawlmill.analysis.wat_json import is_key_of_object, member, object_of, object_text
from crawlmill.errors import FormatError

__all__ = ["ServerCounter", "servers_of_headers", "wat_servers"]

_BLANKS = " \t\r\n\v\f"


class ServerCounter:
    """Counts of servers, and under None of responses without one, held until they are drained.

    `len()` is at least the number of different keys held. `native` is a counter of the native core, which counts the
    responses and WAT records of an archive while they are read; what it counted is drained with the rest. None in
    Python.
    """

    __slots__ = ("_counts", "native")

    def __init__(self) -> None:
        native = core.native()
        self.native: Any | None = None if native is None else native.ServerCounter()
        self._counts: Counter[str | None] = Counter()

    def add(self, servers: Iterable[str | None]) -> None:
        """Count one response, by what `servers_of_headers` or `wat_servers` gave."""
        self._counts.update(servers)

    def __len__(self) -> int:
        return len(self._counts) + (0 if self.native is None else len(self.native))

    def drain(self) -> Iterator[tuple[str | None, int]]:
        """Each key once with its count, in no promised order. The counter is empty as soon as this is called."""
        counts, self._counts = self._counts, Counter()
        if self.native is not None:
            counts.update(dict(self.native.drain()))
        return iter(counts.items())

    def drain_lines(self) -> Iterable[bytes]:
        """What the native core counted as lines of JSON, `key TAB value`, some of them in each.

        What is not given here comes out of `drain`.
        """
        return () if self.native is None else self.native.drain_lines()


def servers_of_headers(values: Iterable[str]) -> list[str | None]:
    """The keys that one response counts under, given the values of its Server headers.

    Each distinct value once, in order, without the blanks around it; [None] where nothing is left.
    """
    stripped = (value.strip(_BLANKS) for value in values)
    return [*dict.fromkeys(value for value in stripped if value)] or [None]


def wat_servers(envelope: bytes) -> list[str | None] | None:
    """The keys that one WAT record counts under: None if it does not describe an HTTP response (revisits are none).

    `envelope` is the block of the record.

    Raises:
        FormatError: `bad-json`, if it is not JSON, or a Server header is neither a string nor a list of strings.

    """
    native = core.native()
    if native is not None and (found := native.wat_servers(envelope)) is not NotImplemented:
        usual: list[str | None] | None = found
        return usual
    text = object_text(envelope)
    response = text.find(b'"HTTP-Response-Metadata"')
    if response < 0 and text.count(b"{") == text.count(b"}"):
        return None
    try:
        kind, headers = _in_parts(text, response) or _in_whole(text)
    except ValueError as error:
        raise FormatError(f"WAT record: {error}", reason="bad-json") from error
    if kind != "response" or headers is None:
        return None
    return servers_of_headers(_server_values(headers))


def _in_parts(text: bytes, response: int) -> tuple[Any, dict[str, Any]] | None:
    """(WARC-Type, headers), each parsed alone; None where they are not found like that."""
    if not is_key_of_object(text, response, b'"HTTP-Response-Metadata":{'):
        return None
    headers = object_of(text, text.find, b'"Headers":{', response)
    warc = object_of(text, text.rfind, b'"WARC-Header-Metadata":{', 0)
    return None if headers is None or warc is None else (warc.get("WARC-Type", "response"), headers)


def _in_whole(text: bytes) -> tuple[Any, dict[str, Any] | None]:
    """(WARC-Type, headers); headers are None if this is no HTTP response, no type (WAT of an ARC) is `response`."""
    envelope = member(ujson.loads(text), "Envelope")
    warc = member(envelope, "WARC-Header-Metadata")
    payload = member(envelope, "Payload-Metadata")
    if "HTTP-Response-Metadata" not in payload:
        return None, None
    return warc.get("WARC-Type", "response"), member(member(payload, "HTTP-Response-Metadata"), "Headers")


def _server_values(headers: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in headers.items():
        lowered = name.lower()
        if "server" in lowered and lowered.strip(_BLANKS) == "server":
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str):
                    found.append(_encodable(one))
                elif one is not None:
                    what = repr(one)[:60]
                    raise FormatError("WAT Server header", reason="bad-json", expected="a string", actual=what)
    return found


def _encodable(text: str) -> str:
    r"""With U+FFFD for surrogates that are half of nothing: JSON can spell them ("\ud800"), UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
