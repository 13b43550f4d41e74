"""Hosts of URLs, parsed by the URL standard.

    >>> host_in_url("B%C3%BCcher.Example.", special=True)
    'xn--bcher-kva.example.'
    >>> host_in_url("0x7f.1", special=True)
    '127.0.0.1'

International names are processed by UTS #46 (non-transitional), with the tables of the package `idna`.

Deviation: a non-ASCII name of more than 1,024 characters is not a host, since punycode takes quadratic time.

Spec: https://url.spec.whatwg.org/#host-parsing.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

__all__ = ["host_in_url"]

_FORBIDDEN_HOST: Final = re.compile(r"[\0\t\n\r #/:<>?@\[\\\]^|]")
_FORBIDDEN_DOMAIN: Final = re.compile(r"[\0-\x20#%/:<>?@\[\\\]^|\x7f]")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_CONTROLS: Final = re.compile(r"[\0-\x1f\x7f-\U0010ffff]+")

_MAX_INTERNATIONAL: Final = 1 << 10
_MAX_KEPT: Final = 1 << 8


def host_in_url(text: str, *, special: bool) -> str | None:
    """The host as serialized in a URL; None if it is not valid.

    Args:
        text: The host in a URL, including the brackets of an IPv6 address; not empty.
        special: Whether the URL's scheme is special (http, https, ws, wss, ftp, file).
    """
    # Not cached: hostile hosts may have megabytes.
    return _known_host(text, special) if len(text) <= _MAX_KEPT else _host(text, special)


def _host(text: str, special: bool) -> str | None:
    if text.startswith("["):
        return _ipv6(text[1:-1]) if text.endswith("]") else None
    if not special:
        return None if _FORBIDDEN_HOST.search(text) else _CONTROLS.sub(_escaped, text)
    if "%" in text:
        text = unquote_to_bytes(text).decode("utf-8", "replace")
    name = _ascii_name(text)
    if not name or _FORBIDDEN_DOMAIN.search(name):
        return None
    last = name.removesuffix(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _ipv4(name)
    return name


_known_host = lru_cache(maxsize=1 << 12)(_host)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _ascii_name(text: str) -> str | None:
    """The "domain to ASCII" algorithm of the standard, not strict."""
    if text.isascii():  # existing punycode is not checked
        return text.lower()
    if len(text) > _MAX_INTERNATIONAL:
        return None
    return _international(text)


def _international(text: str) -> str | None:
    import idna  # noqa: PLC0415 - its tables take 20 ms to load and are rarely needed

    try:
        mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
        labels = [_unicode_label(label) for label in mapped.split(".")]
        if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for label in labels for char in label):
            for label in filter(None, labels):
                idna.check_bidi(label, True)
        for label in labels:
            if not label.isascii():
                _check_label(label)
        return ".".join(label if label.isascii() else "xn--" + _punycode(label) for label in labels)
    except (UnicodeError, ValueError):
        return None


def _punycode(label: str) -> str:
    return label.encode("punycode").decode("ascii")


def _unicode_label(label: str) -> str:
    """The Unicode form of a mapped label. Raises: UnicodeError."""
    if not label.startswith("xn--"):
        return label
    if not label.isascii():
        raise UnicodeError("not punycode")
    decoded = label[4:].encode().decode("punycode")
    if decoded.isascii() or _punycode(decoded) != label[4:]:
        raise UnicodeError("not what punycode is for")
    return decoded


def _check_label(label: str) -> None:
    """Check a label by UTS #46, section 4.1, with CheckJoiners, without CheckHyphens. Raises: UnicodeError."""
    import idna  # noqa: PLC0415

    if (
        unicodedata.category(label[0]).startswith("M")
        or idna.uts46_remap(label, std3_rules=False, transitional=False) != label
    ):
        raise UnicodeError("not a valid label")
    for at, char in enumerate(label):
        if char in "\u200c\u200d" and not idna.valid_contextj(label, at):
            raise UnicodeError("a joiner that joins nothing")


def _ipv4(name: str) -> str | None:
    parts = name.removesuffix(".").split(".")
    if len(parts) > 4:
        return None
    numbers = [_number(part) for part in parts]
    if any(number is None for number in numbers):
        return None
    *first, last = (number or 0 for number in numbers)
    if any(number > 0xFF for number in first) or last >= 1 << 8 * (4 - len(first)):
        return None
    return ".".join(map(str, bytes(first) + last.to_bytes(4 - len(first), "big")))


def _number(part: str) -> int | None:
    """A number of an IPv4 address: decimal, octal after 0, hexadecimal after 0x; one out of range stays so."""
    base, digits = 10, part
    if part[:2] in ("0x", "0X"):
        base, digits = 16, part[2:]
    elif part.startswith("0") and len(part) > 1:
        base, digits = 8, part[1:]
    allowed = {8: r"[0-7]*", 10: r"[0-9]+", 16: r"[0-9A-Fa-f]*"}[base]
    if not re.fullmatch(allowed, digits):
        return None
    digits = digits.lstrip("0")
    return int(digits or "0", base) if len(digits) <= 12 else 1 << 64


def _ipv6(text: str) -> str | None:
    if "%" in text:
        return None
    try:
        packed = ipaddress.IPv6Address(text).packed
    except ValueError:
        return None
    pieces = [f"{packed[at] << 8 | packed[at + 1]:x}" for at in range(0, 16, 2)]
    start, length = 0, 1
    at = 0
    while at < 8:
        end = at
        while end < 8 and pieces[end] == "0":
            end += 1
        if end - at > length:
            start, length = at, end - at
        at = end + 1
    if length == 1:
        return f"[{':'.join(pieces)}]"
    return f"[{':'.join(pieces[:start])}::{':'.join(pieces[start + length :])}]"
