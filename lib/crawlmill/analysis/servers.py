r"""The Server headers of responses, for `server_count`: from HTTP headers and from the JSON of WAT records.

Spec: the WAT metadata published by Common Crawl: one JSON object per WARC record. Used are
`Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers`, an object {name as sent: value, or list of values if the
name is repeated}, and `Envelope.WARC-Header-Metadata.WARC-Type`. Key order differs between crawls (2014: Headers after
the page's links); HTML metadata can make up most of the text.

A WAT record is read without parsing all of it: `wat_json` explains why keys can be searched for in the text. The value
of such a key is extracted up to its `}` and parsed alone; if a key is not found in this form (blanks between tokens, no
headers), or its object contains another, the whole record is parsed.

Deviations:
* Keys written with unnecessary escapes (`"Header\u0073"`) count as other keys; no WAT writer does this.
* Of a record read in parts, the rest is only checked to begin with `{` and to end with `}`; without an HTTP response,
  also to have as many of one as of the other. The checksum of the gzip member verifies the bytes themselves.
* JSON is what `ujson` accepts: control characters may occur in strings.
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
    """Counts of servers, with None for responses without one, held until drained.

    `len()` is at least the number of different keys held. `native` is a counter of the native core, which counts the
    responses and WAT records of an archive while they are read; its counts are drained with the others. None in Python.
    """

    __slots__ = ("_counts", "native")

    def __init__(self) -> None:
        native = core.native()
        self.native: Any | None = None if native is None else native.ServerCounter()
        self._counts: Counter[str | None] = Counter()

    def add(self, servers: Iterable[str | None]) -> None:
        """Count one response, given the result of `servers_of_headers` or `wat_servers`."""
        self._counts.update(servers)

    def __len__(self) -> int:
        return len(self._counts) + (0 if self.native is None else len(self.native))

    def drain(self) -> Iterator[tuple[str | None, int]]:
        """Yield each key once with its count, in no particular order. Empties the counter as soon as it is called."""
        counts, self._counts = self._counts, Counter()
        if self.native is not None:
            counts.update(dict(self.native.drain()))
        return iter(counts.items())

    def drain_lines(self) -> Iterable[bytes]:
        """The native core's counts as lines of JSON, `key TAB value`, several in each item.

        The other counts come from `drain`.
        """
        return () if self.native is None else self.native.drain_lines()


def servers_of_headers(values: Iterable[str]) -> list[str | None]:
    """The keys to count for one response, given the values of its Server headers.

    Each distinct value once, in order, without surrounding blanks; [None] if nothing is left.
    """
    stripped = (value.strip(_BLANKS) for value in values)
    return [*dict.fromkeys(value for value in stripped if value)] or [None]


def wat_servers(envelope: bytes) -> list[str | None] | None:
    """The keys to count for a WAT record: None if it does not describe an HTTP response (revisits do not count).

    `envelope` is the block of the record.

    Raises:
        FormatError: `bad-json`: it is not JSON, or a Server header is neither a string nor a list of strings.

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
    """(WARC-Type, headers), each parsed alone; None if they are not found this way."""
    if not is_key_of_object(text, response, b'"HTTP-Response-Metadata":{'):
        return None
    headers = object_of(text, text.find, b'"Headers":{', response)
    warc = object_of(text, text.rfind, b'"WARC-Header-Metadata":{', 0)
    return None if headers is None or warc is None else (warc.get("WARC-Type", "response"), headers)


def _in_whole(text: bytes) -> tuple[Any, dict[str, Any] | None]:
    """(WARC-Type, headers); headers are None without an HTTP response; a missing type (WAT of an ARC) is `response`."""
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
    r"""Replace lone surrogates by U+FFFD: JSON can express them ("\ud800"), UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
