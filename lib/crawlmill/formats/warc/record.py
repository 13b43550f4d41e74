"""WARC records, and WAT and WET records, which have the same form: WARC 1.1 (ISO 28500:2017), also 1.0 and 0.1x.

Accepted beyond the standard: lines that end in LF only, folded header lines, header names in any case, header lines
without a colon (ignored), target URIs in angle brackets, values that are not UTF-8 (read as Latin-1).

Reported as damage: a missing version line, a missing or invalid Content-Length (`bad-header`, `bad-length`), and a
block that is not followed by its two line ends (`bad-length`), since only they show that the declared length is right.
If no checksum covers a record by itself, also a header with a second version line, or with a repeated mandatory field
(`bad-header`): bytes between two headers are missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, ClassVar, Final

from crawlmill.errors import FormatError
from crawlmill.formats.record import HEAD_BYTES, Record

__all__ = [
    "MAX_HEAD",
    "Head",
    "WarcRecord",
    "classify",
    "has_end",
    "has_mandatory_fields",
    "joined_header",
    "parse_head",
    "quick_head",
]

MAX_HEAD: Final = 1 << 20
"""Bytes in which a record's header must end."""

_VERSION = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n")
_SECOND_VERSION = re.compile(rb"\n(?![ \t])[^:\n]*WARC/\d+\.\d+[ \t]*\r?\n")
"""Perhaps after what is left of a line, but of none that has a colon: a value may end like this."""
_LINE_END = re.compile(rb"\r?\n")
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
_PLAIN_FIELD = re.compile(r"\n([^:\n]*):([^\n]*)")
_USUAL_VERSIONS = (b"WARC/1.0\r\n", b"WARC/1.1\r\n")
_MANDATORY = ("warc-type", "warc-record-id", "warc-date", "content-length")
_HTTP_TYPES = ("response", "revisit")
_TYPES = {
    kind.encode(): kind
    for kind in ("warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation")
}

Head = tuple[str, int, int]
"""The type of a record, where its block begins, and how long it declares the block to be."""


def has_end(data: bytes) -> bool:
    """Whether these bytes contain an empty line, which ends a header."""
    return _EMPTY_LINE.search(data, 0, MAX_HEAD) is not None


def quick_head(data: bytes | bytearray) -> Head | None:
    """Parse the head of a record in the usual form: 1.0 or 1.1, CR LF, names as in the standard, each once.

    Returns None for other forms, which `parse_head` must parse.
    """
    if not data.startswith(_USUAL_VERSIONS):
        return None
    end = data.find(b"\r\n\r\n", 10, MAX_HEAD)
    at = data.find(b"\r\nContent-Length: ", 8, end)
    kind_at = data.find(b"\r\nWARC-Type: ", 8, end)
    if end < 0 or at < 0 or kind_at < 0 or data.find(b"\r\nContent-Length: ", at + 18, end) >= 0:
        return None
    kind = _TYPES.get(bytes(data[kind_at + 13 : data.find(b"\r", kind_at + 13)]))
    length = data[at + 18 : data.find(b"\r", at + 18)]
    return (kind, end + 4, int(length)) if kind is not None and length.isdigit() and len(length) < 19 else None


def parse_head(data: bytes) -> Head:
    """Parse the head of the record at the beginning of `data`.

    Raises:
        FormatError: `bad-header`: no version line, no end within `data`, or no type; `bad-length`.
    """
    if not _VERSION.match(data):
        raise FormatError(
            "not a WARC record", reason="bad-header", expected="WARC/1.0 or WARC/1.1", actual=repr(data[:20])[2:-1]
        )
    match = _EMPTY_LINE.search(data, 0, MAX_HEAD)
    if match is None:
        raise FormatError(
            "WARC header without an end",
            reason="bad-header",
            expected="an empty line",
            actual=f"{min(len(data), MAX_HEAD)} bytes without one",
        )
    fields = _parse_fields(data[: match.start()])
    lengths = {value for name, value in fields if name.lower() == "content-length"}
    if len(lengths) != 1:
        raise FormatError(
            "WARC header without one Content-Length",
            reason="bad-length",
            expected="one",
            actual=", ".join(sorted(lengths)) or "none",
        )
    length = lengths.pop()
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise FormatError(
            "wrong Content-Length", reason="bad-length", expected="a number of bytes", actual=repr(length[:40])
        )
    kind = next((value for name, value in fields if name.lower() == "warc-type"), "")
    if not kind:
        raise FormatError("WARC header without WARC-Type", reason="bad-header", expected="WARC-Type", actual="none")
    return kind.lower(), match.end(), int(length)


def joined_header(head: bytes) -> FormatError | None:
    """Check for a header that begins as that of one record and continues as that of another.

    Returns a `bad-header` error for a second version line or a repeated mandatory field, else None.

    Spec: WARC 1.1, sections 4 and 5.1: one version line; only WARC-Concurrent-To may be repeated.
    """
    names = head.lower()
    if (
        names.count(b"\nwarc-type") < 2
        and names.count(b"\nwarc-date") < 2
        and names.count(b"\nwarc-record-id") < 2
        and names.count(b"\ncontent-length") < 2
        and head.find(b"WARC/", 5) < 0
    ):
        return None  # nearly always; found without parsing the header
    if found := _SECOND_VERSION.search(head):
        return FormatError(
            "WARC header that runs into another one",
            reason="bad-header",
            expected="an empty line",
            actual=repr(found[0].strip()[-40:])[2:-1],
        )
    fields = [name.lower() for name, _ in _parse_fields(head)]
    if twice := [name for name in _MANDATORY if fields.count(name) > 1]:
        return FormatError(
            "WARC header with a mandatory field twice", reason="bad-header", expected="once", actual=", ".join(twice)
        )
    return None


