"""Detects the format of an archive from its bytes, never from its name, and reads its records: WARC, WAT, WET, ARC.

`starts` knows the first bytes; of gzip members and Zstandard frames the first intact one decides that begins like a
record, within the first MiB of their content. If the first bytes are damaged, the first MiB is searched for a valid
gzip member or Zstandard frame, or a whole WARC record; or what follows them may be the rest of a member or of a header.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from crawlmill import core
from crawlmill.codecs import zstd
from crawlmill.codecs.gzip import GzipReader, head_only
from crawlmill.codecs.gzip_member import MAGIC, inflate_without_header
from crawlmill.codecs.members import Member, MemberReader
from crawlmill.codecs.source import ByteSource, Replay, Window
from crawlmill.codecs.zstd import FirstBytes, ZstdReader
from crawlmill.errors import FormatError
from crawlmill.formats import arc
from crawlmill.formats.proven import proven
from crawlmill.formats.reader import Account, OpenInput, Request
from crawlmill.formats.record import MAX_BODY, Record
from crawlmill.formats.starts import HEADS, is_record_start, is_warc_start
from crawlmill.formats.url_line import MAX_LINE, is_arc_start
from crawlmill.formats.warc import reader as warc_reader
from crawlmill.formats.warc.heads import HeadReader
from crawlmill.formats.warc.native import NativeReader
from crawlmill.formats.warc.record import WarcRecord, classify

__all__ = ["listed", "read", "read_archive", "recovers"]

_SNIFFED = 1 << 16
_SEARCHED = 1 << 20

OnProblem = Callable[[FormatError], None]


def read_archive(
    source: ByteSource,
    *,
    start: int = 0,
    part: bool = False,
    heads_only: bool = False,
    types: frozenset[str] | None = None,
    criteria: dict[str, Any] | None = None,
    counter: Any | None = None,
    max_body: int = MAX_BODY,
    first_of_file: FirstBytes | None = None,
    on_left_out: Callable[[int], None] = lambda _: None,
    on_unproven: Callable[[], None] = lambda: None,
    on_deselected: Callable[[int], None] = lambda _: None,
    on_cut: Callable[[int], None] = lambda _: None,
    on_problem: OnProblem,
    on_format: Callable[[str], None],
) -> Iterator[Record]:
    """Yield the records of an archive, from offset `start`.

    Args:
        source: The archive.
        start: Where to begin; must be the beginning of a member or a record.
        part: Whether only part of the file was requested; in a plain file it may end with a record's block.
        heads_only: Verify boundaries and lengths only (applies to gzipped WARC; other formats are read whole).
        types: The types of records wanted; others may be left out. None for all.
        criteria: Conditions that the native core may check; records that do not meet them may be left out.
        counter: A counter of the core in use: records that it can count are counted and not yielded.
        max_body: The largest block, in bytes, that the counter may process.
        first_of_file: Returns the first bytes of the file, if reading begins after them: a dictionary may be there.
        on_left_out: Called with the number of records that were read and not yielded.
        on_unproven: Called if content has no checksum, so that a changed byte may go unnoticed.
        on_deselected: Called with the number of these that have a wanted type and do not meet the criteria.
        on_cut: Called with the number of these that were counted and whose payload the crawler truncated.
        on_problem: Called for each loss; reading continues after it.
        on_format: Called with `warc`, `wat`, `wet` or `arc` before the record that decides it is yielded. A warcinfo
            decides nothing.

    Raises:
        FormatError: `unknown-format`: not an archive, or nothing of it could be read.
    """
    window = Window(source, start=start, chunk=_SNIFFED)
    window.hold(_SNIFFED)
    data = window.data
    container = _container(data)
    if container is None:
        window.hold(_SEARCHED)
        data = window.data
        container = _found_within(data)
    source = Replay(source, data)
    heads = HEADS if heads_only else 0

    def ahead(
        head_only: Callable[[bytes, int, bytes], Member], dictionary: Callable[[], bytes] | None = None
    ) -> NativeReader | HeadReader | None:
        native = core.native()
        if native is None:
            if counter is None or criteria is not None or dictionary is not None or not heads:
                return None
            return HeadReader(types, heads, counter, on_left_out)
        return NativeReader(
            native,
            types,
            criteria,
            heads=heads,
            counter=counter,
            max_body=max_body,
            dictionary=dictionary,
            head_only=head_only,
            on_left_out=on_left_out,
            on_deselected=on_deselected,
            on_cut=on_cut,
            on_unproven=on_unproven,
        )

    if container == "gzip":
        gzip = GzipReader(source, start=start, on_problem=on_problem, plausible=is_record_start, heads=heads)
        yield from _read_members(gzip, ahead(head_only), on_problem, on_format)
    elif container == "zstd":
        frames = ZstdReader(
            source,
            start=start,
            first_of_file=first_of_file or (lambda count: data[:count]),
            on_unproven=on_unproven,
            on_problem=on_problem,
            plausible=is_record_start,
            heads=heads,
        )
        yield from _read_members(frames, ahead(frames.head_only, lambda: frames.dictionary), on_problem, on_format)
    elif container in ("warc", "arc"):
        read = warc_reader.read_plain if container == "warc" else arc.read_plain
        yield from _named(read(source, start=start, part=part, on_problem=on_problem), container, on_format, on_problem)
    else:
        raise _unknown(data, start)


def read(opened: OpenInput, request: Request, account: Account) -> Iterator[Record]:
    """The records of an input; see `Reader`."""
    options = request.options
    records = read_archive(
        opened.from_start(),
        start=opened.start,
        part=opened.is_part,
        heads_only=options.heads_only and not options.verify,
        types=request.native_types,
        criteria=request.native_criteria,
        counter=request.native_counter,
        max_body=options.max_body,
        first_of_file=opened.first_of_file,
        on_left_out=account.count,
        on_unproven=account.leave_unproven,
        on_deselected=account.leave_out,
        on_cut=account.cut,
        on_problem=account.lose,
        on_format=account.found,
    )
    return proven(records, request, account)


def _container(data: bytes) -> str | None:
    if data.startswith(MAGIC):
        return "gzip"
    if zstd.begins_zstd(data):
        return "zstd"
    if is_warc_start(data):
        return "warc"
    return "arc" if is_arc_start(data) else None


def _read_members(
    reader: MemberReader,
    ahead: NativeReader | HeadReader | None,
    on_problem: OnProblem,
    on_format: Callable[[str], None],
) -> Iterator[Record]:
    members = iter(reader)

    def on_warc(name: str) -> None:
        on_format(name)
        reader.ahead = ahead  # only now, since it does not report which record came first

    without: list[Member] = []  # whole members without a record at their beginning, in front of the first one with it
    size = 0
    for first in members:
        head = _first_bytes(first)
        if not head:
            continue
        rest = chain([*without, first], members)
        if is_warc_start(head):
            records = warc_reader.read_members(rest, reread=reader.reread, on_problem=on_problem)
            yield from _named(records, "warc", on_warc, on_problem)
            return
        if is_arc_start(head):
            of_arc = arc.read_members(rest, reread=reader.reread, on_problem=on_problem)
            yield from _named(of_arc, "arc", on_format, on_problem)
            return
        if first.head is not None:
            reader.reread()  # whole, to be reported if a record follows
        else:
            without.append(first)
            size += len(first.content or b"")
            if first.content is None or size > _SEARCHED:
                break
    if without:
        raise _unknown(_first_bytes(without[0]), without[0].offset)


def _first_bytes(member: Member) -> bytes:
    if member.content is not None:
        return bytes(member.content[:MAX_LINE])
    if member.head is not None:
        return member.head
    try:
        return member.peek()
    except FormatError:
        return b""  # the member raises the error again for its reader, which reports it


def _named(
    records: Iterator[WarcRecord] | Iterator[arc.ArcRecord],
    container: str,
    on_format: Callable[[str], None],
    on_problem: OnProblem,
) -> Iterator[Record]:
    for record in records:
        if isinstance(record, WarcRecord):
            if record.type == "warcinfo":
                yield record
                continue
            reports_itself = record.block.streamed
            try:
                container = classify(record)
            except FormatError as error:
                if not reports_itself:  # only its head was inflated, and the rest is damaged
                    on_problem(error.located(offset=record.offset))
                continue
        on_format(container)
        yield record
        yield from records
        return
    on_format(container)


def listed() -> set[str]:
    """The names of the fields of all kinds of records; see `Reader`."""
    return {*WarcRecord.listed, *arc.ArcRecord.listed}


def recovers(data: bytes) -> bool:
    """Whether there is a record in the first MiB of an input; see `Reader`."""
    return data.startswith(MAGIC) or _found_within(data) is not None


def _found_within(data: bytes) -> str | None:
    """The format of a file with damaged first bytes, from the first record in these bytes; None if none is found."""
    if _holds_record(GzipReader(io.BytesIO(data), on_problem=_ignore, plausible=is_record_start, cut=True)):
        return "gzip"
    if warc_reader.holds_record(data):
        return "warc"
    if zstd.MAGIC in data:
        frames = ZstdReader(
            io.BytesIO(data),
            first_of_file=lambda count: data[:count],
            on_unproven=lambda: None,
            on_problem=_ignore,
            plausible=is_record_start,
            cut=True,
        )
        if _holds_record(frames):
            return "zstd"
    if is_record_start(inflate_without_header(data, MAX_LINE)):
        return "gzip"
    return "warc" if warc_reader.begins_without_version(data) else None


def _holds_record(reader: MemberReader) -> bool:
    """Whether the first valid member, or the beginning of the last one, begins with a record."""
    member = next(iter(reader), None)
    return member is not None and is_record_start(_first_bytes(member))


def _ignore(_: FormatError) -> None:
    """Ignore a problem found while trying a format."""


def _unknown(data: bytes, offset: int) -> FormatError:
    return FormatError(
        "not an archive",
        reason="unknown-format",
        offset=offset,
        expected="WARC or ARC",
        actual=repr(data[:24])[2:-1],
    )
