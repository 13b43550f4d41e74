"""The files of 2008 to 2012 with the pages of one WARC file, as far as requested.

    parse-output/segment/SEGMENT/metadata-NNNNN       SequenceFiles, URL to JSON and URL to text
                                 textData-NNNNN
                                 MS_N.arc.gz          the ARC file that the metadata point to
    crawl-002/YYYY/MM/DD/N/MS_N.arc.gz                of 2009

SequenceFiles are of version 6, Text to Text, block-compressed with GzipCodec. textData contains only pages with text,
without titles; white space within a line is one blank.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import BinaryIO

from crawlmill.formats.sequencefile.writer import SequenceFileWriter
from crawlmill.sample.answers import LegacyTally
from crawlmill.sample.archives.arc import CRAWL_002, ERAS, VALID_2012, ArcFile, ArcWriter
from crawlmill.sample.archives.attempts import attempt, missed_attempt
from crawlmill.sample.pages import Page
from crawlmill.sample.visits import visit

__all__ = ["LEGACY_FORMATS", "LegacyFiles", "LegacyNames", "legacy_kinds"]

LEGACY_FORMATS = ("arc", "metadata", "text")

_GZIP_CODEC = "org.apache.hadoop.io.compress.GzipCodec"
_BLANKS = re.compile(r"[ \t\v\f]+")


def legacy_kinds(formats: Collection[str]) -> list[str]:
    """The files written for these formats, by the names of their path lists: "arc" stands for three."""
    eras = [era.kind for era in ERAS] if "arc" in formats else []
    return eras + [kind for kind in ("metadata", "text") if kind in formats]


class LegacyNames:
    """The names of the files with the pages of a WARC file.

    The WARC file is number `number` in its crawl, and number `place` in segment number `segment`.
    """

    def __init__(self, segment: int, place: int, number: int) -> None:
        self.arcs = {
            era.kind: ArcFile(era, 0, number) if era is CRAWL_002 else ArcFile(era, segment, place) for era in ERAS
        }
        self.valid_arc = self.arcs[VALID_2012.kind]

    def path(self, kind: str) -> str:
        """The key of the file of this kind."""
        if kind in self.arcs:
            return self.arcs[kind].path
        name = {"metadata": "metadata", "text": "textData"}[kind]
        return f"parse-output/segment/{self.valid_arc.segment_id}/{name}-{self.valid_arc.partition:05d}"


class LegacyFiles:
    """The files, by the names of their path lists; pages are added one after another, and counted."""

    def __init__(
        self, seed: int, names: LegacyNames, fetched: int, streams: Mapping[str, BinaryIO], tally: LegacyTally
    ) -> None:
        """`fetched`: when the first page of the crawl was fetched for the WARC files, in seconds since 1970."""
        self._tally = tally
        self._others = [
            (fetched - era.fetched, ArcWriter(names.arcs[era.kind], streams[era.kind]))
            for era in ERAS
            if era is not VALID_2012 and era.kind in streams
        ]
        self._earlier = fetched - VALID_2012.fetched
        self._arc = ArcWriter(names.valid_arc, streams.get(VALID_2012.kind))
        # Metadata records state the places of bodies, so those are computed even without an ARC file.
        self._needs_arc = bool(streams.keys() & {VALID_2012.kind, "metadata"})
        self._metadata, self._text = (
            _sequence_file(streams[kind], seed, names.path(kind)) if kind in streams else None
            for kind in ("metadata", "text")
        )

    def add(self, page: Page) -> None:
        """Write a page to each of the files that contains it."""
        for earlier, arc in self._others:
            seen = visit(page, earlier)
            if seen.stored:
                arc.write(seen)
        seen = visit(page, self._earlier)
        self._tally.add(seen)
        member = self._arc.write(seen) if seen.stored and self._needs_arc else None
        if self._metadata:
            for record in (attempt(seen, self._arc.file, member), missed_attempt(seen)):
                if record is not None:
                    self._metadata.append(*(part.encode() for part in record))
        if self._text and seen.parsed is not None and (text := _BLANKS.sub(" ", seen.parsed.body_text())).strip():
            self._text.append(page.address.url.encode(), text.encode())

    def close(self) -> None:
        """Write the last blocks; the streams stay open."""
        for file in (self._metadata, self._text):
            if file:
                file.close()


def _sequence_file(stream: BinaryIO, seed: int, path: str) -> SequenceFileWriter:
    sync = hashlib.md5(f"crawlmill-sample/{seed}/{path}".encode(), usedforsecurity=False).digest()
    return SequenceFileWriter(stream, compression="block", codec=_GZIP_CODEC, sync=sync)
