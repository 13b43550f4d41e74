"""The result of fetching a page with a crawler of 2008 to 2012: the response as transferred, and what it detected.

The page is the one in the WARC files, fetched earlier: the Date header is moved accordingly. If today's crawler says
that it has decoded a body (`X-Crawler-Content-Encoding`), that of 2012 left the header unchanged.

Sizes of gzip bodies as transferred are true if the WARC file contains them in gzip; otherwise they are unknown, and a
quarter of the page's size is used.

Deviations: the crawler of 2012 could not fetch `https`; no download is truncated.
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

# How the charset was determined, as in `charset_detector`.
FROM_HEADER, FROM_META, FROM_ICU, FROM_NOTHING = 0, 1, 2, 10

_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = (*_HTML, "text/plain")
_TODAY = "x-crawler-"


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit to a page.

    `date`: seconds since 1970; `time_ms`: the same in milliseconds; `fields`: of the response, as transferred;
    `headers`: the last value of each, by name in lower case; `downloaded`: size of the body as transferred; `stored`:
    whether the body was kept; `mime_type`: "text/html" if the server sent none; `charset`: by its Java name, "" if the
    body is not text; `charset_source`: how it was determined; `parsed`: the document found by a parser.
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
        """Whether the crawler counts the response as a success, even a 404."""
        return self.code // 100 in (2, 4)

    @property
    def stored(self) -> bool:
        """Whether the body was kept."""
        return self.code // 100 == 2 and bool(self.page.content)

    def text(self) -> str:
        """The decoded body, with its byte order mark, and U+FFFD for invalid bytes."""
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
            name, value = name[len(_TODAY) :], "chunked" if "transfer" in lowered else "gzip"  # br did not exist yet
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
