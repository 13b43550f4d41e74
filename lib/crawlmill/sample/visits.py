"""What a crawler of 2008 to 2012 made of a page: the response as it came over the wire, and what was found out of it.

The page is the one that is in the WARC files, fetched earlier: the Date header is moved along. Where today's crawler
says that it has decoded a body (`X-Crawler-Content-Encoding`), that of 2012 left the header as it was.

Sizes of what came over the wire in gzip are true where the WARC file holds it in gzip; elsewhere nobody has seen it,
and a quarter of the page is as good a size as any.

Deviations: the crawler of 2012 could not fetch `https`; no download is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate

from crawlmill.sample.pages import Page
from crawlmill.sample.records import Fields
from crawlmill.sample.responses import gzip_stored
from crawlmill.sample.text.documents import Document
from crawlmill.sample.text.prose import codec_of

__all__ = ["FROM_HEADER", "FROM_ICU", "FROM_META", "FROM_NOTHING", "Visit", "visit"]

# Where a charset is known from, as `charset_detector` has it.
FROM_HEADER, FROM_META, FROM_ICU, FROM_NOTHING = 0, 1, 2, 10

_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = (*_HTML, "text/plain")
_TODAY = "x-crawler-"


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as it was visited.

    `date`: seconds since 1970; `time_ms`: the same in milliseconds; `fields`: of the response, as they came over the
    wire; `headers`: the last value of each, by name in lower case; `downloaded`: bytes of the body as it came;
    `stored`: whether the body was kept; `mime_type`: "text/html" where the server gave none; `charset`: by its name in
    Java, "" if the body is no text; `charset_source`: where that is from; `parsed`: the document that a parser found.
    """

    page: Page
    date: int
    time_ms: int
    fields: Fields
    headers: dict[str, str]
    downloaded: int
    gzipped: bool
    mime_type: str
    charset: str
    charset_source: int
    parsed: Document | None

    @property
    def code(self) -> int:
        """The HTTP status."""
        return int(self.page.status[:3])

    @property
    def succeeded(self) -> bool:
        """Whether the crawler took the response for an answer, be it a 404."""
        return self.code // 100 in (2, 4)

    @property
    def stored(self) -> bool:
        """Whether the body was kept."""
        return self.code // 100 == 2 and bool(self.page.content)

    def text(self) -> str:
        """The body, decoded, with its byte order mark, and U+FFFD for what is no character."""
        return self.page.content.decode(codec_of(self.charset), "replace")


def visit(page: Page, earlier: int) -> Visit:
    """The visit to a page, this many seconds before it was fetched for the WARC files."""
    names = {name.lower() for name, _ in page.fields}
    gzipped = not names.isdisjoint(("content-encoding", f"{_TODAY}content-encoding"))
    chunked = not names.isdisjoint(("transfer-encoding", f"{_TODAY}transfer-encoding"))
    downloaded = _downloaded(page) if gzipped else len(page.content)
    date = page.date - earlier
    fields = []
    for name, value in page.fields:
        lowered = name.lower()
        if lowered.startswith(_TODAY):
            name, value = name[len(_TODAY) :], "chunked" if "transfer" in lowered else "gzip"  # nobody had heard of br
        elif lowered == "date":
            value = formatdate(date, usegmt=True)
        elif lowered == "content-length":
            if chunked:
                continue
            value = str(downloaded)
        fields.append((name, value.strip()))
    headers = {name.lower(): value for name, value in fields}
    content_type = headers.get("content-type", "")
    mime_type = content_type.partition(";")[0].lower() or "text/html"
    charset, source = _charset(page, content_type, mime_type)
    parsed = page.source if content_type and mime_type in _HTML and page.status[0] == "2" else None
    return Visit(
        page=page,
        date=date,
        time_ms=date * 1000 + page.fetch_ms % 1000,
        fields=tuple(fields),
        headers=headers,
        downloaded=downloaded,
        gzipped=gzipped,
        mime_type=mime_type,
        charset=charset,
        charset_source=source,
        parsed=parsed,
    )


def _downloaded(page: Page) -> int:
    is_stored_so = page.body != page.content
    return len(gzip_stored(page.content)) if is_stored_so else len(page.content) // 4 + 20


def _charset(page: Page, content_type: str, mime_type: str) -> tuple[str, int]:
    if not content_type:
        return "ISO-8859-1", FROM_NOTHING
    if mime_type not in _TEXTS:
        return "", FROM_NOTHING
    charset = page.source.charset if page.source else "UTF-8"
    if "charset=" in content_type.lower():
        return charset, FROM_HEADER
    declared = page.source.head.metas if page.source and mime_type in _HTML else ()
    is_declared = any("charset" in meta or "charset=" in meta.get("content", "") for meta in declared)
    return charset, FROM_META if is_declared else FROM_ICU
