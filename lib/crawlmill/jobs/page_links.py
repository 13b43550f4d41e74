"""Find the links of pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from crawlmill import core
from crawlmill.analysis.links.character_references import unescape
from crawlmill.mr import Columns, MRStep, Reading
from crawlmill.mr.job.links import LinksJob, Page
from crawlmill.mr.task.pairs import ENCODED, encode_key
from crawlmill.mr.task.rows import Pair

__all__ = ["PageLinks"]

_AT_ONCE = 1000


class PageLinks(LinksJob):
    """Find the links of pages: what the URL attributes of their HTML refer to.

    Reads WARC, ARC, WAT, and metadata of 2012. Links are resolved by the URL standard, by the page's URL or its first
    <base href>; invalid URLs are left out. A link is listed as often as it is on the page. From WAT and metadata you
    get what they contain: WAT has the last <base href>, and the metadata the links of seven elements.

    A result line is a page, the target, and the kind of the link as WAT names it:
    "http://a.com/x"<TAB>["http://b.org/y.png","IMG@/src"]
    """

    columns = Columns({"url": "string"}, {"target": "string", "kind": "string"})

    def steps(self) -> list[MRStep]:
        """One map step without a reducer."""
        return [MRStep(mapper=self.mapper)]

    def read(self, reading: Reading) -> Iterator[Pair]:
        """Yield the links of one input; the native core, if used, writes those of ordinary pages."""
        native = core.native()
        written = None if native is None else native.LinkLines()
        reading.counter = written
        for record in self.watched(reading):
            if written is not None:
                yield from _drained(written.drain())
            for page in self.pages_of(reading, record):
                yield from _lines(page.url, page.links())
        if written is not None:
            yield from _drained(written.drain())


def _drained(found: list[bytes | tuple[str, str | None, str, str, bool]]) -> Iterator[Pair]:
    """Yield the lines that the native core wrote, and the lines for references that it left to Python."""
    for each in found:
        if isinstance(each, bytes):
            yield ENCODED, each
            continue
        url, base, kind, reference, escaped = each
        page = Page(url, base, partial(iter, [(kind, unescape(reference) if escaped else reference)]))
        yield from _lines(url, page.links())


def _lines(url: str, links: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    source, lines = encode_key(url), []
    for target, kind in links:
        plain = '"' not in target and "\\" not in target
        text = b'"%b"' % target.encode() if plain else encode_key(target)
        lines.append(b'%b\t[%b,"%b"]\n' % (source, text, kind.encode()))
        if len(lines) == _AT_ONCE:
            yield ENCODED, b"".join(lines)
            lines.clear()
    if lines:
        yield ENCODED, b"".join(lines)


if __name__ == "__main__":
    PageLinks.run()
