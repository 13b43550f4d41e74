"""Lines of bytes that come in chunks."""

from __future__ import annotations

import pytest

from crawlmill.errors import FormatError
from crawlmill.inputs.text_lines import cut_lines


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a\nbc\n\nd", [b"a", b"bc", b"", b"d"]),
        (b"a\r\n\x0b\x0c\x85\xe2\x80\xa8\n", [b"a\r", b"\x0b\x0c\x85\xe2\x80\xa8"]),
    ],
)
def test_lines_end_at_line_feeds_wherever_chunks_end(text, lines, size):
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(cut_lines(chunks, longest=100)) == lines


def test_line_without_an_end_is_given_up_soon():
    taken = []

    def endless():
        yield b"one\n"
        while True:
            taken.append(1)
            yield bytes(10)

    lines = cut_lines(endless(), longest=100)
    assert next(lines) == b"one"
    with pytest.raises(FormatError) as caught:
        next(lines)
    assert (caught.value.reason, len(taken)) == ("too-large", 11)
