"""The index blocks of a prefix tree, and its header.

header        `<II`: bytes of a block, number of index blocks; block n begins at 8 + n · bytes
index block   `<I` pointer, then (prefix NUL `<I` pointer)*, NUL to its end; it may be full to its last byte
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["HEADER", "MAX_BLOCK", "MIN_BLOCK", "POINTER", "begins_tree", "pack_index_block", "parse_index_block"]

HEADER: Final = struct.Struct("<II")
POINTER: Final = struct.Struct("<I")

MIN_BLOCK: Final = 36
"""Bytes of the smallest block: a key of one byte and a value of 32 bytes need nearly as much."""

MAX_BLOCK: Final = 1 << 24
"""Bytes of the largest block: more is not read into memory, whatever a header says."""


def begins_tree(head: bytes) -> bool:
    """Whether a file with these first bytes may be a prefix tree: the root's first pointer is to the next block."""
    if len(head) < HEADER.size + POINTER.size:
        return False
    block_bytes, index_blocks = HEADER.unpack_from(head)
    (pointer,) = POINTER.unpack_from(head, HEADER.size)
    sound = pointer == 1 if index_blocks > 1 else pointer > 0  # pointers to data blocks may be wrong
    return bool(MIN_BLOCK <= block_bytes <= MAX_BLOCK and index_blocks and sound)


def parse_index_block(block: bytes) -> tuple[list[bytes], list[int]]:
    """Parse the prefixes of an index block and its pointers (one more), as far as they are within the block."""
    prefixes: list[bytes] = []
    at, end = POINTER.size, len(block)
    if end < at:
        return prefixes, []
    pointers: list[int] = [POINTER.unpack_from(block)[0]]
    while at < end and block[at]:
        stop = block.find(b"\0", at)
        if stop < 0 or stop + 1 + POINTER.size > end:
            break
        prefixes.append(block[at:stop])
        pointers.append(POINTER.unpack_from(block, stop + 1)[0])
        at = stop + 1 + POINTER.size
    return prefixes, pointers


def pack_index_block(prefixes: list[bytes], pointers: list[int]) -> bytes:
    """Pack prefixes and pointers into a block, without padding."""
    packed = [POINTER.pack(pointers[0])]
    for prefix, pointer in zip(prefixes, pointers[1:], strict=True):
        packed += prefix, b"\0", POINTER.pack(pointer)
    return b"".join(packed)
