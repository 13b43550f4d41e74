"""Chooses the library that inflates, and checks that its input is whole: gzip members, and zlib streams.

The fast libraries answer only one question: are these bytes exactly one whole member or stream, and what is its
content? If not, plain zlib (`codecs.gzip`, `codecs.hadoop`) reads the bytes again, and its error is the one reported;
so results and reasons never depend on what is installed.

The order for whole members is libdeflate (`deflate`), `isal`, `zlib-ng`, `zlib`; for streams, whose size is not known
in advance, the same without libdeflate; for the first bytes of members `zlib-ng`, `zlib` (ISA-L is slow to start).
`CRAWLMILL_DECODER` names the one to use, where possible, instead of the first one found.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import UsageError

__all__ = [
    "MAX_WHOLE",
    "Content",
    "decoders",
    "head_inflater",
    "inflate_head",
    "inflate_stream",
    "inflate_whole",
    "native_inflater",
]

Content = bytes | bytearray
"""What a member holds; libdeflate gives a bytearray, and copying it would cost a quarter of the inflating."""

MAX_WHOLE: Final = 16 << 20
"""Bytes that a member may inflate to and be held whole; a larger one is streamed."""

_MAX_RATIO: Final = 1032  # the highest ratio of deflate: a length code for 258 bytes takes at least two bits
_FHCRC_AND_RESERVED: Final = 0xE2  # flags of a gzip header that not every library checks as zlib does

_LEAST: Final = 1 << 10  # minimum input for the first bytes of a member, however few are wanted

_MODULES: Final = {"deflate": "deflate", "isal": "isal.isal_zlib", "zlib-ng": "zlib_ng.zlib_ng", "zlib": "zlib"}
_ORDER: Final = {
    "members": ("deflate", "isal", "zlib-ng", "zlib"),
    "streams": ("isal", "zlib-ng", "zlib"),
    "heads": ("zlib-ng", "zlib"),
}


@cache
def _library(use: str) -> tuple[str, Any]:
    """Name and module of the library for whole `members`, `streams` or `heads`."""
    wanted = os.environ.get("CRAWLMILL_DECODER") or None
    if wanted not in (None, *_MODULES):
        raise UsageError(f"CRAWLMILL_DECODER={wanted}: expected one of {', '.join(_MODULES)}")
    for name in (wanted, "zlib") if wanted in _ORDER[use] else _ORDER[use]:
        try:
            return name, importlib.import_module(_MODULES[name])
        except ImportError:
            continue
    return "zlib", zlib


def decoders() -> dict[str, str]:
    """The libraries in use: for whole `members`, for `streams`, and for `heads`, the first bytes of members.

    Raises:
        UsageError: `CRAWLMILL_DECODER` names a library that is not available.
    """
    return {use: _library(use)[0] for use in _ORDER}


def native_inflater() -> Any | None:
    """The native core, if whole members may be inflated by it: by libdeflate."""
    return core.native() if _library("members")[0] == "deflate" else None


def inflate_whole(member: bytes) -> Content | None:
    """The content of these bytes if they are exactly one whole gzip member of ordinary size, else None.

    None does not mean damage: an empty member, a header checksum or a large member are left to the zlib reader.
    """
    size = len(member)
    if size < 20 or member[3] & _FHCRC_AND_RESERVED:
        return None
    expected = int.from_bytes(member[-4:], "little")
    if not 0 < expected <= MAX_WHOLE or expected > size * _MAX_RATIO:
        return None
    if isinstance(member, bytes) and (native := native_inflater()) is not None:
        whole: bytes | None = native.inflate_whole(member)  # libdeflate as well, but to bytes
        return whole
    name, module = _library("members")
    content = _by_libdeflate(module, member) if name == "deflate" else _stream(module, member, 31, expected)
    return content if content is not None and len(content) == expected else None


def inflate_stream(data: bytes, wbits: int, limit: int) -> bytes | None:
    """The content of these bytes if they are exactly one stream with at most `limit` bytes of content, else None.

    `wbits` is the kind of stream, as in zlib: 15 for a zlib stream, 31 for a gzip member. None does not mean damage.
    """
    if wbits > zlib.MAX_WBITS and len(data) > 3 and data[3] & _FHCRC_AND_RESERVED:
        return None
    return _stream(_library("streams")[1], data, wbits, limit)


def inflate_head(member: bytes, size: int) -> bytes:
    """The first bytes of a gzip member, at most `size`, from as many compressed bytes; b"" if these are damaged."""
    return head_inflater(size)(member)


def head_inflater(size: int) -> Callable[[bytes], bytes]:
    """A function that does what `inflate_head` does for this size, for very many members."""
    module = _library("heads")[1]
    begin, error, enough = module.decompressobj, module.error, max(size, _LEAST)

    def inflate(member: bytes) -> bytes:
        try:
            head: bytes = begin(31).decompress(member[:enough], size)
        except error:  # zlib-ng's error is not a subclass of zlib's
            return b""
        return head

    return inflate


def _by_libdeflate(module: Any, member: bytes) -> Content | None:
    try:
        content: Content = module.gzip_decompress(member)
    except module.DeflateError:
        return None
    # libdeflate verifies CRC and length at the true end of the member, wherever that is, and ignores what follows.
    # The length of the content is stored at the true end: if these bytes end with it and it occurs nowhere earlier,
    # they end there. (An earlier occurrence, by chance or on purpose, is left to the zlib reader.)
    return content if member.find(member[-4:], 14) == len(member) - 4 else None


def _stream(module: Any, data: bytes, wbits: int, limit: int) -> bytes | None:
    inflater = module.decompressobj(wbits)
    try:
        content: bytes = inflater.decompress(data, limit + 1)
    except module.error:
        return None
    return content if inflater.eof and not inflater.unused_data and len(content) <= limit else None
