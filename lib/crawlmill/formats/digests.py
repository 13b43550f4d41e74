"""The digests in WARC records, of block and payload, and their verification: WARC 1.1 sections 5.8 and 5.9.

`WARC-Block-Digest` covers the block. `WARC-Payload-Digest` of an HTTP message covers its body; writers disagree whether
before or after transfer and content codings are removed, so a match with any of these forms is accepted. For other
records it covers the block. The payload digest of a revisit is that of the original record, and is not checked.

A digest is `algorithm:value`, the value in base32 or hexadecimal. Digests with unknown algorithms are not checked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from crawlmill.errors import FormatError
from crawlmill.formats.payload.codings import codings_of
from crawlmill.formats.record import HEAD_BYTES, Record
from crawlmill.formats.sequencefile.streamed_codings import MAX_RATIO, FormDigests
from crawlmill.formats.warc.record import WarcRecord

__all__ = ["check_digests", "parse_digest", "payload_start"]

_EMPTY_LINE = re.compile(rb"\n\r*\n")
_SIZES = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}


def parse_digest(text: str) -> tuple[str, bytes] | None:
    """Parse a digest into its algorithm (a name of hashlib) and value; None if the algorithm is unknown.

    Raises:
        FormatError: `bad-digest`: the value is not valid for that algorithm.
    """
    name, _, value = text.strip().partition(":")
    name = name.strip().lower().replace("-", "")
    size = _SIZES.get(name)
    if size is None:
        return None
    value = value.strip()
    for decode in (binascii.unhexlify, base64.b32decode):
        try:
            found = decode(value.upper() + "=" * (-len(value) % 8 if decode is base64.b32decode else 0))
        except (binascii.Error, ValueError):
            continue
        if len(found) == size:
            return name, found
    raise FormatError("no digest", reason="bad-digest", expected=f"{size} bytes in base32 or hexadecimal", actual=text)


def check_digests(record: Record) -> Iterator[FormatError]:
    """Yield the mismatches of a record's digests. Reads the block; the part held in memory stays readable.

    Raises:
        FormatError: The block is damaged or truncated.
    """
    if not isinstance(record, WarcRecord):
        return
    wanted: dict[str, tuple[str, bytes]] = {}
    for what in ("Block", "Payload"):
        text = record.get(f"WARC-{what}-Digest")
        if text is None or (what == "Payload" and record.type == "revisit"):
            continue
        try:
            digest = parse_digest(text)
        except FormatError as error:
            yield error
            continue
        if digest is not None:
            wanted[what] = digest
    if not wanted:
        return
    start = payload_start(record)
    hashers = {what: hashlib.new(name, usedforsecurity=False) for what, (name, _) in wanted.items()}
    block, payload = ([hashers[what]] if what in hashers else [] for what in ("Block", "Payload"))
    forms = _forms(record, wanted) if record.block.streamed else None
    _show(record, start, block, [*payload, forms] if forms else payload)
    for what, hasher in hashers.items():
        name, expected = wanted[what]
        actual = hasher.digest()
        if actual == expected:
            continue
        if what == "Payload":
            if forms is None and (forms := _forms(record, wanted)):
                _show(record, start, [], [forms])  # only now, since it is rarely needed, and the block is in memory
            if forms is not None and expected in forms.digests():
                continue
            if forms is not None and forms.too_large:
                yield FormatError(
                    "a payload too large to be checked",
                    reason="too-large",
                    expected=f"at most {MAX_RATIO} times what is stored",
                    actual="more",
                )
                continue
        yield FormatError(
            f"wrong {what.lower()} digest",
            reason="bad-digest",
            expected=f"{name}:{_base32(expected)}",
            actual=f"{name}:{_base32(actual)}",
        )


def payload_start(record: WarcRecord) -> int:
    """The offset of the payload in the block: after the header of an HTTP message."""
    if not (record.content_type or "").lower().startswith("application/http"):
        return 0
    if record.holds_http:
        with suppress(FormatError):
            return record.body_offset
    head = record.block.head(HEAD_BYTES)
    match = _EMPTY_LINE.search(head)
    return match.end() if match else len(head)


def _forms(record: WarcRecord, wanted: dict[str, tuple[str, bytes]]) -> FormDigests | None:
    """A digester of all forms of a payload with codings; None if it has no codings."""
    if "Payload" not in wanted or not record.holds_http:
        return None
    try:
        codings = codings_of(record.http)
    except FormatError:
        return None
    return FormDigests(codings, partial(hashlib.new, wanted["Payload"][0], usedforsecurity=False)) if codings else None


def _show(record: WarcRecord, start: int, block: list[Any], payload: list[Any]) -> None:
    """Pass the block to the hashers in `block`, and what follows `start` to those in `payload`."""
    at = 0
    for piece in record.block.pieces():
        for each in block:
            each.update(piece)
        behind = at + len(piece)
        if behind > start:
            rest = memoryview(piece)[max(start - at, 0) :]
            for each in payload:
                each.update(rest)
        at = behind


def _base32(value: bytes) -> str:
    return base64.b32encode(value).decode().rstrip("=")
