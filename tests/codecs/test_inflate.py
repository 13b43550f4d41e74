"""Whichever library inflates: the same members are whole, the same heads are damaged."""

from __future__ import annotations

import zlib

import pytest
from tests.builders import gzip_member

from crawlmill.codecs import inflate

CONTENT = b"some content, some more content, " * 9
MEMBER = gzip_member(CONTENT)
LIBRARIES = list(inflate._WHOLE)


@pytest.fixture(params=LIBRARIES)
def whole(request, monkeypatch):
    module, make = inflate._WHOLE[request.param]
    monkeypatch.setattr(inflate, "_inflate", make(pytest.importorskip(module)))
    return inflate.inflate_whole


@pytest.mark.parametrize(
    "behind",
    [MEMBER[-4:], MEMBER[-8:], MEMBER[-1:], MEMBER, bytes(8), b"x" * 4 + MEMBER[-4:]],
    ids=[
        "its length again",
        "its trailer again",
        "its last byte again",
        "itself again",
        "zeros",
        "bytes and its length",
    ],
)
def test_member_with_anything_behind_it_is_not_whole(whole, behind):
    assert bytes(whole(MEMBER)) == CONTENT
    assert whole(MEMBER + behind) is None


@pytest.mark.parametrize("name", ["zlib-ng", "zlib"])
def test_damaged_head_is_none_in_the_words_of_every_library(monkeypatch, name):
    monkeypatch.setattr(inflate, "_head_module", pytest.importorskip(inflate._WHOLE[name][0]))
    assert inflate.inflate_head(MEMBER, 10) == CONTENT[:10]
    assert inflate.inflate_head(MEMBER, 5000) == CONTENT
    assert inflate.inflate_head(MEMBER[:-8] + bytes(8), 5000) == b""
    assert inflate.inflate_head(MEMBER[:10] + b"\x07" * 20, 10) == b""
    long = gzip_member(b"".join(zlib.crc32(bytes([n % 256, n // 256])).to_bytes(4, "big") for n in range(5000)))
    assert len(inflate.inflate_head(long, 3000)) > 2000
