"""The metadata records of 2012: what a crawl attempt found, as JSON in the values of `metadata-NNNNN` files.

    >>> record = parse_metadata(b'{"attempt_time":1341708194671,"disposition":"FAILURE","failure_reason":"DNSFailure"}')
    >>> record.succeeded, record.failure_reason, record.http_status
    (False, 'DNSFailure', None)

A record is kept as stored (`raw`) and as parsed JSON (`fields`), which is what jobs write. The attributes are a typed
and normalised view of the latter, computed when they are used:

* names include units, and describe the value rather than repeat the key (`content_len` is the number of downloaded
  bytes);
* an absent value is None, or False for flags and empty for collections; so is a value of the wrong type, which
  `rules.validate` reports;
* values that mean "no answer" in redirects (status 0, address 0.0.0.0) are None;
* keys that are not known are in `unknown`.

`content` is described in `crawl2012.content`. The URL is the key of the record in its file, after redirects; the URL
requested is `redirect.source_url`.

Spec: none existed; derived from the programs that wrote the records (Common Crawl's ParserMapper, Gson 2.1), and from
real records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, overload

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.content import Document, Feed, parse_content, typed
from crawlmill.formats.crawl2012.strict_json import compact_json, parse_json

__all__ = ["CHARSET_SOURCES", "ArchivePointer", "MetadataRecord", "Redirect", "parse_metadata"]

CHARSET_SOURCES: Final = {0: "HTTP header", 1: "meta tag", 2: "ICU", 3: "Mozilla", 10: "nothing found"}
"""What the codes of `charset_detector` stand for; 3 is in the program, but never came to pass."""

_T = TypeVar("_T")


class _Stored(Generic[_T]):
    """An attribute whose value is stored under one key; None if it is of another type."""

    def __init__(self, key: str, kind: type[_T]) -> None:
        self.key, self._kind = key, kind

    @overload
    def __get__(self, record: None, owner: type) -> _Stored[_T]: ...
    @overload
    def __get__(self, record: MetadataRecord, owner: type) -> _T | None: ...
    def __get__(self, record: MetadataRecord | None, owner: type) -> _Stored[_T] | _T | None:
        return self if record is None else typed(record.fields, self.key, self._kind)


@dataclass(frozen=True, slots=True)
class ArchivePointer:
    """Where the body is stored: as one gzip member of an ARC file of the same segment.

    Attributes:
        segment_id: The segment's name: its creation time in milliseconds since 1970.
        file_date_ms: When the file was started, in milliseconds since 1970.
        partition: The map partition that wrote the file.
        offset_bytes: The offset of the member in the compressed file.
        length_bytes: The size of the member.

    """

    segment_id: int
    file_date_ms: int
    partition: int
    offset_bytes: int
    length_bytes: int

    @property
    def file_name(self) -> str:
        """The name of the ARC file."""
        return f"{self.file_date_ms}_{self.partition}.arc.gz"

    @property
    def location(self) -> str:
        """The ARC file, relative to the root of Common Crawl's data."""
        return f"parse-output/segment/{self.segment_id}/{self.file_name}"

    @property
    def input_line(self) -> str:
        """The line of an input list that names this member."""
        return f"{self.location}\t{self.offset_bytes}\t{self.length_bytes}"


