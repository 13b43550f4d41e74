"""Transfer codings, decoded from any pieces; cut and damaged at every place."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest

from crawlmill.storage.http.transfer_codings import transfer_decoder
from crawlmill.storage.retry import Failure

DATA = bytes(range(256)) * 3
CHUNKED = b"5;x=y\r\nabcde\r\n0A\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"


def source(wire: bytes, piece: int = 1 << 20) -> Callable[[int], bytes]:
    left = bytearray(wire)

    def read(n: int) -> bytes:
        found = bytes(left[: min(n, piece)])
        del left[: len(found)]
        return found

    return read


def decoded(coding: str, wire: bytes, piece: int = 1 << 20, n: int = 1000) -> bytes:
    read = transfer_decoder(coding, source(wire, piece))
    assert read is not None
    return b"".join(iter(lambda: read(n), b""))


def chunks(data: bytes, size: int = 100) -> bytes:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("coding", ["", "chunked", "Chunked", "identity"])
def test_codings_of_http_client_are_left_to_it(coding: str) -> None:
    assert transfer_decoder(coding, source(b"")) is None


@pytest.mark.parametrize("coding", ["br", "gzip, br, chunked", "chunked, gzip", "gzip, gzip"])
def test_unknown_coding_is_refused(coding: str) -> None:
    with pytest.raises(Failure, match="not supported") as caught:
        transfer_decoder(coding, source(b""))
    assert not caught.value.transient


@pytest.mark.parametrize("piece", [1, 2, 7, 4096])
@pytest.mark.parametrize("n", [1, 13, 100_000])
@pytest.mark.parametrize(
    ("coding", "wire"),
    [
        ("gzip, chunked", chunks(gzip.compress(DATA))),
        ("x-gzip,chunked", chunks(gzip.compress(DATA), 1)),
        ("deflate, chunked", chunks(zlib.compress(DATA))),
        ("identity, chunked", chunks(DATA)),
        ("gzip", gzip.compress(DATA)),
    ],
)
def test_compressed_body_is_decoded_from_any_pieces(coding: str, wire: bytes, piece: int, n: int) -> None:
    assert decoded(coding, wire, piece, n) == DATA


def test_end_of_body_can_be_read_again() -> None:
    read = transfer_decoder("gzip, chunked", source(chunks(gzip.compress(b""))))
    assert read is not None
    assert [read(5), read(5)] == [b"", b""]


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip"])
def test_cut_anywhere_is_a_broken_connection(coding: str) -> None:
    wire = chunks(gzip.compress(DATA)) if "chunked" in coding else gzip.compress(DATA)
    for cut in range(len(wire)):
        with pytest.raises(Failure) as caught:
            decoded(coding, wire[:cut])
        assert caught.value.transient


@pytest.mark.parametrize(
    "wire",
    [
        b"zz\r\n",
        b"-1\r\n",
        b"5\r\nabcdefgh\r\n0\r\n\r\n",
        b"\r\n",
        chunks(gzip.compress(DATA) + b"junk"),
        chunks(gzip.compress(DATA)[:-8] + bytes(8)),
        b"1" * 5000,
        b"0\r\n" + b"x: y\r\n" * 200,
    ],
)
def test_damaged_body_fails(wire: bytes) -> None:
    with pytest.raises(Failure):
        decoded("gzip, chunked", wire)


def test_bomb_is_inflated_no_further_than_asked() -> None:
    read = transfer_decoder("gzip", source(gzip.compress(bytes(100_000_000), 9)))
    assert read is not None
    assert len(read(1000)) <= 1000
