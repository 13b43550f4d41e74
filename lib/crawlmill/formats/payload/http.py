r"""HTTP messages as they are in the blocks of WARC and ARC records: start line, header fields, where the body begins.

RFC 9112 (HTTP/1.1), read with the tolerance that pages of all years need:

* lines end in CR LF or LF; a stray CR counts as a blank; empty lines before the start line are skipped;
* the header ends at the first empty line, or where the block ends: then all of it is header and the body is empty;
* a status line is `HTTP`, in any case and with any or no version, or `ICY`; status and reason may be missing
  (`HTTP/2 200`), the reason may touch the status (`200OK`); what are not three digits is no status;
* blanks between field name and colon are dropped, none need follow the colon (`Name:value`, as in ARC files of
  2008-2012); lines without a colon, or without a name before it (`:status: 200`), are no fields;
* folded lines (obs-fold) continue the value above, with one blank between; after a line that is no field, the start
  line included, they are no fields either;
* a value is UTF-8, and Latin-1 where it is not UTF-8; so are names and reasons.

Fields are read on demand: parsing finds the end of the header, `get` looks for one name, `fields` cuts all of them.

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
_FIELD = re.compile(r"\n([^ \t\n:][^\n:]*)" + _VALUE)  # the name with the blanks after it
_BLANKS = " \t"
_HTML = frozenset(("text/html", "application/xhtml+xml"))


class HttpMessage:
    """The start line and header of a request or response.

    `version` is what follows `HTTP/` ("1.1"), None without one. `status` is a response's three digits, None without
    them and for requests; `reason` is "" without one. `method` and `target` are a request's, "" for responses.
    `body_offset` is the byte of the block at which the body begins.
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
        self._head = head  # the field lines, each after its line feed and without CR; bytes as Latin-1
        self._fields: list[tuple[str, str]] | None = None
        self.body_offset, self.version, self.status, self.reason = body_offset, version, status, reason
        self.method, self.target = method, target

    @property
    def fields(self) -> list[tuple[str, str]]:
        """All fields in their order: names as written, values without the blanks around them."""
        if self._fields is None:
            found = _FIELD.findall(self._head)
            if self._head.isascii() and "\n " not in self._head and "\n\t" not in self._head:
                self._fields = [(name.rstrip(_BLANKS), value.strip(_BLANKS)) for name, value in found]
            else:
                self._fields = [(_decoded(name.rstrip(_BLANKS)), _value(value)) for name, value in found]
        return self._fields

    def get_all(self, name: str) -> list[str]:
        """The values of all fields of that name, ASCII names in any case; empty without one."""
        if name.isascii():
            return [_value(value) for value in _named(name).findall(self._head)]
        return [value for found, value in self.fields if found == name]

    def get(self, name: str) -> str | None:
        """The value of the first field of that name, ASCII names in any case; None without one."""
        if name.isascii():
            match = _named(name).search(self._head)
            return None if match is None else _value(match[1])
        return next((value for found, value in self.fields if found == name), None)

    @property
    def content_type(self) -> str | None:
        """The whole value of the first Content-Type; None without one."""
        return self.get("Content-Type")

    @property
    def media_type(self) -> str:
        """The first Content-Type in lower case, without parameters; "" without one.

        It ends at a comma too: some servers join two types in one field, and no type holds a comma.
        """
        return (self.content_type or "").partition(";")[0].partition(",")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether the media type is `text/html` or `application/xhtml+xml`."""
        return self.media_type in _HTML


def parse_response(block: bytes) -> HttpMessage:
    """The response at the beginning of a block; only the header need be there.

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
    """The request at the beginning of a block. Without `HTTP/` at the end of its first line, `version` is None.

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
    """The field lines after the start line that ends at `at`, and where the body begins."""
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
