"""Measures the limit: inflates every gzip member of the files once, each in one call, and drops the contents.

    python inflate_loop.py libdeflate|isal|zlib FILE…       prints {"keys": members, "total": bytes}

The lengths of the members come from `FILE.members` (8 bytes each, little-endian), since an inflater cannot know them in
advance; a reader must find them.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path

Inflate = Callable[[bytes], bytes | bytearray]


def by_libdeflate() -> Inflate:
    import deflate

    inflate: Inflate = deflate.gzip_decompress
    return inflate


def by_isal() -> Inflate:
    from isal import isal_zlib

    return lambda member: isal_zlib.decompress(member, 31)


def by_zlib() -> Inflate:
    return lambda member: zlib.decompress(member, 31)


def inflate_all(inflate: Inflate, paths: list[str]) -> dict[str, int]:
    members = size = 0
    for path in paths:
        lengths = array("Q", Path(f"{path}.members").read_bytes())
        if sys.byteorder == "big":
            lengths.byteswap()
        with Path(path).open("rb") as stream:
            for length in lengths:
                members += 1
                size += len(inflate(stream.read(length)))
    return {"keys": members, "total": size}


INFLATERS = {"libdeflate": by_libdeflate, "isal": by_isal, "zlib": by_zlib}

if __name__ == "__main__":
    print(json.dumps(inflate_all(INFLATERS[sys.argv[1]](), sys.argv[2:])))
