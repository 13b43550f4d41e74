"""Which encoding a page has, its text, and its bytes for a tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data import shared
from warcio.archiveiterator import ArchiveIterator

from crawlmill.formats.payload.charset import encoding_of, text_of, tokenizable
from crawlmill.formats.payload.http import parse_response


def message(content_type: str | None = "text/html"):
    line = f"Content-Type: {content_type}\r\n" if content_type is not None else ""
    return parse_response(b"HTTP/1.1 200 OK\r\n" + line.encode() + b"\r\n")


def meta(label: str) -> bytes:
    return f"<html><head><meta charset='{label}'>".encode()


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ("text/html;charset=ISO-8859-1", "windows-1252"),
        ("text/html; Charset = gb2312 ; x=y", "gbk"),
        ('text/html; charset="shift_jis"', "shift_jis"),
        ("text/html; charset='euc-kr'", "euc-kr"),
        ("text/html; x=y;charset=big5", "big5"),
        ("text/html, text/html; charset=koi8-r", "koi8-r"),
        ("text/html charset=windows-1251", "windows-1251"),
        ("charset=iso-8859-2", "iso-8859-2"),
        ("text/html; charset=koi8-r; charset=utf-8", "koi8-r"),
        ("text/plain; charset=utf-16", "utf-16le"),
    ],
)
def test_charset_of_the_content_type_names_the_encoding(content_type, encoding):
    page = b"<meta charset=macintosh>"
    assert encoding_of(message(content_type), page) == encoding


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html; charset=",
        "text/html; charset=none",
        'text/html; charset=""',
        "text/html; xcharset=utf-8",
        "text/html; charset",
        "text/html; charſet=utf-8",
    ],
)
def test_charset_that_is_not_known_is_as_good_as_none(content_type):
    assert encoding_of(message(content_type), meta("macintosh")) == "macintosh"
    assert encoding_of(message(content_type), b"caf\xe9") == "windows-1252"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe\0\0", "utf-16le")],
)
def test_byte_order_mark_beats_everything(mark, encoding):
    assert encoding_of(message("text/html; charset=koi8-r"), mark + meta("macintosh")) == encoding


def test_page_that_says_nothing_is_utf8_if_valid_else_windows_1252():
    assert encoding_of(message(), b"plain") == "utf-8"
    assert encoding_of(message(), b"") == "utf-8"
    assert encoding_of(message(), "déjà 漢字".encode()) == "utf-8"
    assert encoding_of(message(), "déjà 漢字".encode()[:-1]) == "utf-8"
    assert encoding_of(message(), "déjà 漢字".encode()[:-1] + b"<p>") == "windows-1252"
    assert encoding_of(message(), b"d\xe9j\xe0") == "windows-1252"
    assert encoding_of(message(), b"caf\xe9") == "windows-1252"


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml", None, ""])
def test_pages_declare_their_encoding_in_markup(content_type):
    assert encoding_of(message(content_type), meta("koi8-r")) == "koi8-r"
    assert encoding_of(message(content_type), b"<?xml version='1.0' encoding='koi8-r'?><html>") == "koi8-r"


@pytest.mark.parametrize("content_type", ["application/xml", "text/xml", "application/rss+xml"])
def test_xml_declares_its_encoding_in_its_declaration_alone(content_type):
    assert encoding_of(message(content_type), meta("koi8-r")) == "utf-8"
    assert encoding_of(message(content_type), b"<?xml version='1.0' encoding='koi8-r'?><rss>") == "koi8-r"


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/css", "application/javascript"])
def test_other_types_declare_nothing(content_type):
    assert encoding_of(message(content_type), meta("koi8-r")) == "utf-8"


# Text


@pytest.mark.parametrize(
    ("content_type", "page", "text"),
    [
        ("text/html; charset=ISO-8859-1", b"d\xe9j\xe0 \x80 \x93vu\x94", "déjà € “vu”"),
        ("text/html; charset=us-ascii", b"d\xe9j\xe0", "déjà"),
        ("text/html; charset=gb2312", "汉字 镕 €".encode("gb18030"), "汉字 镕 €"),
        ("text/html; charset=Shift_JIS", b"\x87\x40\x81\x60\xfb\xfc", "①～髙"),
        ("text/html; charset=euc-kr", "똠방각하".encode("cp949"), "똠방각하"),
        ("text/html; charset=Big5", "漢字".encode("big5") + b"\xf9\xd6", "漢字碁"),
        ("text/html; charset=windows-1251", "Привет".encode("cp1251"), "Привет"),
        ("text/html; charset=tis-620", b"\xa1\x80", "ก€"),
        ("text/html; charset=utf-8", b"a\xffb\xe2\x82", "a\ufffdb\ufffd"),
        ("text/html; charset=utf-8", b"\xef\xbb\xbfa\xef\xbb\xbf", "a\ufeff"),
        ("text/html", b"\xff\xfea\0\xe9\0", "aé"),
        ("text/html", b"\xfe\xff\0a\xd8\x3d\xde\0\xd8\0", "a😀\ufffd"),
        ("text/html; charset=utf-16be", b"\0a\xff\xfe\0", "a\ufffe\ufffd"),
        ("text/html; charset=utf-16", b"a\0b\0", "ab"),
        ("text/html; charset=windows-1252", b"\x81", "\ufffd"),
        ("text/html; charset=hz-gb-2312", b"~{<:Ky2;~}", "己所不"),
        ("text/html; charset=iso-8859-8-i", b"\xf9\xec\xe5\xed", "שלום"),
    ],
)
def test_text_is_decoded_and_errors_replaced(content_type, page, text):
    assert text_of(message(content_type), page) == text


def test_text_of_a_page_that_declares_a_charset_is_decoded_by_it():
    text = "<meta charset='windows-1251'>Привет"
    assert text_of(message(), text.encode("cp1251")) == text


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            "",
            "; charset=utf-16",
            "; charset=iso-2022-jp",
            "; charset=euc-jp",
            "; charset=gbk",
            "; charset=hz-gb-2312",
            "; charset=iso-2022-kr",
            "; charset=big5",
            "; charset=windows-874",
        ]
    ),
)
def test_no_bytes_raise(page, charset):
    head = message("text/html" + charset)
    text_of(head, page).encode("utf-8")
    tokenizable(page, head)


# Bytes for a tokenizer


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_page_becomes_utf8(codec):
    text = "<html><p title='漢'>é😀</html>"
    mark = "\ufeff".encode(codec)
    assert tokenizable(mark + text.encode(codec), message()) == text.encode()
    assert (
        tokenizable(
            text.encode(codec), message(f"text/html; charset={codec.replace('-le', 'le').replace('-be', 'be')}")
        )
        == text.encode()
    )
    declared = f"<?xml version='1.0'?>{text}"
    assert tokenizable(declared.encode(codec), message()) == declared.encode()


def test_utf16_page_that_was_cut_or_broken_still_becomes_utf8():
    assert tokenizable(b"\xff\xfe<\0p\0>\0\0\xd8", message()) == "<p>\ufffd".encode()
    assert tokenizable(b"\xff\xfe<\0p\0>", message()) == "<p\ufffd".encode()


@pytest.mark.parametrize(
    "content_type", ["text/html; charset=iso-2022-jp", "text/html; charset=csISO2022JP", "text/html"]
)
def test_iso_2022_jp_page_becomes_utf8(content_type):
    text = "<meta http-equiv=Content-Type content='text/html; charset=ISO-2022-JP'><p>日本語 <b>テキスト</b>"
    page = text.encode("iso2022_jp")
    assert b"<b>" in page
    assert tokenizable(page, message(content_type)) == text.encode()


@pytest.mark.parametrize(
    "page",
    [
        b"<p>\xe9",
        "<p>漢".encode(),
        "<meta charset=shift_jis>ソ<p>".encode("cp932"),
        b"<meta charset=utf-16><p>",
        b"\xef\xbb\xbf<p>",
        b"<title>2022</title>\x1b$B<p>",
        b"",
        b"<!-- <meta charset=iso-2022-jp> -->\x1b$B<p>",
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=utf-8", "text/html; charset=gbk", None])
def test_all_other_pages_stay_the_same_object(page, content_type):
    assert tokenizable(page, message(content_type)) is page


def test_byte_order_mark_beats_a_utf16_header():
    page = b"\xef\xbb\xbf<p>"
    assert tokenizable(page, message("text/html; charset=utf-16")) is page


def test_real_page_is_read_as_its_header_says():
    with shared("commoncrawl/whirlwind.warc.gz").open("rb") as stream:
        records = ArchiveIterator(stream, no_record_parse=True)
        block = next(record.raw_stream.read() for record in records if record.rec_type == "response")
    head = parse_response(block)
    page = block[head.body_offset :]
    assert encoding_of(head, page) == "utf-8"
    assert text_of(head, page) == page.decode("utf-8")
