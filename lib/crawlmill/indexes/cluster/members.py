"""The members of a cluster's shards: read at the offsets and lengths in `cluster.idx`, verified, and inflated.

A damaged member does not affect others: the next one is found through `cluster.idx`. The memory for a member is
limited, whatever size is claimed: one that inflates to more than 16 MiB is inflated twice, first to verify it and then
to return its lines.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from crawlmill.codecs.gzip_member import inflate_member, inflated_start
from crawlmill.codecs.inflate import inflate_whole
from crawlmill.codecs.source import ByteSource, Window, read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cluster.places import Shards
from crawlmill.indexes.index import Losses
from crawlmill.indexes.lines import Chunk, chunks_of, first_line, is_header, key_and_time, tidy
from crawlmill.indexes.plan import Part, Plan

__all__ = ["MAX_MEMBER", "PROBE_BYTES", "beginning_error", "member_lines", "read_members"]

MAX_MEMBER: Final = 64 << 20
"""Compressed bytes of a member, beyond which `cluster.idx` is not believed."""

PROBE_BYTES: Final = 4 << 10
"""Compressed bytes by which the first line of a member is known."""


def read_members(plan: Plan, shards: Shards, losses: Losses) -> Iterator[Chunk]:
    """Yield the lines of all members of a plan, in chunks; losses are reported. Adjoining members are one request."""
    for run in plan.runs():
        file = run[0].file
        if file in losses:
            continue
        if run[0].lengths[0] > MAX_MEMBER:
            losses.add(_giant(run[0]), file)
            continue
        try:
            more = PROBE_BYTES if run[-1].after else 0
            with shards.open(file, run[0].offset, run[-1].end + more - run[0].offset) as stream:
                yield from _read_run(run, stream, losses)
        except (SourceError, FormatError) as error:
            losses.add(error, file)


def _read_run(run: list[Part], stream: ByteSource, losses: Losses) -> Iterator[Chunk]:
    at = run[0].offset
    for number, part in enumerate(run):
        if part.offset != at:
            read_up_to(stream, part.offset - at)  # seeking would take a new request, and gaps within a run are small
            at = part.offset
        for length in part.lengths:
            packed = read_up_to(stream, length)
            if len(packed) < length:
                losses.add(_short(at, length, len(packed), part), part.file)
                return  # the file ends here: the members after this are reported with it
            begins_part = at == part.offset
            try:
                for chunk in member_lines(packed):
                    if begins_part and chunk:
                        _check_beginning("a member", chunk, part.start, part, at, losses)
                        begins_part = False
                    yield chunk
            except FormatError as error:
                error.offset = at
                losses.add(error, part.file)
            at += length
        if part.after:
            gap = run[number + 1].offset - at if number + 1 < len(run) else PROBE_BYTES
            probe = read_up_to(stream, min(gap, PROBE_BYTES))
            at += len(probe)
            text = inflated_start(probe, PROBE_BYTES)
            _check_beginning("the member after one", text, part.after, part, part.end - part.lengths[-1], losses)


def _check_beginning(what: str, text: Chunk, start: bytes, part: Part, offset: int, losses: Losses) -> None:
    if (error := beginning_error(what, text, start)) is not None:
        error.offset = offset
        losses.add(error, part.file)


def beginning_error(what: str, text: Chunk, start: bytes) -> FormatError | None:
    """The error for a member that does not begin as its row says; `text` is its beginning, perhaps with a header."""
    line = first_line(text.lstrip(b"\r\n"))
    first = key_and_time(line)
    if not start or first == start or line.count(b" ") < 2 or is_header(line):
        return None
    return FormatError(
        f"{what} begins with another line than cluster.idx says, so that captures may be missed",
        reason="bad-header",
        expected=repr(start[:80].decode("utf-8", "backslashreplace")),
        actual=repr(first[:80].decode("utf-8", "backslashreplace")),
    )


def member_lines(packed: bytes) -> Iterator[Chunk]:
    """Yield the lines of a member, in chunks.

    Raises:
        FormatError: The bytes are not whole members; nothing of them is yielded.
    """
    content = inflate_whole(packed)
    if content is not None:
        yield tidy(content)
        return
    for _ in _pieces(packed):
        pass
    yield from chunks_of(_pieces(packed))


def _pieces(packed: bytes) -> Iterator[bytes]:
    """The content of one or several members, by zlib."""
    window = Window(io.BytesIO(packed))
    while window.hold(1):
        offset = window.offset
        try:
            yield from inflate_member(window)
        except FormatError as error:
            if offset:
                raise FormatError(
                    "cluster.idx gives a member another length than it has",
                    reason="bad-length",
                    expected=offset,
                    actual=len(packed),
                ) from error
            raise


def _giant(part: Part) -> FormatError:
    return FormatError(
        "cluster.idx names a member that is too large to be one",
        reason="too-large",
        offset=part.offset,
        expected=f"<= {MAX_MEMBER} bytes",
        actual=part.lengths[0],
    )


def _short(offset: int, length: int, found: int, part: Part) -> FormatError:
    left = part.end - offset - length
    more = f" (and {left} bytes of members after it)" if left else ""
    what = "a member is cut off by the end of its shard" if found else "cluster.idx points beyond the end of its shard"
    return FormatError(what, reason="truncated", offset=offset, expected=f"{length} bytes{more}", actual=found)
