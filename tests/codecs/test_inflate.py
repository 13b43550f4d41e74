"""Whichever library inflates: the same members are whole, the same heads are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest
from tests.builders import gzip_member

from crawlmill.codecs import inflate

PROJECT = Path(__file__).resolve().parent.parent.parent
CONTENT = b"some content, some more content, " * 9
MEMBER = gzip_member(CONTENT)
LIBRARIES = ["deflate", "isal", "zlib-ng", "zlib"]


@pytest.fixture(params=LIBRARIES)
def whole(request, use):
    use(request.param)
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


def test_member_that_holds_more_than_it_declares_is_not_inflated_to_its_end(whole):
    bomb = gzip_member(bytes(64 << 20))
    tracemalloc.start()
    assert whole(bomb[:-4] + (1000).to_bytes(4, "little")) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize("name", ["isal", "zlib-ng", "zlib"])
@pytest.mark.parametrize(("wbits", "data"), [(31, MEMBER), (15, zlib.compress(CONTENT))])
def test_stream_is_whole_or_not(use, name, wbits, data):
    use(name)
    size = len(CONTENT)
    assert inflate.inflate_stream(data, wbits, size) == CONTENT
    for other, limit in [(data, size - 1), (data + b"x", size), (data + data, 2 * size), (data[:-1], size), (b"", 9)]:
        assert inflate.inflate_stream(other, wbits, limit) is None
    for at in range(2, len(data)):
        changed = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        assert inflate.inflate_stream(changed, wbits, size) in (None, CONTENT)


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("isal", {"members": "isal", "streams": "isal", "heads": "zlib-ng"}),
        ("deflate", {"members": "deflate", "streams": "isal", "heads": "zlib-ng"}),
        ("zlib-ng", {"members": "zlib-ng", "streams": "zlib-ng", "heads": "zlib-ng"}),
        ("zlib", {"members": "zlib", "streams": "zlib", "heads": "zlib"}),
        ("", {"members": "deflate", "streams": "isal", "heads": "zlib-ng"}),
    ],
)
def test_variable_names_the_library_where_it_can_be_used(use, monkeypatch, variable, expected):
    for name in LIBRARIES:
        use(name)
    monkeypatch.setenv("CRAWLMILL_DECODER", variable)
    assert inflate.decoders() == expected


def test_without_fast_libraries_zlib_does_everything(use, monkeypatch):
    monkeypatch.delenv("CRAWLMILL_DECODER", raising=False)
    for module in ("deflate", "isal", "isal.isal_zlib", "zlib_ng", "zlib_ng.zlib_ng"):
        monkeypatch.setitem(sys.modules, module, None)
    assert inflate.decoders() == {"members": "zlib", "streams": "zlib", "heads": "zlib"}


@pytest.mark.parametrize(
    "command", [["-m", "crawlmill", "--version"], ["jobs/tag_count.py", "input_lists/sample.paths"]]
)
def test_unknown_library_is_one_line_before_anything_is_read(command):
    ended = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "CRAWLMILL_DECODER": "gunzip"},
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert line.endswith(": CRAWLMILL_DECODER=gunzip: expected one of deflate, isal, zlib-ng, zlib")


@pytest.mark.parametrize("name", ["zlib-ng", "zlib"])
def test_damaged_head_is_none_in_the_words_of_every_library(use, name):
    use(name)
    assert inflate.inflate_head(MEMBER, 10) == CONTENT[:10]
    assert inflate.inflate_head(MEMBER, 5000) == CONTENT
    assert inflate.inflate_head(MEMBER[:-8] + bytes(8), 5000) == b""
    assert inflate.inflate_head(MEMBER[:10] + b"\x07" * 20, 10) == b""
    long = gzip_member(b"".join(zlib.crc32(bytes([n % 256, n // 256])).to_bytes(4, "big") for n in range(5000)))
    assert len(inflate.inflate_head(long, 3000)) > 2000