def has_mandatory_fields(head: bytes) -> bool:
    """Whether a header has all mandatory fields.

    Spec: WARC 1.1, section 5.1.
    """
    return {name.lower() for name, _ in _parse_fields(head)}.issuperset(_MANDATORY)


def _parse_fields(head: bytes) -> list[tuple[str, str]]:
    """The named fields of a header in order, with folded lines joined by a blank."""
    if head.isascii() and b"\n " not in head and b"\n\t" not in head:  # nearly always
        found = _PLAIN_FIELD.findall(head.decode("ascii"))
        return [(name, value.strip()) for given, value in found if (name := given.strip())]
    fields: list[tuple[str, list[str]]] = []
    for line in _LINE_END.split(head)[1:]:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode("latin-1")
        if text[:1] in (" ", "\t") and fields:
            fields[-1][1].append(text.strip())
            continue
        name, colon, value = text.partition(":")
        if colon and name.strip():
            fields.append((name.strip(), [value.strip()]))
    return [(name, " ".join(filter(None, lines))) for name, lines in fields]


def _usual_field(head: bytes, name: bytes) -> bytes | None:
    """The value of the first field of that lower-case name, if it is easy to find; None: use `_parse_fields`.

    Easy: the name's first occurrence in the header is at the beginning of a line that ends in CR LF.
    """
    at = head.lower().find(name)
    behind = at + len(name)
    if at < 2 or head[at - 2 : at] != b"\r\n" or head[behind : behind + 1] != b":":
        return None
    end = head.find(b"\r\n", behind)
    value = head[behind + 1 : end]
    return value if end >= 0 and b"\n" not in value and head[end + 2 : end + 3] not in (b" ", b"\t") else None


class WarcRecord(Record):
    """A record of a WARC, WAT or WET file."""

    __slots__ = ("_fields",)

    format = "warc"
    _fields: list[tuple[str, str]]

    @property
    def named_fields(self) -> list[tuple[str, str]]:
        """All fields of the record's header: names as written, and values."""
        if self._first is None:
            self._fields = _parse_fields(self.head)
            self._first = {name.lower(): value for name, value in reversed(self._fields)}
        return self._fields

    def get(self, name: str) -> str | None:
        """The value of the first field of that name, in any case; None if there is none."""
        name = name.lower()
        if self._first is None:  # a job asks for one or two fields, and parsing all of them takes far longer
            key = name.encode()
            if key not in self.head.lower() and self.head.isascii():
                return None
            usual = _usual_field(self.head, key)
            if usual is not None and usual.isascii():
                return usual.decode("ascii").strip()
            _ = self.named_fields
        return None if self._first is None else self._first.get(name)

    def get_all(self, name: str) -> list[str]:
        """The values of all fields of that name, whatever its case: WARC-Concurrent-To may be repeated."""
        first = self.get(name)
        if first is None:
            return []
        if self.head.isascii() and self.head.lower().count(name.lower().encode()) == 1:  # as nearly always
            return [first]
        return [value for given, value in self.named_fields if given.lower() == name.lower()]

    @property
    def uri(self) -> str | None:
        uri = self.get("WARC-Target-URI")
        return uri[1:-1] if uri and uri[0] == "<" and uri[-1] == ">" else uri

    @property
    def date(self) -> str | None:
        return self.get("WARC-Date")

    @property
    def content_type(self) -> str | None:
        return self.get("Content-Type")

    @property
    def holds_http(self) -> bool:
        return self.type in _HTTP_TYPES and (self.content_type or "").lower().startswith("application/http")

    @property
    def closing(self) -> bytes:
        return b"\r\n\r\n" if self.head.endswith(b"\r\n\r\n") else b"\n\n"

    listed: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "offset": attrgetter("offset"),
        "length": attrgetter("length"),
        "index": attrgetter("index"),
        "type": attrgetter("type"),
        "id": lambda record: record.get("WARC-Record-ID"),
        "uri": attrgetter("uri"),
        "date": attrgetter("date"),
        "content_type": attrgetter("content_type"),
        "content_length": attrgetter("content_length"),
        "http_status": lambda record: record.http_facts()[0],
        "http_content_type": lambda record: record.http_facts()[1],
        "payload_digest": lambda record: record.get("WARC-Payload-Digest"),
        "truncated": lambda record: record.get("WARC-Truncated") or None,
    }


def classify(record: WarcRecord) -> str:
    """The kind of file that this record is from, if it is the first that is not a warcinfo: `wet`, `wat` or `warc`.

    A WAT record is a metadata record with a JSON object that has an `Envelope`, as written by ia-web-commons.
    """
    if record.type == "conversion":
        return "wet"
    if record.type == "metadata":
        head = record.block.head(HEAD_BYTES).lstrip()
        if head.startswith(b"{") and b'"Envelope"' in head:
            return "wat"
    return "warc"