@dataclass(frozen=True, slots=True)
class Redirect:
    """The redirect that led to the record's URL; if there were several, the last.

    `http_status` and `server_ip` are None if there was no answer.
    """

    source_url: str | None
    http_status: int | None
    server_ip: str | None
    http_headers: Mapping[str, str]
    unknown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One crawl attempt. `raw` is the value as stored, `fields` its JSON; the other attributes are a view of it.

    Attributes:
        attempt_time_ms: When the attempt was made, in milliseconds since 1970, UTC.
        disposition: "SUCCESS" (any response of status 2xx, 304 or 4xx) or "FAILURE".
        failure_reason: The name of the reason of a failure, such as "RobotsExcluded".
        failure_detail: More about it; the status of 5xx responses is only in here.
        server_ip: The server's address.
        http_status: The status code.
        downloaded_bytes: Size of the body as received, which may be truncated or compressed.
        mime_type: Media type in lower case, "text/html" if the server sent none; only for bodies of status 2xx.
        body_bytes: The same as `downloaded_bytes`, for the records that have a `mime_type`.
        gunzipped_bytes: Size of a gzipped body after decompression.
        md5: MD5 of the decompressed body, as 32 hexadecimal digits.
        charset: The charset the body was decoded with, by Java's name; only for text, like the next two.
        charset_detector: How the charset was determined: see `CHARSET_SOURCES`.
        text_simhash: Hash of the decoded body, markup included: signed, 64 bits.
        parsed_as: "html" or "feed", if the body could be parsed as one.

    """

    raw: bytes
    fields: dict[str, Any]

    attempt_time_ms = _Stored("attempt_time", int)
    disposition = _Stored("disposition", str)
    failure_reason = _Stored("failure_reason", str)
    failure_detail = _Stored("failure_detail", str)
    server_ip = _Stored("server_ip", str)
    http_status = _Stored("http_result", int)
    downloaded_bytes = _Stored("content_len", int)
    mime_type = _Stored("mime_type", str)
    body_bytes = _Stored("download_size", int)
    gunzipped_bytes = _Stored("gunzip_content_len", int)
    md5 = _Stored("md5", str)
    charset = _Stored("charset_detected", str)
    charset_detector = _Stored("charset_detector", int)
    text_simhash = _Stored("text_simhash", int)
    parsed_as = _Stored("parsed_as", str)

    @property
    def succeeded(self) -> bool:
        """Whether there was a response, even a 404."""
        return self.disposition == "SUCCESS"

    @property
    def is_truncated(self) -> bool:
        """Whether the download was truncated at the crawler's limit."""
        return self.fields.get("download_truncated") is True

    @property
    def is_gzip(self) -> bool:
        """Whether the body was sent as gzip."""
        return self.fields.get("content_is_gzip") is True

    @property
    def gunzip_failed(self) -> bool:
        """Whether the gzip was broken; then nothing is known about its content."""
        return self.fields.get("gunzip_failed") is True

    @property
    def status_line(self) -> str | None:
        """The first line of the response."""
        return typed(_strings(self.fields.get("http_headers")), "response", str)

    @property
    def http_headers(self) -> dict[str, str]:
        """Header values by name in lower case; the last of repeated headers was kept, and some headers were dropped."""
        return _without_status_line(self.fields.get("http_headers"))

    @property
    def redirect(self) -> Redirect | None:
        """The redirect that was followed."""
        found = typed(self.fields, "redirect_from", dict)
        if found is None:
            return None
        address = typed(found, "server_ip", str)
        return Redirect(
            source_url=typed(found, "source_url", str),
            http_status=typed(found, "http_result", int) or None,
            server_ip=None if address == "0.0.0.0" else address,  # noqa: S104
            http_headers=_without_status_line(found.get("http_headers")),
            unknown={key: value for key, value in found.items() if key not in _REDIRECT_KEYS},
        )

    @property
    def content(self) -> Document | Feed | None:
        """What the parser found in the body."""
        found = typed(self.fields, "content", dict)
        return None if found is None else parse_content(found)

    @property
    def archive(self) -> ArchivePointer | None:
        """Where the body is stored; None if it was not, or if the pointer is incomplete."""
        found = typed(self.fields, "archiveInfo", dict) or {}
        segment, date, partition, offset, length = (typed(found, key, int) for key in _POINTER_KEYS)
        if segment is None or date is None or partition is None or offset is None or length is None:
            return None
        return ArchivePointer(segment, date, partition, offset, length)

    @property
    def unknown(self) -> dict[str, Any]:
        """The values of keys that Common Crawl's program did not write."""
        return {key: value for key, value in self.fields.items() if key not in _KEYS}

    def to_json(self) -> str:
        """`fields` as JSON text: for a record written by Common Crawl, exactly the text that was stored."""
        return compact_json(self.fields)


_REDIRECT_KEYS: Final = frozenset(("source_url", "http_result", "server_ip", "http_headers"))
_POINTER_KEYS: Final = ("arcSourceSegmentId", "arcFileDate", "arcFileParition", "arcFileOffset", "compressedSize")
_KEYS: Final = {stored.key for stored in vars(MetadataRecord).values() if isinstance(stored, _Stored)} | {
    "redirect_from",
    "http_headers",
    "download_truncated",
    "content_is_gzip",
    "gunzip_failed",
    "content",
    "archiveInfo",
}


def parse_metadata(value: bytes) -> MetadataRecord:
    """Parse a value of a metadata file.

    Raises:
        FormatError: `bad-encoding`: the value is not UTF-8; `bad-json`: it is not a JSON object.

    """
    fields = parse_json(value)
    if not isinstance(fields, dict):
        raise FormatError("metadata record", reason="bad-json", expected="an object", actual=compact_json(fields)[:60])
    return MetadataRecord(value, fields)


def _strings(value: Any) -> dict[str, str]:
    return {key: text for key, text in value.items() if type(text) is str} if isinstance(value, dict) else {}


def _without_status_line(value: Any) -> dict[str, str]:
    headers = _strings(value)
    headers.pop("response", None)
    return headers
