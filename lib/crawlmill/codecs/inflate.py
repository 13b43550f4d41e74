"""Which library inflates a gzip member, and the proof that a member is whole.

The fast libraries answer one question only: are these bytes exactly one whole member, and what does it hold? Where the
answer is no, the plain zlib reader (`codecs.gzip`) reads the member again, and its verdict is the one that is reported;
so results and reasons never depend on what is installed.

The order for whole members is libdeflate (`deflate`), `isal`, `zlib-ng`, `zlib`; for the first bytes of members it is
`zlib-ng`, `zlib` (ISA-L is slow to start). `CRAWLMILL_DECODER` names one of them to be used instead of the first found.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Callable
from typing import Any

from crawlmill.errors import UsageError

__all__ = ["MAX_WHOLE", "Content", "decoders", "inflate_head", "inflate_whole"]

Content = bytes | bytearray
"""What a member holds; libdeflate gives a bytearray, and copying it would cost a quarter of the inflating."""

MAX_WHOLE = 16 << 20
"""Bytes that a member may inflate to and be held whole; a larger one is streamed."""

_MAX_RATIO = 1032  # deflate cannot expand further: a length code of 258 bytes takes at least two bits
_FHCRC_AND_RESERVED = 0xE2

_LEAST = 1 << 10  # compressed bytes that are given for the first bytes of a member, however few are wanted

Inflate = Callable[[bytes], Content]


def _by_libdeflate(module: Any) -> Inflate:
    decompress, failed = module.gzip_decompress, module.DeflateError

    def inflate(member: bytes) -> Content:
        try:
            content: Content = decompress(member)
        except failed:
            return b""
        # libdeflate proves CRC and length at the true end of the member, wherever that is, and ignores what follows.
        # The length of the content stands at the true end: if these bytes end with it, and it stands nowhere earlier,
        # they end there. (An earlier one that is chance or a trick is for the zlib reader to judge.)
        return content if member.find(member[-4:], 14) == len(member) - 4 else b""

    return inflate


def _by_decompressobj(module: Any) -> Inflate:
    decompressobj, failed = module.decompressobj, module.error

    def inflate(member: bytes) -> Content:
        inflater = decompressobj(31)
        try:
            content: Content = inflater.decompress(member)
        except failed:
            return b""
        return content if inflater.eof and not inflater.unused_data else b""

    return inflate


_WHOLE: dict[str, tuple[str, Callable[[Any], Inflate]]] = {
    "deflate": ("deflate", _by_libdeflate),
    "isal": ("isal.isal_zlib", _by_decompressobj),
    "zlib-ng": ("zlib_ng.zlib_ng", _by_decompressobj),
    "zlib": ("zlib", _by_decompressobj),
}
_HEADS = ("zlib-ng", "zlib")


def _choose(names: tuple[str, ...]) -> tuple[str, Any]:
    wanted = os.environ.get("CRAWLMILL_DECODER")
    if wanted is not None and wanted not in _WHOLE:
        raise UsageError(f"CRAWLMILL_DECODER={wanted}: expected one of {', '.join(_WHOLE)}")
    for name in names if wanted not in names else (wanted, "zlib"):
        try:
            return name, importlib.import_module(_WHOLE[name][0])
        except ImportError:
            continue
    return "zlib", zlib


_name, _module = _choose(tuple(_WHOLE))
_inflate = _WHOLE[_name][1](_module)
_head_name, _head_module = _choose(_HEADS)


def decoders() -> dict[str, str]:
    """The names of the libraries in use: for whole members, and for the first bytes of members."""
    return {"whole": _name, "heads": _head_name}


def inflate_whole(member: bytes) -> Content | None:
    """The content of these bytes if they are exactly one whole gzip member of a sane size, else None.

    None says nothing about damage: an empty member, a header checksum or a large member are left to the zlib reader.
    """
    size = len(member)
    if size < 20 or member[3] & _FHCRC_AND_RESERVED:
        return None
    expected = int.from_bytes(member[-4:], "little")
    if not 0 < expected <= MAX_WHOLE or expected > size * _MAX_RATIO:
        return None
    content = _inflate(member)
    return content if len(content) == expected else None


def inflate_head(member: bytes, size: int) -> bytes:
    """The first bytes of a gzip member, at most `size`, of as many compressed bytes; none if these are damaged."""
    try:
        head: bytes = _head_module.decompressobj(31).decompress(member[: max(size, _LEAST)], size)
    except _head_module.error:  # that of zlib-ng is not that of zlib
        return b""
    return head
