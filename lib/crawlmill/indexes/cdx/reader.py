"""CDX and CDXJ files as inputs, plain or gzip, including shards of clusters: their items are blocks of lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.gzip_member import MAGIC, inflated_start
from crawlmill.formats.reader import Account, OpenInput, Request
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.blocks import begins_index, read_blocks

__all__ = ["begins", "read", "recovers"]

_HEAD_BYTES: Final = 1 << 12


def begins(data: bytes) -> bool:
    """Whether there is a header or a capture among the first lines; lines before it may be malformed."""
    text = inflated_start(data, _HEAD_BYTES) if data.startswith(MAGIC) else data
    return any(begins_index(line) for line in text.split(b"\n"))


def recovers(data: bytes) -> bool:
    """Whether a member with captures begins somewhere in these bytes."""
    reader = GzipReader(io.BytesIO(data), on_problem=lambda _: None, plausible=begins_index)
    member = next(iter(reader), None)
    if member is None:
        return False
    content = member.content if member.content is not None else member.peek()
    return begins_index(bytes(content[:_HEAD_BYTES]))


def read(opened: OpenInput, request: Request, account: Account) -> Iterator[Block]:  # noqa: ARG001 - the interface
    """The captures of an input, in blocks; see `Reader`."""
    for block in read_blocks(opened.from_start(), start=opened.start, on_problem=account.lose):
        if account.format is None:
            account.found("cdxj" if b" {" in block.data.split(b"\n", 1)[0] else "cdx")
        account.count(block.lines)
        yield block
