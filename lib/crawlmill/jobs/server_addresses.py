"""Count the IP addresses that hosts were fetched from."""

from __future__ import annotations

from collections.abc import Iterator

from crawlmill.analysis.links.addresses import address_of, wat_address
from crawlmill.formats.arc import ArcRecord
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.mr import Columns, CountJob, Record

__all__ = ["ServerAddresses"]


class ServerAddresses(CountJob):
    """Count the IP addresses that hosts were fetched from.

    Reads WARC, ARC and WAT. Counts HTTP responses by host and address. The host is that of the URL, without its port,
    in punycode, and null if the URL has none; the address is as it is recorded, and null if it was not noted. The same
    pages give the same counts from WARC and WAT.

    A result line is a host with an address, and the number of responses: ["example.com","93.184.216.34"]<TAB>12
    """

    columns = Columns({"host": "string", "address": "string"}, {"count": "int64"})
    formats = ("warc", "arc", "wat")
    types = ("response", "metadata")
    heads_suffice = True

    def process(self, record: Record) -> Iterator[tuple[tuple[str | None, str | None], int]]:
        """Count a response under its host and address."""
        if record.type == "response":
            found = address_of(record.uri, _ip_of(record)) if record.holds_http else None
        else:  # WAT; the metadata records of a WARC file are not JSON
            found = wat_address(record.body(), record.uri) if record.content_type == "application/json" else None
        if found is not None:
            yield found, 1


def _ip_of(record: Record) -> str | None:
    if isinstance(record, ArcRecord):
        return record.line.ip
    return record.get("WARC-IP-Address") if isinstance(record, WarcRecord) else None


if __name__ == "__main__":
    ServerAddresses.run()
