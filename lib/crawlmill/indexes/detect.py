"""Detects the kind of an index from its first bytes, never from its name."""

from __future__ import annotations

import codecs
import re
from typing import Final

from crawlmill.codecs.gzip_member import inflated_start
from crawlmill.errors import FormatError
from crawlmill.indexes.cdx.header import parse_header
from crawlmill.indexes.cdx.read_through import begins_line
from crawlmill.indexes.cluster.rows import parse_row
from crawlmill.indexes.lines import is_header
from crawlmill.indexes.prefix_tree.index_blocks import begins_tree

__all__ = ["HEAD_BYTES", "check_lines", "detect_index"]

HEAD_BYTES: Final = 32 << 10
"""Bytes of a file by which it is known what it is."""

_GZIP: Final = b"\x1f\x8b"
_TREE: Final = re.compile(r"(?:.*/)?(?:url-index\.[^/.]+|[^/]+\.pbtree)")
_HOST_FIRST: Final = re.compile(rb"(?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9-]+(?::[0-9]+)?/[^)]*")
_CDXJ: Final = re.compile(rb"[^ \n]+ [0-9]{14} \{")


def detect_index(head: bytes, name: str) -> tuple[str, bool]:
    """Detect `cdx`, `cdxj`, `cluster` (a `cluster.idx`) or `prefix-tree`; returns it, and whether it is gzipped.

    An empty file is an empty CDXJ, unless its name is that of the index of 2012.

    Raises:
        FormatError: `unknown-format`.
    """
    gzipped = head.startswith(_GZIP)
    if not gzipped and begins_tree(head):
        return "prefix-tree", False
    if _TREE.fullmatch(name):
        raise FormatError(
            "not an index of 2012",
            reason="unknown-format",
            source=name,
            expected="a prefix B-tree",
            actual=repr(head[:24])[2:-1] or "0 bytes",
        )
    text = _text(head, gzipped=gzipped)
    lines = (line.rstrip(b"\r") for line in text.split(b"\n"))
    line = next((line for line in lines if line), b"")
    if not line and not text.strip(b"\r\n"):
        return "cdxj", gzipped
    if _CDXJ.match(line) or (is_header(line) and line.startswith(b"!")):
        return "cdxj", gzipped
    if is_header(line) or (begins_line(line) and b"\t" not in line.split(b" ")[1]):
        return "cdx", gzipped
    try:
        # What follows these columns may be damaged, which is reported by those who read it.
        parse_row(b"\t".join(line.split(b"\t")[:4]))
    except FormatError:
        pass
    else:
        if not gzipped:
            return "cluster", False
    raise FormatError(
        "not an index",
        reason="unknown-format",
        source=name,
        expected="CDX, CDXJ (plain or gzip), the cluster.idx of a cluster, or a prefix B-tree",
        actual=repr(line[:60].decode("utf-8", "backslashreplace")),
    )


def check_lines(head: bytes, name: str, *, gzipped: bool) -> bool:
    """Check that URLs can be looked up in a file of CDX or CDXJ; returns whether its header names unusual columns.

    Raises:
        FormatError: `unknown-format`: the header lacks columns; there are lines after it but no captures, as in
            OpenWayback's CDXJ; or keys are not SURTs, as `cdx-indexer --unsurt` writes them.
    """
    lines = _text(head, gzipped=gzipped).split(b"\n")[:-1]
    try:
        if lines and parse_header(lines[0].rstrip(b"\r")) is not None:
            return True
    except FormatError as error:
        raise error.located(source=name) from None
    others = [line for line in lines if line.strip() and not is_header(line)]
    first = next((line for line in others if begins_line(line)), None)
    if (first is None and others) or (first is not None and _HOST_FIRST.fullmatch(first.partition(b" ")[0])):
        raise FormatError(
            "an index in which URLs cannot be looked up",
            reason="unknown-format",
            source=name,
            expected="lines with a SURT and 14 digits, such as com,example)/ 20240101000000",
            actual=repr((first or others[0])[:60].decode("utf-8", "backslashreplace")),
        )
    return False


def _text(head: bytes, *, gzipped: bool) -> bytes:
    return (inflated_start(head, HEAD_BYTES) if gzipped else head).removeprefix(codecs.BOM_UTF8)
