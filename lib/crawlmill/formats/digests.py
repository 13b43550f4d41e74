"""The digests that WARC records hold of their block and payload, and whether they are true: WARC 1.1 sections 5.8, 5.9.

`WARC-Block-Digest` is over the block. `WARC-Payload-Digest` of an HTTP message is over its body; writers disagree
whether before or after its transfer and content codings are removed, so any of its forms will do. Elsewhere it is over
the block. The digest of a revisit's payload is that of the original, and is not checked.

A digest is `algorithm:value`, the value in base32 or hexadecimal. An algorithm that is not known here is not checked.
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

__all__ = ["check_digests", "parse_digest"]

_EMPTY_LINE = re.compile(rb"\n\r*\n")
_SIZES = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}


def parse_digest(text: str) -> tuple[str, bytes] | None:
    """Algorithm (a name of hashlib) and value of a digest; None if the algorithm is not known.

    Raises:
        FormatError: `bad-digest`: the value is none of that algorithm.
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
    """What is wrong with the digests of a record, whose block is read for it: what of it is held stays readable.

    Raises:
        FormatError: The block is damaged or cut.
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
    start = _payload_start(record)
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
                _show(record, start, [], [forms])  # of a block that is held, only now that it is needed
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


def _payload_start(record: WarcRecord) -> int:
    """Where the payload begins in the block: after the header of an HTTP message."""
    if not (record.content_type or "").lower().startswith("application/http"):
        return 0
    if record.holds_http:
        with suppress(FormatError):
            return record.body_offset
    head = record.block.head(HEAD_BYTES)
    match = _EMPTY_LINE.search(head)
    return match.end() if match else len(head)


def _forms(record: WarcRecord, wanted: dict[str, tuple[str, bytes]]) -> FormDigests | None:
    """What digests the forms of a payload that has codings; None if it has none."""
    if "Payload" not in wanted or not record.holds_http:
        return None
    try:
        codings = codings_of(record.http)
    except FormatError:
        return None
    return FormDigests(codings, partial(hashlib.new, wanted["Payload"][0], usedforsecurity=False)) if codings else None


def _show(record: WarcRecord, start: int, block: list[Any], payload: list[Any]) -> None:
    """Show the block to some, and what is after `start` to others."""
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
