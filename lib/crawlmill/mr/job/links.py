"""`LinksJob`: the base class of jobs over the links of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from crawlmill.analysis.links.extras import EXTRAS, header_references, wat_response
from crawlmill.analysis.links.html import base_in, references_in
from crawlmill.analysis.links.robots import is_robots_txt, sitemaps_in
from crawlmill.analysis.links.wat import wat_page
from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.content import Document, parse_content
from crawlmill.formats.crawl2012.valid import valid_metadata
from crawlmill.formats.payload.charset import encoding_of, tokenizable
from crawlmill.formats.payload.encodings import decode_text
from crawlmill.formats.record import Record
from crawlmill.inputs.reading import Reading
from crawlmill.mr.job.base import CrawlJob
from crawlmill.urls.standard import Resolver

__all__ = ["EXTRAS", "LinksJob", "Page", "page_of"]

_KINDS_2012: Final = {
    "a": "A@/href",
    "area": "AREA@/href",
    "frame": "FRAME@/src",
    "iframe": "IFRAME@/src",
    "script": "SCRIPT@/src",
    "link": "LINK@/href",
    "img": "IMG@/src",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its URL as recorded, its base as written, and a function that yields its references as (kind, value)."""

    url: str
    base: str | None
    references: Callable[[], Iterable[tuple[str, str]]]

    def links(self) -> Iterator[tuple[str, str]]:
        """Yield (target, kind) for each reference that is a URL."""
        resolve = Resolver(self.url, self.base).resolve
        for kind, reference in self.references():
            target = resolve(reference)
            if target is not None:
                yield target, kind


class LinksJob(CrawlJob):
    """The base class of jobs over the links of pages: of HTML responses, and of what WAT and metadata of 2012 list."""

    formats = ("warc", "arc", "wat", "metadata")
    types = ("response", "metadata")

    extras: frozenset[str] = frozenset()
    """What else counts as the references of a page, of `EXTRAS`."""

    def pages(self, reading: Reading) -> Iterator[Page]:
        """Yield the pages of one input, and the other sources of links that `extras` names."""
        for record in self.watched(reading):
            yield from self.pages_of(reading, record)

    def pages_of(self, reading: Reading, record: Record) -> list[Page]:
        """The pages of one record; errors are reported to the reading."""
        try:
            found = [page_of(record), _extra_of(record, self.extras) if self.extras else None]
        except FormatError as error:
            reading.lose(error, record)
            return []
        return [page for page in found if page is not None]


def page_of(record: Record) -> Page | None:
    """The page that a record contains or describes; None for other records. Raises: FormatError."""
    url = record.uri
    if record.type == "response":
        if url is None or not (record.holds_http and record.http.is_html):
            return None
        source = _Source(record)
        return Page(url, base_in(source.page, source.decode), lambda: references_in(source.page, source.decode))
    if record.format == "sequencefile":  # metadata of 2012
        content = valid_metadata(record.body()).fields.get("content")
        document = None if content is None else parse_content(content)
        if url is None or not isinstance(document, Document):
            return None
        links = [(_KINDS_2012[link.element or "a"], link.href) for link in document.links]
        return Page(url, None, lambda: iter(links))
    if record.content_type != "application/json":  # a metadata record of a WARC file
        return None
    page = wat_page(record.body())
    if page is None or (page.url or url) is None:
        return None
    return Page(page.url or url or "", page.base, page.references)


def _extra_of(record: Record, extras: frozenset[str]) -> Page | None:
    """The references of a response outside its HTML; None if there are none. Raises: FormatError."""
    url, references = record.uri, []
    if record.type == "response":
        if not record.holds_http or url is None:
            return None
        references = list(header_references(record.http.status, record.http.fields, extras))
        if "sitemaps" in extras and record.http.status == 200 and is_robots_txt(url):
            body, of = record.body(), url
            return Page(url, None, lambda: (*references, *(("sitemap", each) for each in sitemaps_in(body, of))))
    elif record.content_type == "application/json" and (response := wat_response(record.body())) is not None:
        url, status, fields = response[0] or url, response[1], response[2]
        references = list(header_references(status, fields, extras))
    return Page(url, None, lambda: iter(references)) if url is not None and references else None


class _Source:
    """The source of an HTML page and its encoding, which is detected only when needed."""

    def __init__(self, record: Record) -> None:
        self._http, self._body = record.http, record.body()
        self.page = tokenizable(self._body, self._http)

    @cached_property
    def _encoding(self) -> str:
        return encoding_of(self._http, self._body) if self.page is self._body else "utf-8"

    def decode(self, text: bytes) -> str:
        """Decode some of the page's bytes."""
        return decode_text(text, self._encoding)
