"""Writes a sample crawl: files at Common Crawl's paths, its path lists, and the answers next to it.

    crawl-data/CC-SAMPLE-2026-01/segments/SEGMENT/warc/CC-SAMPLE-START-END-NNNNN.warc.gz
                                                  wat/CC-SAMPLE-START-END-NNNNN.warc.wat.gz
                                                  wet/CC-SAMPLE-START-END-NNNNN.warc.wet.gz
    crawl-data/CC-SAMPLE-2026-01/{segment,warc,wat,wet}.paths.gz
    answers.json

and, if requested, the URL index described in `index`, with `cc-index.paths.gz` next to the other lists, and the files
of the crawls of 2008 to 2012 described in `legacy_files`, with lists next to the others and
`parse-output/valid_segments.txt`.

Every list of archives has as many lines as there are files of a format, and all files of a list together contain all
pages.

Every file gets its name once it is complete, `answers.json` last: a folder without it is unfinished. The same pages,
files and seed always result in the same inflated bytes, and with the same zlib in the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from crawlmill.errors import SourceError, UsageError
from crawlmill.sample.answers import Answers, LegacyTally, Tally
from crawlmill.sample.archives.warc import CRAWL
from crawlmill.sample.current_files import CURRENT_FORMATS, SUFFIXES, CurrentFiles
from crawlmill.sample.index import CrawlIndex
from crawlmill.sample.legacy_files import LEGACY_FORMATS, LegacyFiles, LegacyNames, legacy_kinds
from crawlmill.sample.pages import PageMaker
from crawlmill.sample.records import MemberWriter

__all__ = ["DEFAULT_FORMATS", "FORMATS", "write_sample"]

_OF_TODAY = (*CURRENT_FORMATS, "index")

DEFAULT_FORMATS = CURRENT_FORMATS
FORMATS = (*_OF_TODAY, *LEGACY_FORMATS)

_START = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
_SEGMENT_SPAN_S = 10800
_FILES_PER_SEGMENT = 2  # so that even a small crawl has more than one segment
_MAX_SEGMENTS = 100


@dataclass(frozen=True, slots=True)
class _CrawlFile:
    """One of the crawl's files: its segment, its number there, the start of the segment, and its pages."""

    segment: int
    place: int
    start: int
    numbers: range
    legacy: LegacyNames

    @property
    def segment_path(self) -> str:
        return f"crawl-data/{CRAWL}/segments/{self.start * 1000}.{self.segment}"

    def names(self) -> dict[str, str]:
        start, end = (
            datetime.fromtimestamp(moment, UTC).strftime("%Y%m%d%H%M%S")
            for moment in (self.start, self.start + _SEGMENT_SPAN_S)
        )
        return {kind: f"CC-SAMPLE-{start}-{end}-{self.place:05d}{suffix}" for kind, suffix in SUFFIXES.items()}

    def path(self, kind: str) -> str:
        return f"{self.segment_path}/{kind}/{self.names()[kind]}" if kind in SUFFIXES else self.legacy.path(kind)


def write_sample(
    folder: Path,
    *,
    pages: int = 300,
    files: int = 3,
    seed: int = 1,
    formats: Collection[str] = DEFAULT_FORMATS,
    realistic: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Answers:
    """Write a crawl of `pages` pages in `files` files of each format to an empty or new folder.

    A page takes about 40 KB of WARC before compression; a `realistic` one 120 KB, as on average in real crawls, with
    equally varied words. `progress` is called with the numbers of pages written and of all pages.

    Raises: `UsageError`: numbers, formats or the folder are not valid; `SourceError`: writing fails.
    """
    _check(folder, pages, files, formats)
    kinds = [kind for kind in CURRENT_FORMATS if kind in formats] + legacy_kinds(formats)
    has_current, has_legacy = (not set(formats).isdisjoint(some) for some in (_OF_TODAY, LEGACY_FORMATS))
    layout = _layout(pages, files)
    maker = PageMaker(seed, frozenset(file.numbers.start for file in layout), realistic=realistic)
    tally, legacy = Tally(), LegacyTally()
    try:
        with ExitStack() as whole:
            index = whole.enter_context(CrawlIndex(folder)) if "index" in formats else None
            for file in layout:
                with ExitStack() as stack:
                    streams = {kind: stack.enter_context(_published(folder / file.path(kind))) for kind in kinds}
                    take = partial(index.add, filename=file.path("warc")) if index else None
                    current_files = CurrentFiles(seed, file.names(), file.start, streams, take) if has_current else None
                    legacy_files = LegacyFiles(seed, file.legacy, _START, streams, legacy) if has_legacy else None
                    for number in file.numbers:
                        page = maker.page(number, file.start)
                        tally.add(page)
                        if current_files:
                            current_files.add(page)
                        if legacy_files:
                            legacy_files.add(page)
                        if progress is not None:
                            progress(number + 1, pages)
                    if legacy_files:
                        legacy_files.close()
            index_paths = index.write(files, _published) if index else []
        _write_lists(folder, layout, kinds, index_paths)
        answers = tally.answers(legacy.tables(formats))
        with _published(folder / "answers.json") as stream:
            stream.write(answers.to_json().encode())
    except OSError as error:
        reason = "denied" if isinstance(error, PermissionError) else "unavailable"
        message = f"the sample crawl could not be written: {error.strerror or error}"
        raise SourceError(message, reason=reason, source=error.filename or str(folder)) from error
    return answers


def _check(folder: Path, pages: int, files: int, formats: Collection[str]) -> None:
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
    segments = min(_MAX_SEGMENTS, -(-files // _FILES_PER_SEGMENT))
    layout = []
    for segment in range(segments):
        first, end = files * segment // segments, files * (segment + 1) // segments
        start = _START + segment * _SEGMENT_SPAN_S
        for file in range(first, end):
            numbers = range(pages * file // files, pages * (file + 1) // files)
            layout.append(_CrawlFile(segment, file - first, start, numbers, LegacyNames(segment, file - first, file)))
    return layout


def _write_lists(folder: Path, layout: list[_CrawlFile], kinds: list[str], index_paths: list[str]) -> None:
    lists = {kind: [file.path(kind) for file in layout] for kind in kinds}
    if index_paths:
        lists["cc-index"] = index_paths
    if not set(kinds).isdisjoint(CURRENT_FORMATS):
        lists["segment"] = list(dict.fromkeys(f"{file.segment_path}/" for file in layout))
    for kind, lines in lists.items():
        with _published(folder / f"crawl-data/{CRAWL}/{kind}.paths.gz") as stream:
            MemberWriter(stream).write("".join(f"{line}\n" for line in lines).encode())
    if not set(kinds) <= set(CURRENT_FORMATS):
        valid = dict.fromkeys(f"{file.legacy.valid_arc.segment_id}\n" for file in layout)
        with _published(folder / "parse-output/valid_segments.txt") as stream:
            stream.write("".join(valid).encode())


@contextmanager
def _published(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete, and is otherwise removed."""
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
