"""Writes a sample crawl: its files where Common Crawl would have them, its path lists, and the answers beside it.

    crawl-data/CC-SAMPLE-2026-01/segments/SEGMENT/warc/CC-SAMPLE-START-END-NNNNN.warc.gz
                                                  wat/CC-SAMPLE-START-END-NNNNN.warc.wat.gz
                                                  wet/CC-SAMPLE-START-END-NNNNN.warc.wet.gz
    crawl-data/CC-SAMPLE-2026-01/{segment,warc,wat,wet}.paths.gz
    answers.json

Every file appears under its name when it is complete, `answers.json` last: a folder without it is unfinished. The same
pages, files and seed give the same inflated bytes always, and the same bytes with the same zlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from crawlmill.errors import SourceError, UsageError
from crawlmill.sample.answers import Answers, Tally
from crawlmill.sample.pages import Page, PageMaker
from crawlmill.sample.records import MemberWriter
from crawlmill.sample.warc import CRAWL, page_records, warcinfo
from crawlmill.sample.wat import page_envelopes, wat_info, wat_of_warcinfo
from crawlmill.sample.wet import conversion, wet_info

__all__ = ["FORMATS", "write_sample"]

FORMATS = ("warc", "wat", "wet")

_SUFFIXES = {"warc": ".warc.gz", "wat": ".warc.wat.gz", "wet": ".warc.wet.gz"}
_START = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
_EXTRACTED = int(datetime(2026, 1, 20, 12, 30, 45, tzinfo=UTC).timestamp())
_SEGMENT_SPAN_S = 10800
_FILES_PER_SEGMENT = 2  # so that even a small crawl has more than one segment
_MOST_SEGMENTS = 100


@dataclass(frozen=True, slots=True)
class _CrawlFile:
    """One of the crawl's files: its segment, its place there, the start of the segment and the pages it holds."""

    segment: int
    place: int
    start: int
    numbers: range

    @property
    def segment_path(self) -> str:
        return f"crawl-data/{CRAWL}/segments/{self.start * 1000}.{self.segment}"

    def name(self, kind: str) -> str:
        start, end = (
            datetime.fromtimestamp(moment, UTC).strftime("%Y%m%d%H%M%S")
            for moment in (self.start, self.start + _SEGMENT_SPAN_S)
        )
        return f"CC-SAMPLE-{start}-{end}-{self.place:05d}{_SUFFIXES[kind]}"

    def path(self, kind: str) -> str:
        return f"{self.segment_path}/{kind}/{self.name(kind)}"


class _FileSet:
    """A WARC file and the WAT and WET files made from it, as far as they are asked for; pages are added in turn."""

    def __init__(self, seed: int, file: _CrawlFile, streams: dict[str, BinaryIO]) -> None:
        self._warc_name = file.name("warc")
        # WAT records tell where the WARC records lie, so those are laid out even if nobody wants the WARC file.
        self._warc = MemberWriter(streams.get("warc"))
        self._wat = MemberWriter(streams["wat"]) if "wat" in streams else None
        self._wet = MemberWriter(streams["wet"]) if "wet" in streams else None
        info = warcinfo(seed, self._warc_name, file.start)
        self._warcinfo_id = info["WARC-Record-ID"]
        placed = info, self._warc.write_record(info)
        if self._wat:
            self._wat.write_record(wat_info(seed, file.name("wat"), _EXTRACTED))
            self._wat.write_record(wat_of_warcinfo(seed, placed, _EXTRACTED))
        if self._wet:
            self._wet.write_record(wet_info(seed, file.name("wet"), _EXTRACTED))

    def add(self, page: Page) -> None:
        records = page_records(page, self._warcinfo_id)
        members = [self._warc.write_record(record) for record in (records.request, records.response, records.metadata)]
        if self._wat:
            for envelope in page_envelopes(page, records, members, self._warc_name, _EXTRACTED):
                self._wat.write_record(envelope)
        if self._wet and page.document is not None:
            self._wet.write_record(conversion(page, page.document))


def write_sample(
    folder: Path,
    *,
    pages: int = 300,
    files: int = 3,
    seed: int = 1,
    formats: Sequence[str] = FORMATS,
    realistic: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Answers:
    """Write a crawl of `pages` pages in `files` files of each format to a folder that is empty or does not exist yet.

    A page takes about 40 KB of WARC before compression. `progress` is called with the numbers of pages written and of
    all pages.

    Raises: `UsageError` for numbers, formats or a folder that cannot be; `SourceError` if writing fails.
    """
    _check(folder, pages, files, formats)
    kinds = [kind for kind in FORMATS if kind in formats]
    layout = _layout(pages, files)
    maker = PageMaker(seed, frozenset(file.numbers.start for file in layout), realistic=realistic)
    tally = Tally()
    try:
        for file in layout:
            with ExitStack() as stack:
                streams = {kind: stack.enter_context(_published(folder / file.path(kind))) for kind in kinds}
                written = _FileSet(seed, file, streams)
                for number in file.numbers:
                    page = maker.page(number, file.start)
                    written.add(page)
                    tally.add(page)
                    if progress is not None:
                        progress(number + 1, pages)
        _write_lists(folder, layout, kinds)
        answers = tally.answers()
        with _published(folder / "answers.json") as stream:
            stream.write(answers.to_json().encode())
    except OSError as error:
        reason = "denied" if isinstance(error, PermissionError) else "unavailable"
        message = f"the sample crawl could not be written: {error.strerror or error}"
        raise SourceError(message, reason=reason, source=error.filename or str(folder)) from error
    return answers


def _check(folder: Path, pages: int, files: int, formats: Sequence[str]) -> None:
    if files < 1:
        raise UsageError("number of files", expected="1 or more", actual=files)
    if pages < files:
        raise UsageError("number of pages", expected=f"{files} or more, one for each file", actual=pages)
    unknown = [kind for kind in formats if kind not in FORMATS]
    if unknown or not formats:
        known = ", ".join(FORMATS)
        raise UsageError(
            "formats of the sample crawl", expected=f"some of {known}", actual=", ".join(unknown) or "none"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = next(folder.iterdir(), None)
    except OSError as error:
        message = f"the folder for the sample crawl cannot be made: {error.strerror}"
        raise UsageError(message, source=str(folder)) from error
    if occupied is not None:
        raise UsageError("the folder for the sample crawl is not empty", source=str(folder))


def _layout(pages: int, files: int) -> list[_CrawlFile]:
    segments = min(_MOST_SEGMENTS, -(-files // _FILES_PER_SEGMENT))
    layout = []
    for segment in range(segments):
        first, end = files * segment // segments, files * (segment + 1) // segments
        start = _START + segment * _SEGMENT_SPAN_S
        for file in range(first, end):
            numbers = range(pages * file // files, pages * (file + 1) // files)
            layout.append(_CrawlFile(segment, file - first, start, numbers))
    return layout


def _write_lists(folder: Path, layout: list[_CrawlFile], kinds: list[str]) -> None:
    lists = {kind: [file.path(kind) for file in layout] for kind in kinds}
    lists["segment"] = list(dict.fromkeys(f"{file.segment_path}/" for file in layout))
    for kind, lines in lists.items():
        with _published(folder / f"crawl-data/{CRAWL}/{kind}.paths.gz") as stream:
            MemberWriter(stream).write("".join(f"{line}\n" for line in lines).encode())


@contextmanager
def _published(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that gets its name when it is complete, and is removed if it never is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    stream = unfinished.open("wb")
    try:
        with stream:
            yield stream
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
