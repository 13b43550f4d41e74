"""The requests of one query to a CDX API: the number of pages, a page, the rest after a resume key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from crawlmill.errors import SourceError
from crawlmill.indexes.cdx_api.answer import Count, read_count, read_page, read_starts
from crawlmill.indexes.cdx_api.page import Page
from crawlmill.indexes.cdx_api.request import Parameters, extended, is_whole, locate, parameters_of
from crawlmill.indexes.query import Query
from crawlmill.storage.retry import Failure

if TYPE_CHECKING:  # it imports urllib3, which local indexes do not need
    from crawlmill.storage.http.asking import Reply

__all__ = ["Asked", "Service"]

_NO_LIMIT: Final = str(10**9)
_DEFAULT_LIMIT: Final = 100_000  # pywb silently returns at most this many lines by default
_BLOCK_LINES: Final = 3000
_PAGE_BLOCKS: Final = 5
_MAX_BLOCKS_LISTED: Final = 10_000

T = TypeVar("T")


class Service(Protocol):
    """A CDX API: its location, and a way to send requests to it."""

    url: str
    name: str
    lists_blocks: bool | None
    """Whether it answers to `showPagedIndex`; None: nobody has asked yet."""

    def ask(self, location: str, accept: Callable[[Reply], T], *, retries: int | None = None) -> T:
        """Send a request and return the result of `accept`, which raises a `Failure` to retry. Raises: SourceError."""


class Asked:
    """One query to one service."""

    def __init__(self, service: Service, query: Query, *, page_size: int | None, wayback: bool) -> None:
        self.query, self.wayback = query, wayback
        self._service, self._page_size = service, page_size
        self._locations: dict[bool, str] = {}

    def identity(self) -> list[Any]:
        """Everything that a response depends on."""
        return [list(self._parameters()), self._page_size, self._limit(None)]

    def count(self, page_size: int | None) -> Count:
        """The number of pages. Raises: SourceError."""
        asked = [pair for pair in self._parameters() if pair[0] in ("url", "matchType", "allowFuzzy")]
        asked += [("showNumPages", "true"), *_sized(page_size)]
        empty = 0

        def accept(reply: Reply) -> Count:
            nonlocal empty
            count = read_count(reply)
            if count is not None:
                return count
            empty += 1
            if empty == 1:
                raise Failure("the answer to the question for the number of pages is empty", transient=True)
            return Count(None)  # a server without pages and without captures

        return self._service.ask(locate(self._service.url, asked), accept)

    def page(self, number: int, starts: list[bytes], page_size: int | None) -> Page:
        """A page. If it lacks a capture that it must contain, it is requested once more. Raises: SourceError."""
        limit = self._limit(self._page_size or page_size)
        location = self._location(("page", str(number)), *_sized(self._page_size), *_limited(limit))
        lacking = 0

        def accept(reply: Reply) -> Page:
            nonlocal lacking
            page = read_page(reply, starts)
            if page.missing is not None:
                lacking += 1
                if lacking == 1:
                    page.close()
                    raise Failure(f"the answer lacks the capture {page.missing}", transient=True)
            return page

        return self._service.ask(location, accept)

    def rest(self, resume: str | None) -> Page:
        """All captures, or those after a resume key, as many as the server returns. Raises: SourceError."""
        most = str((self._page_size or _PAGE_BLOCKS) * _BLOCK_LINES) if self.wayback else _NO_LIMIT
        limit = self._plain_limit()
        limited = _limited(most if limit is None or int(most) < limit else str(limit))
        return self._service.ask(self._location(("showResumeKey", "true"), *limited, resume=resume), read_page)

    def blocks(self, numbers: range, count: Count | None, size: int | None = None) -> Callable[[int], list[bytes]]:
        """The captures that pages must contain, by page number, if the server lists its blocks and returns everything.

        `size`: blocks per page, for pages of a plan, whose `count` is not known.
        """
        size = self._page_size or (count.page_size if count else size)
        known = is_whole(self.query) and self._plain_limit() is None
        if not known or not size or len(numbers) < 2 or self._service.lists_blocks is False:
            return lambda _: []
        pages = len(numbers) if count is None else max(_MAX_BLOCKS_LISTED // size, 1)
        if count is None and numbers.start % pages:  # the last share of a plan, smaller than the others
            pages = numbers.start
            if pages < len(numbers) or pages * size > _MAX_BLOCKS_LISTED:
                return lambda _: []
        listed: dict[int, list[bytes]] = {}

        def starts(number: int) -> list[bytes]:
            group, place = divmod(number, pages)
            if group not in listed:
                listed.clear()
                listed[group] = self._starts(group, pages * size)
            first = place * size
            return listed[group][max(first, 1 if number == 0 else 0) : first + size]  # the first of all may be foreign

        return starts

    def _starts(self, group: int, size: int) -> list[bytes]:
        """Key and time of the first line of each block of a page of this size; empty if they are not listed."""
        if self._service.lists_blocks is False:
            return []
        page = ("page", str(group)), *_sized(size), *_limited(_NO_LIMIT)
        location = self._location(("showPagedIndex", "true"), ("output", "json"), *page)
        try:
            starts = self._service.ask(location, read_starts, retries=0)
        except SourceError:
            starts = None
        if self._service.lists_blocks is None or starts is None:
            self._service.lists_blocks = starts is not None
        return starts or []

    def _parameters(self) -> Parameters:
        """Those of every request."""
        return parameters_of(self.query, wayback=self.wayback)

    def _location(self, *more: tuple[str, str], resume: str | None = None) -> str:
        """Where to request these captures, with more parameters; those of the query are escaped once."""
        if self.wayback not in self._locations:
            self._locations[self.wayback] = locate(self._service.url, self._parameters())
        return extended(self._locations[self.wayback], more, resume=resume)

    def _limit(self, page_size: int | None) -> str | None:
        """The limit to send with a page: the query's own, or one that overrides the server's default."""
        if (limit := self._plain_limit()) is not None:
            return str(limit)
        return _NO_LIMIT if page_size is not None and page_size * _BLOCK_LINES > _DEFAULT_LIMIT else None

    def _plain_limit(self) -> int | None:
        """The query's limit, if the server's first captures are the ones wanted; else None."""
        query = self.query
        plain = is_whole(query) and query.sort == "key" and not (query.newest or query.distinct)
        return query.limit if plain and query.pattern.port is None else None


def _sized(page_size: int | None) -> Parameters:
    return [] if page_size is None else [("pageSize", str(page_size))]


def _limited(limit: str | None) -> Parameters:
    return [] if limit is None else [("limit", limit)]
