r"""HTTP messages in the blocks of WARC and ARC records: start line, header fields, offset of the body.

RFC 9112 (HTTP/1.1), with the tolerance that pages of all years need:

* lines end in CR LF or LF; a stray CR counts as a blank; empty lines before the start line are skipped;
* the header ends at the first empty line; without one, the whole block is header and the body is empty;
* a status line is `HTTP`, in any case and with any or no version, or `ICY`; status and reason may be missing
  (`HTTP/2 200`), the reason may follow the status directly (`200OK`); anything but three digits is not a status;
* blanks between field name and colon are dropped, and none are required after the colon (`Name:value`, as in ARC files
  of 2008-2012); lines without a colon, or without a name before it (`:status: 200`), are not fields;
* folded lines (obs-fold) continue the value above, joined by one blank; after a line that is not a field, including
  the start line, they are ignored;
* values, names and reasons are UTF-8, or Latin-1 if they are not valid UTF-8.

Fields are parsed on demand: parsing a message only finds the end of the header, `get` searches for one name, `fields`
splits all of them.

    >>> page = parse_response(b"HTTP/1.1 200 OK\r\nserver: a\r\nSERVER:b\r\n\r\n<html>")
    >>> page.status, page.get_all("Server"), page.body_offset
    (200, ['a', 'b'], 40)
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawlmill.errors import FormatError

__all__ = ["HttpMessage", "parse_request", "parse_response"]

_STATUS_LINE = re.compile(
    rb"[\r\n]*(?i:HTTP(?:/([!-~]*))?|ICY)(?![!-~])[ \t]*([0-9]{3}(?![0-9]))?([^\n]*)",
)
_REQUEST_LINE = re.compile(rb"[\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]([^\n]*)")
_HEADER_END = re.compile(rb"\n\r*\n")
_VALUE = r":([^\n]*(?:\n[ \t][^\n]*)*)"
_FIELD = re.compile(r"\n([^ \t\n:][^\n:]*)" + _VALUE)  # the name with any blanks after it
_BLANKS = " \t"
_HTML = frozenset(("text/html", "application/xhtml+xml"))


class HttpMessage:
    """The start line and header of a request or response.

    `version` is the text after `HTTP/` ("1.1"), None if absent. `status` is a response's three digits, None if absent
    and for requests; `reason` is "" if absent. `method` and `target` are those of a request, "" for responses.
    `body_offset` is the offset of the body in the block.
    """

    __slots__ = ("_fields", "_head", "body_offset", "method", "reason", "status", "target", "version")

    def __init__(
        self,
        head: str,
        body_offset: int,
        *,
        version: str | None,
        status: int | None = None,
        reason: str = "",
        method: str = "",
        target: str = "",
    ) -> None:
        self._head = head  # the field lines, each after a line feed and without CR; bytes as Latin-1
        self._fields: list[tuple[str, str]] | None = None
        self.body_offset, self.version, self.status, self.reason = body_offset, version, status, reason
        self.method, self.target = method, target

    @property
    def fields(self) -> list[tuple[str, str]]:
        """All fields in order: names as written, values without surrounding blanks."""
        if self._fields is None:
            found = _FIELD.findall(self._head)
            if self._head.isascii() and "\n " not in self._head and "\n\t" not in self._head:
                self._fields = [(name.rstrip(_BLANKS), value.strip(_BLANKS)) for name, value in found]
            else:
                self._fields = [(_decoded(name.rstrip(_BLANKS)), _value(value)) for name, value in found]
        return self._fields

    def get_all(self, name: str) -> list[str]:
        """The values of all fields of that name (ASCII names, in any case); empty if there is none."""
        if name.isascii():
            return [_value(value) for value in _named(name).findall(self._head)]
        return [value for found, value in self.fields if found == name]

    def get(self, name: str) -> str | None:
        """The value of the first field of that name (an ASCII name, in any case); None if there is none."""
        if name.isascii():
            match = _named(name).search(self._head)
            return None if match is None else _value(match[1])
        return next((value for found, value in self.fields if found == name), None)

    @property
    def content_type(self) -> str | None:
        """The whole value of the first Content-Type; None if there is none."""
        return self.get("Content-Type")

    @property
    def media_type(self) -> str:
        """The first Content-Type in lower case, without parameters; "" if there is none.

        It also ends at a comma: some servers put two types into one field, and no type contains a comma.
        """
        return (self.content_type or "").partition(";")[0].partition(",")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether the media type is `text/html` or `application/xhtml+xml`."""
        return self.media_type in _HTML


def parse_response(block: bytes) -> HttpMessage:
    """Parse the response at the beginning of a block, of which only the header is needed.

    Raises:
        FormatError: `bad-header`: the block does not begin with a status line.

    Spec: RFC 9112 sections 2, 4 and 5.
    """
    line = _STATUS_LINE.match(block)
    if line is None:
        raise FormatError("no HTTP response", reason="bad-header", expected="a status line", actual=repr(block[:40]))
    version, status, reason = line.groups()
    head, body_offset = _split(block, line.end())
    return HttpMessage(
        head,
        body_offset,
        version=version.decode("ascii") if version else None,
        status=int(status) if status else None,
        reason=_value(reason.decode("latin-1").rstrip("\r")),
    )


def parse_request(block: bytes) -> HttpMessage:
    """Parse the request at the beginning of a block. If its first line does not end with `HTTP/…`, `version` is None.

    Raises:
        FormatError: `bad-header`: the block does not begin with a method and a target.

    Spec: RFC 9112 sections 2, 3 and 5.
    """
    line = _REQUEST_LINE.match(block)
    if line is None:
        raise FormatError("no HTTP request", reason="bad-header", expected="a request line", actual=repr(block[:40]))
    target = _value(line[2].decode("latin-1").rstrip("\r"))
    version = None
    before, blank, last = target.rpartition(" ")
    if blank and last[:5].upper() == "HTTP/":
        target, version = before.rstrip(_BLANKS), last[5:] or None
    head, body_offset = _split(block, line.end())
    return HttpMessage(head, body_offset, version=version, method=line[1].decode("ascii"), target=target)


def _split(block: bytes, at: int) -> tuple[str, int]:
    """The field lines after the start line that ends at `at`, and the offset of the body."""
    end = _HEADER_END.search(block, at)
    head = block[at : end.start() if end else len(block)].replace(b"\r\n", b"\n").rstrip(b"\r")
    if b"\r" in head:
        head = head.replace(b"\r", b" ")
    return head.decode("latin-1"), end.end() if end else len(block)


@lru_cache(maxsize=64)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(r"\n" + re.escape(name) + r"[ \t]*" + _VALUE, re.IGNORECASE | re.ASCII)


def _value(raw: str) -> str:
    value = raw.strip(_BLANKS)
    if "\n" in value:
        lines = (line.strip(_BLANKS) for line in value.split("\n"))
        value = " ".join(line for line in lines if line)
    return _decoded(value)


def _decoded(latin: str) -> str:
    if latin.isascii():
        return latin
    try:
        return latin.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return latin
