"""The meaning of a CDX API's responses: a number of pages, captures, nothing found, or unusable.

* Nothing found is an empty body, or a message `No Captures found …` (with 404, and on some servers under another name).
  Any other 404 means that the server has no such index.
* A response is accepted as a whole or not at all: each line must be a capture, and the last one must be complete.
* An HTML page with status 200, or a response that does not parse, is requested again.
* 403 may mean "slow down" here: three more attempts are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crawlmill.errors import FormatError
from crawlmill.indexes.cdx_api.lines import canonical_lines, canonical_rows, usual_lines
from crawlmill.indexes.cdx_api.page import Page
from crawlmill.sorting import batches
from crawlmill.storage.retry import Failure

if TYPE_CHECKING:  # it imports urllib3, which local indexes do not need
    from crawlmill.storage.http.asking import Reply

__all__ = ["Count", "read_count", "read_page", "read_starts"]

_MAX_MESSAGE: Final = 1 << 16
_MAX_ROWS: Final = 256 << 20
_MAX_RETRIES_OF_403: Final = 3
_CHUNK: Final = 1 << 20
_MAX_COUNT: Final = 10**7
_MAX_LINE: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Count:
    """The number of pages; None: the server has no pages that can be counted.

    `blocks` and `page_size` are those stated by the server, if any. `wayback`: it responds like the Wayback Machine.
    """

    pages: int | None
    blocks: int | None = None
    page_size: int | None = None
    wayback: bool = False


def read_count(reply: Reply) -> Count | None:
    """Parse the response to `showNumPages`; None if it is empty. Raises: Failure."""
    body = _small(reply)
    if body is None:
        return Count(0, 0)
    text = body.strip()
    if text.isdigit() and len(text) <= len(str(_MAX_COUNT)) and int(text) < _MAX_COUNT:
        return Count(int(text), wayback=True)
    if text.startswith(b"{"):
        said = _json(text)
        if isinstance(said, dict) and _is_count(said.get("pages")):
            blocks, size = said.get("blocks"), said.get("pageSize")
            return Count(said["pages"], blocks if _is_count(blocks) else None, size if _is_count(size) else None)
        if isinstance(said, dict) and "urlkey" not in said:
            raise Failure("the server does not say how many pages there are", transient=True)
    if not text:
        return None
    if text.startswith(b"<"):
        raise _html()
    if not text.startswith(b"["):
        first = text.split(b"\n", 1)[0]
        try:
            canonical_lines(first + b"\n")
        except FormatError as error:
            raise Failure(f"not a number of pages: {error.what}", transient=True) from error
    return Count(None)  # captures: the server does not know `showNumPages`


def read_page(reply: Reply, starts: Sequence[bytes] = ()) -> Page:
    """Parse the captures in a response.

    Args:
        reply: The response.
        starts: Keys and times of captures that it must contain, in order; the first that it lacks is `missing`.

    Raises: Failure.
    """
    page = Page()
    try:
        if reply.status == 200:
            _read_lines(page, reply.pieces(), list(starts))
        else:
            _expect_nothing(reply)
    except FormatError as error:
        page.close()
        raise Failure(" ".join(str(error).split()), transient=True) from error
    except Failure:
        page.close()
        raise
    return page


def read_starts(reply: Reply) -> list[bytes] | None:
    """Parse the response to `showPagedIndex`: key and time of the first line of each block, followed by a blank.

    Returns None if the server does not know this parameter, whatever it returned. Raises: Failure.
    """
    if reply.status != 200:
        return None
    body = b""
    for piece in reply.pieces():
        body += piece
        if b'"lineno"' not in body.partition(b"\n")[0] or len(body) > _MAX_ROWS:
            return None  # captures, perhaps very many: the rest is not read
    rows = [_json(line) for line in body.split(b"\n") if line]
    keys = [row.get("urlkey") if isinstance(row, dict) else None for row in rows]
    if not all(isinstance(key, str) and key for key in keys):
        return None
    return [f"{key} ".encode("utf-8", "surrogateescape") for key in keys]


def _read_lines(page: Page, pieces: Iterator[bytes], starts: list[bytes]) -> None:
    starts.reverse()
    rest, first = b"", True
    pieces = batches(pieces)  # pywb sends each line as a chunk
    for piece in pieces:
        rest += piece
        if first and rest.lstrip():
            first = False
            if rest.lstrip().startswith(b"["):
                _read_rows(page, rest, pieces)
                return
            if rest.lstrip().startswith(b"<"):
                raise _html()
        if len(rest) < _CHUNK:
            continue
        end = rest.rfind(b"\n") + 1
        if len(rest) - end > _MAX_LINE:
            raise Failure(f"a line of more than {_MAX_LINE} bytes", transient=True)
        _take(page, rest[:end], starts)
        rest = rest[end:]
    if rest.strip() and not rest.endswith(b"\n"):
        raise Failure("the answer ends within a line", transient=True)
    if page.is_empty and _says_nothing(rest):
        return
    _take(page, rest, starts)
    if starts:
        page.missing = starts[-1].decode("utf-8", "replace").strip()


def _take(page: Page, text: bytes, starts: list[bytes]) -> None:
    """Add whole lines; a blank line precedes a resume key, which ends the response."""
    if page.resume is not None and text.strip():
        raise Failure("the answer goes on after its resume key", transient=True)
    taken = usual_lines(text)
    if taken is None:
        lines, blank, key = (b"", b"\n", text[1:]) if text.startswith(b"\n") else text.partition(b"\n\n")
        if blank and key.strip():
            if key.strip().count(b"\n"):
                raise Failure("the answer goes on after a blank line", transient=True)
            page.resume, text = key.strip().decode("utf-8", "surrogateescape"), lines and lines + b"\n"
        taken = canonical_lines(text.replace(b"\r\n", b"\n"))
    at = 0
    while starts and (found := _find_start(taken, starts[-1], at)) >= 0:
        at = found
        starts.pop()
    page.add(taken)


def _find_start(text: bytes, start: bytes, at: int) -> int:
    if text.startswith(start, at):
        return at
    found = text.find(b"\n" + start, at)
    return found + 1 if found >= 0 else -1


def _read_rows(page: Page, begun: bytes, pieces: Iterator[bytes]) -> None:
    """Rows of JSON after a row of names; an empty row precedes a row with a resume key."""
    held, size = [begun], len(begun)
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > _MAX_ROWS:
            raise Failure(f"an answer in rows of JSON of more than {_MAX_ROWS} bytes")
    rows = _json(b"".join(held))
    if not isinstance(rows, list):
        raise Failure("the answer does not parse to its end", transient=True)
    if [] in rows:
        at = rows.index([])
        rows, rest = rows[:at], rows[at + 1 :]
        if len(rest) == 1 and isinstance(rest[0], list) and len(rest[0]) == 1:
            page.resume = str(rest[0][0]).encode("utf-8", "replace").decode()
    page.add(canonical_rows(rows))


def _small(reply: Reply) -> bytes | None:
    """The body of a short response; None if it says that nothing was found. Raises: Failure."""
    if reply.status != 200:
        _expect_nothing(reply)
        return None
    body = b""
    for piece in reply.pieces():
        body += piece
        if len(body) > _MAX_MESSAGE:
            break
    return None if _says_nothing(body) else body


def _expect_nothing(reply: Reply) -> None:
    """Accept a response with a status other than 200 only if it says that nothing was found. Raises: Failure."""
    body = reply.head(_MAX_MESSAGE)
    if reply.status != 404 or not _says_nothing(body):
        raise _refused(reply, body)


def _says_nothing(body: bytes) -> bool:
    said = _json(body) if body.lstrip().startswith(b"{") and len(body) <= _MAX_MESSAGE else None
    return isinstance(said, dict) and any("no captures found" in str(value).lower() for value in said.values())


def _refused(reply: Reply, body: bytes) -> Failure:
    failure = reply.failure()
    said = _json(body) if body.lstrip().startswith(b"{") else None
    message = next((value for value in said.values() if isinstance(value, str)), "") if isinstance(said, dict) else ""
    if message:
        failure.what += f": {' '.join(message.split())[:200]}"
    if reply.status == 403:
        failure.transient = failure.throttled = True
        failure.most_retries = _MAX_RETRIES_OF_403
    return failure


def _html() -> Failure:
    return Failure("a page of HTML in place of captures", transient=True)


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_COUNT
