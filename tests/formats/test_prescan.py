"""The encoding that a page declares in itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.formats.payload.encodings import encoding_of_label
from crawlmill.formats.payload.prescan import PRESCAN_BYTES, html_declaration, xml_declaration

SPACE = b"\t\n\f\r "


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CHARSET=KOI8-R>", "koi8-r"),
        (b"<meta/charset='koi8-r'>", "koi8-r"),
        (b'<meta\ncharset = "koi8-r" />', "koi8-r"),
        (b"<html><head><title>x</title><meta name=a content=b><meta charset=koi8-r>", "koi8-r"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "koi8-r"),
        (b"<meta content='text/html;charset=koi8-r' http-equiv=\"CONTENT-TYPE\">", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset = \"koi8-r\"'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset charset=koi8-r;x'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html; charset=koi8-r extra'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset=utf-8' charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r charset=utf-8>", "koi8-r"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<meta name=x content='charset=utf-8'><meta charset=koi8-r>", "koi8-r"),
        (b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>", "koi8-r"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<!---><meta charset=koi8-r>", "koi8-r"),
        (b"<!doctype html><?php x ?></ ><meta charset=koi8-r>", "koi8-r"),
        (b"<p title='<meta charset=utf-8>'><meta charset=koi8-r>", "koi8-r"),
        (b"</p title='<meta charset=utf-8>'><meta charset=koi8-r>", "koi8-r"),
        (b"<a<b><meta charset=koi8-r>", "koi8-r"),
        (b"< <1 <meta charset=koi8-r>", "koi8-r"),
        (b"<p =x= ='y'><meta charset=koi8-r>", "koi8-r"),
        (b"<metal charset=utf-8><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=utf-16be>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=iso-2022-jp>", "iso-2022-jp"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"),
        (b"<?xml version='1.0' encoding = \"KOI8-R\" standalone='yes'?>", "koi8-r"),
        (b"<?xml encoding='utf-16'?>", "utf-8"),
        (b"<?xml version='1.0' encoding='utf-8'?><meta charset=koi8-r>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=", "koi8-r"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
        (b"\0<\0?\0x\0m\0l", "utf-16be"),
        (b"", None),
        (b"<meta charset=koi8-r", None),
        (b"<meta charset='koi8-r>", None),
        (b"<meta charset=koi8-r/>", None),
        (b"<meta charset>", None),
        (b"<meta charset=>", None),
        (b"<meta http-equiv=content-type content='charset=\"koi8-r'>", None),
        (b"<meta http-equiv=content-type content='charset'>", None),
        (b"<meta http-equiv=refresh content='charset=koi8-r'>", None),
        (b"<meta content='charset=koi8-r'>", None),
        (b"<meta http-equiv=content-type content='charset=koi8-r' charset=nonsense>", None),
        (b"<!-- <meta charset=koi8-r>", None),
        (b"<meta/ charset=nonsense>", None),
        (b" <?xml version='1.0' encoding='koi8-r'?>", None),
        (b"<?xml version='1.0' encoding='koi8-r'", None),
        (b"<?xml version='1.0' encoding='koi8-r?>", None),
        (b"<?xml version='1.0' encoding='koi8-r '?>", None),
        (b"<?xml version='1.0' encoding koi8-r?>", None),
    ],
)
def test_declaration_of_a_page(page, encoding):
    assert html_declaration(page) == encoding
    assert html_declaration(page + b" " * PRESCAN_BYTES) == encoding or not page.rstrip().endswith(b">")


def test_declaration_counts_within_the_first_bytes_alone():
    late = b"<meta charset=koi8-r>"
    assert html_declaration(b" " * (PRESCAN_BYTES - len(late)) + late) == "koi8-r"
    assert html_declaration(b" " * (PRESCAN_BYTES - len(late) + 1) + late) is None


def test_xml_document_declares_nothing_in_markup():
    assert xml_declaration(b"<meta charset=koi8-r>") is None
    assert xml_declaration(b"<?xml version='1.0' encoding='koi8-r'?>") == "koi8-r"
    assert xml_declaration(b"\0<\0?\0x\0m\0l") == "utf-16be"


@pytest.mark.parametrize(
    "piece",
    [
        b"<meta charset=x ",
        b"<a ",
        b"<!--",
        b"<!",
        b"charset",
        b"<meta content='charset=\"",
        b"<meta a='",
        b"<?xml ",
        b"\0<\0?",
    ],
)
def test_hostile_heads_end(piece):
    html_declaration(piece * (PRESCAN_BYTES // len(piece) + 1))


PIECES = [
    b"<meta ",
    b"<meta/",
    b"<META\n",
    b"<meta",
    b"<p ",
    b"</p",
    b"<!--",
    b"-->",
    b"<!",
    b"</",
    b"<?xml ",
    b">",
    b"<",
    b"/",
    b"=",
    b" ",
    b"'",
    b'"',
    b"charset",
    b"charset=koi8-r",
    b"charset='utf-16'",
    b"charset=nonsense ",
    b"http-equiv=content-type ",
    b"http-equiv=x ",
    b"content='text/html; charset=big5'",
    b"content=charset=koi8-u ",
    b"encoding='gbk'",
    b"encoding=",
    b"koi8-r",
    b"x",
    b"\0",
    b"\xe9",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join))
def test_declaration_equals_the_standard_step_by_step(page):
    assert html_declaration(page) == by_the_standard(page)


class Ended(Exception):  # noqa: N818
    """The bytes ran out."""


def by_the_standard(page: bytes) -> str | None:
    """HTML Standard section 13.2.3.2, byte by byte."""
    if page.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if page.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    try:
        return prescan(page)
    except Ended:
        return xml_encoding(page)


def byte(page: bytes, at: int) -> int:
    if at >= len(page):
        raise Ended
    return page[at]


def prescan(page: bytes) -> str | None:  # noqa: C901 - the standard's steps in its order
    at = 0
    while True:
        byte(page, at)
        rest = page[at:].lower()
        if rest.startswith(b"<!--"):
            at += 2
            while page[at : at + 3] != b"-->":
                byte(page, at)
                at += 1
            at += 2
        elif rest.startswith(b"<meta") and len(rest) > 5 and rest[5] in SPACE + b"/":
            at += 5
            seen: set[bytes] = set()
            got_pragma, need_pragma, charset = False, None, "null"
            while True:
                attribute, at = get_attribute(page, at)
                if attribute is None:
                    break
                name, value = attribute
                if name in seen:
                    continue
                seen.add(name)
                if name == b"http-equiv" and value == b"content-type":
                    got_pragma = True
                elif name == b"content" and charset == "null":
                    found = from_content(value)
                    if found is not None:
                        charset, need_pragma = found, True
                elif name == b"charset":
                    charset, need_pragma = encoding_of_label(value), False
            if need_pragma is not None and (got_pragma or not need_pragma) and charset is not None:
                return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(
                    charset, charset
                )
        elif rest[:1] == b"<" and (rest[1:2].isalpha() or (rest[1:2] == b"/" and rest[2:3].isalpha())):
            while byte(page, at) not in SPACE + b">":
                at += 1
            attribute = b""
            while attribute is not None:
                attribute, at = get_attribute(page, at)
        elif rest[:2] in {b"<!", b"</", b"<?"}:
            while byte(page, at) != 0x3E:
                at += 1
        at += 1


def get_attribute(page: bytes, at: int):
    while byte(page, at) in SPACE + b"/":
        at += 1
    if byte(page, at) == 0x3E:
        return None, at
    name, value = b"", b""
    while True:
        now = byte(page, at)
        if now == 0x3D and name:
            at += 1
            break
        if now in SPACE:
            while byte(page, at) in SPACE:
                at += 1
            if byte(page, at) != 0x3D:
                return (name, b""), at
            at += 1
            break
        if now in b"/>":
            return (name, b""), at
        name += bytes([now]).lower()
        at += 1
    while byte(page, at) in SPACE:
        at += 1
    quote = byte(page, at)
    if quote in b"\"'":
        at += 1
        while byte(page, at) != quote:
            value += page[at : at + 1].lower()
            at += 1
        return (name, value), at + 1
    if quote == 0x3E:
        return (name, b""), at
    while byte(page, at) not in SPACE + b">":
        value += page[at : at + 1].lower()
        at += 1
    return (name, value), at


def from_content(value: bytes) -> str | None:
    at = 0
    while True:
        at = value.find(b"charset", at)
        if at < 0:
            return None
        at += 7
        while value[at : at + 1] and value[at] in SPACE:
            at += 1
        if value[at : at + 1] == b"=":
            break
    at += 1
    while value[at : at + 1] and value[at] in SPACE:
        at += 1
    quote = value[at : at + 1]
    if quote and quote in b"\"'":
        end = value.find(quote, at + 1)
        return encoding_of_label(value[at + 1 : end]) if end >= 0 else None
    end = at
    while value[end : end + 1] and value[end] not in SPACE + b";":
        end += 1
    return encoding_of_label(value[at:end])


def xml_encoding(page: bytes) -> str | None:
    end = page.find(b">")
    if not page.startswith(b"<?xml") or end < 0:
        return None
    at = page.find(b"encoding", 0, end)
    if at < 0:
        return None
    rest = page[at + 8 : end].lstrip(bytes(range(33)))
    if rest[:1] != b"=":
        return None
    rest = rest[1:].lstrip(bytes(range(33)))
    if rest[:1] not in {b"'", b'"'} or rest[:1] not in rest[1:]:
        return None
    label = rest[1:].partition(rest[:1])[0]
    if any(code <= 0x20 for code in label):
        return None
    found = encoding_of_label(label)
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(found, found)
