"""ARC files of the sample crawl, as Common Crawl wrote them in three eras with different meanings of a record's length.

| era | declared length | headers of the crawler's own | clock |
|---|---|---|---|
| `CRAWL_002` (2008-2010) | header, blank line, body | `x_commoncrawl_…`, some of them missing | US Pacific |
| `JULY_2012` (segments that were withdrawn) | header, body: the blank line is forgotten | none | UTC |
| `VALID_2012` | header, blank line, body, closing line feed | `x-commoncrawl-DetectedCharset` of texts | UTC |

None has a blank after the colon of a header, and bodies are decoded under headers that say otherwise. Only bodies of
good responses are stored.

Spec: ARC 1.0 (Internet Archive, 1996), one gzip member (RFC 1952) per record; the first describes the file and has an
extra field "LX".

Deviations: Common Crawl began a new file every 100 MB; here the number of files decides. Fingerprints are invented.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from crawlmill.sample.dice import Dice
from crawlmill.sample.pages import Page
from crawlmill.sample.records import Fields, Member, MemberWriter
from crawlmill.sample.visits import Visit

__all__ = ["CRAWL_002", "ERAS", "JULY_2012", "VALID_2012", "ArcFile", "ArcWriter", "Era"]

_FILE_GZIP_HEADER = bytes.fromhex("1f8b0804 00000000 0003 0800 4c58 0400 00000000")
_PAGE_GZIP_HEADER = bytes.fromhex("1f8b0800 00000000 0000")
_SEGMENT_STEP_MS = 1_000_000
_FILE_STEP_MS = 1000


@dataclass(frozen=True, slots=True)
class Era:
    """How ARC files were written in one period.

    `kind`: the name of their list; `fetched`: when the first page was fetched, in seconds since 1970; `segment_ms`: the
    name of the first segment, 0 without segments; `begun_ms`: when the first file was begun, in milliseconds since
    1970; `surplus`: bytes in the declared length beyond header and body; `clock`: the crawler's clock, in seconds
    before UTC.
    """

    kind: str
    fetched: int
    segment_ms: int
    begun_ms: int
    surplus: int
    clock: int = 0


def _moment(year: int, month: int, day: int, hour: int) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp())


VALID_2012 = Era("arc", _moment(2012, 5, 15, 22), 1346823845675, 1346864469604, 3)
JULY_2012 = Era("arc-july-2012", _moment(2012, 5, 24, 22), 1341690147253, 1341708194671, 0)
CRAWL_002 = Era("arc-crawl-002", _moment(2009, 7, 4, 18), 0, 1253241189984, 2, clock=7 * 3600)
ERAS = (VALID_2012, JULY_2012, CRAWL_002)


@dataclass(frozen=True, slots=True)
class ArcFile:
    """One ARC file: number `partition` of segment number `segment` of the crawl."""

    era: Era
    segment: int
    partition: int

    @property
    def segment_id(self) -> int:
        """The name of the segment: when it was begun, in milliseconds since 1970."""
        return self.era.segment_ms + self.segment * _SEGMENT_STEP_MS

    @property
    def begun_ms(self) -> int:
        """When the file was begun, in milliseconds since 1970."""
        return self.era.begun_ms + self.segment * _SEGMENT_STEP_MS + self.partition * _FILE_STEP_MS

    @property
    def name(self) -> str:
        """The name without folders."""
        return f"{self.begun_ms}_{self.partition}.arc.gz"

    @property
    def path(self) -> str:
        """The key, in Common Crawl's bucket."""
        if self.era.segment_ms:
            return f"parse-output/segment/{self.segment_id}/{self.name}"
        day = time.strftime("%Y/%m/%d", self.local_time(self.begun_ms // 1000))
        return f"crawl-002/{day}/{self.partition}/{self.name}"

    def local_time(self, seconds: int) -> time.struct_time:
        """The crawler's local time, from seconds since 1970."""
        return time.gmtime(seconds - self.era.clock)


class ArcWriter:
    """Writes an ARC file; without a stream it only computes the places of records."""

    def __init__(self, file: ArcFile, stream: BinaryIO | None) -> None:
        self.file = file
        self._members = MemberWriter(stream)
        described = b"1 0 CommonCrawl\nURL IP-address Archive-date Content-type Archive-length\n"
        line = _url_line(
            f"filedesc://{file.name}",
            "0.0.0.0",  # noqa: S104
            self._date(file.begun_ms // 1000),
            "text/plain",
            len(described) + 1,
        )
        self._members.write(line + described + b"\n", _FILE_GZIP_HEADER)

    def write(self, visit: Visit) -> Member:
        """Write the record of a page."""
        page, era = visit.page, self.file.era
        fields = (*visit.fields, *_own_fields(era, visit))
        head = f"HTTP/1.1 {page.status}\r\n" + "".join(f"{name}:{value}\r\n" for name, value in fields)
        header = head.encode()
        length = len(header) + len(page.content) + era.surplus
        line = _url_line(page.address.url, page.address.ip, self._date(visit.date), visit.mime_type, length)
        return self._members.write(b"".join((line, header, b"\r\n", page.content, b"\n")), _PAGE_GZIP_HEADER)

    def _date(self, seconds: int) -> str:
        return time.strftime("%Y%m%d%H%M%S", self.file.local_time(seconds))


def _url_line(url: str, ip: str, date: str, mime_type: str, length: int) -> bytes:
    return f"{url} {ip} {date} {mime_type} {length}\n".encode()


def _own_fields(era: Era, visit: Visit) -> Fields:
    if era is CRAWL_002:
        dice = Dice(visit.page.seed, "crawl-002", visit.page.number)
        return tuple(field for field in _fingerprints(visit.page, visit.time_ms, dice) if dice.chance(0.95))
    return (("x-commoncrawl-DetectedCharset", visit.charset),) if era is VALID_2012 and visit.charset else ()


def _fingerprints(page: Page, time_ms: int, dice: Dice) -> Fields:
    url, host = (int(dice.token(), 16) * (1 if dice.chance(0.5) else -1) for _ in range(2))
    return (
        ("x_commoncrawl_ParseSegmentId", str(dice.between(1, 9999))),
        ("x_commoncrawl_OriginalURL", page.address.url),
        ("x_commoncrawl_URLFP", str(url * 31_013)),
        ("x_commoncrawl_HostFP", str(host * 31_013 if dice.chance(0.5) else host % (1 << 31))),
        ("x_commoncrawl_Signature", hashlib.md5(page.content, usedforsecurity=False).hexdigest()),
        ("x_commoncrawl_CrawlNo", "1"),
        ("x_commoncrawl_FetchTimestamp", str(time_ms)),
    )
