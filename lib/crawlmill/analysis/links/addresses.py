"""Hosts and the IP addresses that they were fetched from: in responses, and in WAT records about them."""

from __future__ import annotations

from crawlmill.analysis.links.hosts import host_of_url
from crawlmill.analysis.wat_json import described, envelope_of, is_key_of_object, member, object_of, object_text
from crawlmill.errors import FormatError

__all__ = ["address_of", "wat_address"]

_RESPONSE = b'"HTTP-Response-Metadata":{'


def address_of(url: str | None, ip: str | None) -> tuple[str | None, str | None]:
    """Host and address; a host that the URL lacks is None, and so is an address that was not recorded."""
    address = (ip or "").strip()
    return (host_of_url(url) if url else None), (None if address in ("", "-") else address)


def wat_address(envelope: bytes, url: str | None) -> tuple[str | None, str | None] | None:
    """Host and address of the HTTP response that a WAT record describes; None for other WAT records.

    Args:
        envelope: The block of the record.
        url: The URL of the WAT record itself, in case it does not name the response's.

    Raises:
        FormatError: `bad-json`: the record is not a JSON object.
    """
    text = object_text(envelope)
    at = text.find(_RESPONSE[:-2])
    try:
        header = object_of(text, text.rfind, b'"WARC-Header-Metadata":{', 0)
        if header is None or (at >= 0 and not is_key_of_object(text, at, _RESPONSE)):
            whole = envelope_of(text)
            header = described(whole)
            at = 0 if "HTTP-Response-Metadata" in member(whole, "Payload-Metadata") else -1
    except ValueError as error:
        raise FormatError(f"WAT record: {error}", reason="bad-json") from error
    if at < 0 or header.get("WARC-Type", "response") != "response":
        return None
    target, ip = (header.get(f"WARC-{name}", header.get(name)) for name in ("Target-URI", "IP-Address"))
    return address_of(target if isinstance(target, str) else url, ip if isinstance(ip, str) else None)
