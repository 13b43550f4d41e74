"""A CDX API as an index: first the number of pages, then the pages, in order, a few of them ahead.

Without a page number a server silently returns the first page only; after the last page it refuses. Any page may be
empty, even the first and the last. If the server has no pages, everything is requested at once, or, from the Wayback
Machine, by resume keys.

The API's own matching decides what a pattern means. A page may be cut short with status 200 at the end of a line, so a
response alone proves nothing. If the server lists the blocks of its index (`showPagedIndex`) and no capture is
filtered out, each page must contain the captures at the beginning of its blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cdx_api.answer import Count
from crawlmill.indexes.cdx_api.asking import Asked, Service
from crawlmill.indexes.cdx_api.kept import KeptPages
from crawlmill.indexes.cdx_api.page import Page
from crawlmill.indexes.cdx_api.plan import PagePlan, all_of, pages_of
from crawlmill.indexes.cdx_api.request import label_of
from crawlmill.indexes.index import Found, OnProblem
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.shares import Share, even
from crawlmill.storage.workers import Workers

__all__ = ["API_OPTIONS", "ApiOptions", "CdxApi"]

_WAYBACK: Final = re.compile(r"/cdx/search/cdx/?(\?|\Z)")
_MAX_LOST_IN_A_ROW: Final = 3
_MAX_PAGES: Final = 50  # per share


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """How to query a CDX API.

    Args:
        page_size: Blocks per page; None: the server's default.
        checkpoint: The folder in which to keep pages.
        each: Report the loss for each query to a server that does not respond, not once for all of them.
    """

    page_size: int | None = None
    checkpoint: Path | None = None
    each: bool = False


API_OPTIONS: Final = ApiOptions()
"""As a server likes it, nothing kept."""


class CdxApi:
    """A CDX API as an `Index`. `workers` send requests ahead, shared by all indexes of a host."""

    format = "cdx-api"
    in_line_order = True
    reads_through = False
    shares_blocks = False

    def __init__(self, service: Service, on_problem: OnProblem, workers: Workers, options: ApiOptions) -> None:
        self._service, self._on_problem, self._workers, self._options = service, on_problem, workers, options
        self._wayback = _WAYBACK.search(service.url) is not None
        self._divides: bool | None = None  # whether it divides responses into pages; None: unknown
        self._gone: SourceError | None = None
        self._failed_in_a_row = 0

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._service.name

    def plan(self, queries: Sequence[Query]) -> PagePlan:
        """See `Index.plan`. A server that does not count its pages has one page without blocks."""
        parts: list[Part] = []
        for query in queries:
            count = self._asked(query).count(self._options.page_size)
            if count.wayback and count.pages:  # the Wayback Machine has pages, but incomplete ones
                count = Count(None, wayback=True)
            parts += pages_of(label_of(query), count)
        return PagePlan(tuple(parts))

    def shares(self, queries: Sequence[Query]) -> list[Share]:
        """See `Shareable.shares`. Single URLs, mostly one page each, are counted when read, as are failing queries."""
        parts: list[tuple[int, Part]] = []
        whole: list[int] = []
        for number, query in enumerate(queries):
            planned: tuple[Part, ...] = (all_of(label_of(query)),)
            if query.pattern.match != "exact" and self._gone is None:
                try:
                    count = self._count(self._asked(query))
                    if (count.pages or 0) * (count.page_size or 1) >= (count.blocks or 0):
                        planned = pages_of(label_of(query), count)
                except SourceError as error:
                    if error.reason != "unavailable":
                        self._gone = error
            for part in planned:
                (whole.append(number) if part.lengths == (0,) else parts.append((number, part)))
        pages = even(sum(len(part.lengths) for _, part in parts), 1, _MAX_PAGES)
        found = [
            Share((piece,), (number,))
            for number, part in parts
            for piece in (
                Part(part.file, at, part.lengths[at : at + pages]) for at in range(0, len(part.lengths), pages)
            )
        ]
        size = even(len(whole), 1, _MAX_PAGES)
        for at in range(0, len(whole), size):
            numbers = tuple(whole[at : at + size])
            found.append(Share(tuple(all_of(label_of(queries[number])) for number in numbers), numbers))
        return found

    def concerned(self, error: FormatError | SourceError, queries: Sequence[Query]) -> list[int]:  # noqa: ARG002
        """See `Shareable.concerned`; a task sends one query after another."""
        return list(range(len(queries)))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """See `Index.captures`; one query after another. Losses are reported by query and page."""
        by_label: dict[str, list[Part]] = {}
        for part in plan.parts if plan is not None else ():
            by_label.setdefault(part.file, []).append(part)
        for number, query in enumerate(queries):
            timed = _Timed(query)
            parts: Sequence[Part | None] = [None] if plan is None else by_label.get(label_of(query), [])
            for each in parts:
                for chunk in self._of_part(query, each):
                    if taken := timed(chunk):
                        yield number, taken

    def _of_part(self, query: Query, part: Part | None) -> Iterator[Chunk]:
        if self._gone is not None:
            if self._options.each:
                self._lose(self._gone, query)
            return
        asked = self._asked(query)
        if part is not None and part.lengths != (0,):
            yield from self._pages(asked, range(part.offset, part.offset + len(part.lengths)), None, max(part.lengths))
            return
        try:
            count = self._count(asked)
        except SourceError as error:
            self._failed_in_a_row += 1
            if error.reason != "unavailable" or self._failed_in_a_row >= _MAX_LOST_IN_A_ROW:
                self._gone = error
            self._lose(error, query)
            return
        self._failed_in_a_row = 0
        if count.pages is None:
            yield from self._chain(asked)
            return
        pages = count.pages
        if count.blocks and count.page_size and pages * count.page_size < count.blocks:
            self._lose(
                FormatError(
                    "the server counts too few pages",
                    reason="bad-length",
                    expected=f"pages of {count.page_size} blocks for {count.blocks} blocks",
                    actual=f"{pages} pages",
                ),
                query,
            )
            pages = -(-count.blocks // count.page_size)
        yield from self._pages(asked, range(pages), count)

    def _asked(self, query: Query) -> Asked:
        return Asked(self._service, query, page_size=self._options.page_size, wayback=self._wayback)

    def _kept(self, asked: Asked) -> KeptPages | None:
        folder = self._options.checkpoint
        return None if folder is None else KeptPages(folder, [self._service.url, *asked.identity()])

    def _count(self, asked: Asked) -> Count:
        """The number of pages to request. Raises: SourceError."""
        if self._wayback or self._divides is False:
            return Count(None)
        kept = self._kept(asked)
        before = kept.count() if kept is not None else None
        if kept is not None and before is not None and all(map(kept.has, range(before.pages or 0))):
            return before
        count = asked.count(self._options.page_size)
        if count.pages is None or count.wayback:
            self._divides, self._wayback = False, count.wayback
            asked.wayback = count.wayback
            return Count(None)
        if kept is not None:
            kept.set_count(count)
        return count

    def _pages(self, asked: Asked, numbers: range, count: Count | None, size: int | None = None) -> Iterator[Chunk]:
        """The captures of some pages; `count` is None if all of them are part of a plan."""
        kept, lost_in_a_row = self._kept(asked), 0
        blocks = asked.blocks(numbers, count, size)

        def fetch(number: int, starts: list[bytes]) -> Page:
            page = kept.page(number) if kept is not None else None
            if page is None:
                page = asked.page(number, starts, count.page_size if count else size)
                if kept is not None and page.missing is None:
                    kept.keep(number, page)
            return page

        def starts(number: int) -> list[bytes]:
            return [] if kept is not None and kept.has(number) else blocks(number)

        work = (partial(fetch, number, starts(number)) for number in numbers)
        with closing(self._workers.in_order(work)) as results:
            for number, take in zip(numbers, results, strict=True):
                try:
                    page = take()
                except SourceError as error:
                    lost_in_a_row += 1
                    rest = range(number + 1, numbers.stop)
                    if lost_in_a_row < _MAX_LOST_IN_A_ROW or not rest:
                        self._lose(error, asked.query, f"page {number}")
                        continue
                    self._lose(error, asked.query, f"pages {number} to {rest[-1]}", lost="are lost")
                    return
                lost_in_a_row = 0
                if page.missing is not None:
                    self._lose(_ends_early(page.missing), asked.query, f"page {number}", lost="is not whole")
                yield from page.chunks()
                page.close()

    def _chain(self, asked: Asked) -> Iterator[Chunk]:
        """The captures of a server that returns all at once, or each time a key for the next ones."""
        kept, number, resume = self._kept(asked), 0, None
        seen: set[str] = set()
        while True:
            page = kept.page(number) if kept is not None else None
            if page is None:
                try:
                    page = asked.rest(resume)
                except SourceError as error:
                    where = "all captures" if resume is None else f"all captures from {resume}"
                    self._lose(error, asked.query, where, lost="are lost")
                    return
                if kept is not None:
                    kept.keep(number, page)
            yield from page.chunks()
            number, resume = number + 1, page.resume
            page.close()
            if resume is None:
                return
            if resume in seen:
                again = FormatError("the server gives a resume key again", reason="bad-header", actual=resume[:80])
                self._lose(again, asked.query)
                return
            seen.add(resume)

    def _lose(self, error: FormatError | SourceError, query: Query, where: str = "", *, lost: str = "is lost") -> None:
        told = f"{where} of {query.pattern.text}" if where else query.pattern.text
        what = f"{told} {lost}: {error.what}"
        kind = type(error)
        self._on_problem(
            kind(what, reason=error.reason or "", source=self.name, expected=error.expected, actual=error.actual)
        )


class _Timed:
    """Selects the lines in the time range of a query for a single key; elsewhere the key range includes the time."""

    def __init__(self, query: Query) -> None:
        exact = query.pattern.match == "exact"
        self._start = (query.start or "").encode() if exact else b""
        self._end = (query.end or "").encode() if exact else b""

    def __call__(self, chunk: Chunk) -> Chunk:
        if not (self._start or self._end):
            return chunk
        return b"".join(line + b"\n" for line in bytes(chunk).split(b"\n") if line and self._is_in_time(line))

    def _is_in_time(self, line: bytes) -> bool:
        time = line.split(b" ", 2)[1]
        return time[: len(self._start)] >= self._start and (not self._end or time[: len(self._end)] <= self._end)


def _ends_early(missing: str) -> FormatError:
    return FormatError(
        f"it lacks the capture {missing}, with which a block of the server's index begins", reason="truncated"
    )
