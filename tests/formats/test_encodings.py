"""Labels of encodings, and the Japanese ones that are read by hand."""

from __future__ import annotations

import pytest
import webencodings
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.formats.payload.encodings import decode_text, encoding_of_label
from crawlmill.formats.payload.japanese import decode_euc_jp, decode_iso_2022_jp

# The standard replaces pages in these by one U+FFFD.
OURS = {
    "hz-gb-2312": "hz-gb-2312",
    "iso-2022-kr": "iso-2022-kr",
    "csiso2022kr": "iso-2022-kr",
    "iso-2022-cn": None,
    "iso-2022-cn-ext": None,
    "replacement": None,
}


def test_every_label_of_the_standard_means_what_webencodings_says():
    assert len(webencodings.LABELS) >= 228
    for label, name in webencodings.LABELS.items():
        assert encoding_of_label(label) == (name if name != "replacement" else OURS[label])
        for encoded in (label.upper(), f" \t{label}\n", label.encode()):
            assert encoding_of_label(encoded) == encoding_of_label(label)


@pytest.mark.parametrize(
    "label", ["", "none", "utf", "utf_8", "latin-1", "cp437", "rot13", "utf-7", "utf-32", "\xa0utf-8", "K", b"\xff"]
)
def test_label_outside_the_standard_is_unknown(label):
    assert encoding_of_label(label) is None


@pytest.mark.parametrize("name", sorted({encoding_of_label(label) for label in webencodings.LABELS} - {None}))
def test_every_encoding_decodes_ascii_and_takes_any_bytes(name):
    if not name.startswith("utf-16"):
        assert decode_text(b"<p class='x'>1 + 2</p>\r\n", name) == "<p class='x'>1 + 2</p>\r\n"
    decode_text(bytes(range(256)), name).encode("utf-8")


def test_byte_order_mark_stays_in_decoded_text():
    assert decode_text(b"\xef\xbb\xbfa", "utf-8") == "\ufeffa"
    assert decode_text(b"\xff\xfea\0", "utf-16le") == "\ufeffa"


def windows_character(row: int, cell: int) -> str:
    """What code page 932, in whose terms the standard's jis0208 index is written, has at a row and cell (from 0)."""
    lead = (row >> 1) + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    text = bytes((lead, trail)).decode("cp932", "replace")
    return text if len(text) == 1 else "\ufffd"


def test_every_pair_of_both_encodings_is_the_character_of_code_page_932():
    for row in range(94):
        cells = range(94)
        wanted = "".join(windows_character(row, cell) for cell in cells)
        assert decode_euc_jp(b"".join(bytes((row + 0xA1, cell + 0xA1)) for cell in cells)) == wanted
        assert decode_iso_2022_jp(b"\x1b$B" + b"".join(bytes((row + 0x21, cell + 0x21)) for cell in cells)) == wanted


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xc6\xfc\xcb\xdc<p>", "日本<p>"),
        (b"\xad\xa1\xfc\xe2\xa1\xc1", "①髙～"),
        (b"\x8e\xb1\x8e\xc3", "ｱﾃ"),
        (b"\x8f\xa2\xaf", "˘"),
        (b"\xa2\xaf\xc6\xfc", "\ufffd日"),
        (b"\x8f\xa2\xa1\xc6\xfc", "\ufffd日"),
        (b"\xc6<p>\xff\x80", "\ufffd<p>\ufffd\ufffd"),
        (b"\xc6", "\ufffd"),
    ],
)
def test_euc_jp_is_read_as_browsers_read_it(data, text):
    assert decode_euc_jp(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"<p>\x1b$B\x46\x7c\x4b\x5c\x1b(B</p>", "<p>日本</p>"),
        (b"\x1b$@\x46\x7c\x1b(J\\~<b>\x1b(B\\~", "日¥‾<b>\\~"),
        (b"\x1b(I1C\x1b(B<p>", "ｱﾃ<p>"),
        (b"\x1b(I\x60\xb1", "\ufffd\ufffd"),
        (b"\x1b$B\x2d\x21", "①"),
        (b"\x1b$B\x46\x7c\x4b\x1b(B<p>", "日\ufffd<p>"),
        (b"\x1b$B\x46\x7c\n<p>\x1b(B<b>", "日\ufffd\u816b\ufffd<b>"),
        (b"\x1b$B\x46\n\x46\x7c", "\ufffd日"),
        (b"\x1b$B\x46", "\ufffd"),
        (b"\xe9\x0e\x0f", "\ufffd\ufffd\ufffd"),
        (b"\x1b$B\x1b$\x1b$", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\x1b$A<p>", "\ufffd$A<p>"),
        (b"a\x1b", "a\ufffd"),
        (b"\x1b$B\x1b(B<p>", "<p>"),
        (b"", ""),
    ],
)
def test_iso_2022_jp_is_read_as_browsers_read_it(data, text):
    assert decode_iso_2022_jp(data) == text


JAPANESE = st.text(st.characters(codec="iso2022_jp", exclude_characters="\x0e\x0f\x1b¥‾〜‖−¢£¬"), max_size=50)


@given(JAPANESE)
def test_sound_text_equals_python(text):
    assert decode_iso_2022_jp(text.encode("iso2022_jp")) == text
    assert decode_euc_jp(text.encode("euc_jp")) == text


@given(
    st.lists(
        st.sampled_from(
            [
                b"\x1b(B",
                b"\x1b$B",
                b"\x1b(J",
                b"\x1b(I",
                b"\x1b$@",
                b"\x1b$",
                b"\x1b",
                b"\x46\x7c",
                b"<p>",
                b"\n",
                b"\xe9",
                b"~",
                b"\x7f",
            ]
        )
    ).map(b"".join)
)
def test_iso_2022_jp_equals_the_standard_byte_by_byte(data):
    assert decode_iso_2022_jp(data) == by_the_standard(data)


def by_the_standard(data: bytes) -> str:
    """Encoding Standard, ISO-2022-JP decoder, without its rule on escape sequences that follow each other."""
    out, at, mode = [], 0, b"(B"
    while at < len(data):
        byte = data[at]
        if byte == 0x1B:
            escape = data[at + 1 : at + 3]
            if escape in {b"(B", b"(J", b"(I", b"$@", b"$B"}:
                mode, at = escape, at + 3
                continue
            out.append("\ufffd")
        elif mode in {b"(B", b"(J"}:
            if mode == b"(J" and byte in {0x5C, 0x7E}:
                out.append("¥" if byte == 0x5C else "‾")
            else:
                out.append(chr(byte) if byte < 0x80 and byte not in {0x0E, 0x0F} else "\ufffd")
        elif mode == b"(I":
            out.append(chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else "\ufffd")
        elif not 0x21 <= byte <= 0x7E:
            out.append("\ufffd")
        else:
            trail = data[at + 1] if at + 1 < len(data) else None
            if trail is not None and 0x21 <= trail <= 0x7E:
                out.append(windows_character(byte - 0x21, trail - 0x21))
            else:
                out.append("\ufffd")
            if trail is not None and trail != 0x1B:
                at += 1
        at += 1
    return "".join(out)
