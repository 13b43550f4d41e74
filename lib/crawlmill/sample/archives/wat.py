"""The WAT records of a WARC file: the metadata of its records, one JSON envelope for each.

Written as by Common Crawl's extractor (ia-web-commons): all numbers are strings, header values are lists if a name
repeats, offset and gzip figures are those of the WARC file (`Deflate-Length` is that of the whole member). Oddities of
the extractor that are reproduced:

- `Inflated-CRC` is a signed 32-bit number;
- the `Headers-Length` of a request excludes the blank line, that of a response includes it;
- a warcinfo record is reported to have corrupt headers.

Links lists anchors, images, forms, areas and frames; scripts are listed only if they are in the head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from email.utils import formatdate

from crawlmill.sample.archives.warc import PageRecords, derived_info, describe_time, request_fields
from crawlmill.sample.org_json import dumps, join_object
from crawlmill.sample.pages import Page
from crawlmill.sample.records import Fields, Member, Record, digest, record_id

__all__ = ["page_envelopes", "wat_info", "wat_of_warcinfo"]

Placed = tuple[Record, Member]


def wat_info(seed: int, filename: str, extracted: int) -> Record:
    """The first record of a WAT file; `extracted` is in seconds since 1970."""
    block = (
        "Software-Info: Crawlmill\r\n"
        f"Extracted-Date: {formatdate(extracted, usegmt=True)}\r\n"
        "ip: 192.0.2.1\r\n"
        "hostname: sample.example\r\n"
        "format: WARC File Format 1.0\r\n"
        "conformsTo: http://bibnum.bnf.fr/WARC/WARC_ISO_28500_version1_latestdraft.pdf\r\n\r\n"
    ).encode()
    return derived_info(seed, filename, extracted, block)


def wat_of_warcinfo(seed: int, placed: Placed, extracted: int) -> Record:
    """The envelope of the WARC file's first record."""
    record, _ = placed
    filename = record["WARC-Filename"]
    fields = (line.split(": ", 1) for line in record.block.decode().splitlines())
    payload = (
        ("Actual-Content-Type", dumps("application/warc-fields")),
        ("WARC-Info-Metadata", dumps(dict(fields))),
        ("Actual-Content-Length", dumps(record["Content-Length"])),
        ("Trailing-Slop-Length", '"0"'),
        ("Block-Digest", dumps(record["WARC-Block-Digest"])),
        ("Headers-Corrupt", "true"),
    )
    own_id = record_id(seed, filename, "wat")
    return _envelope(placed, filename, filename, own_id, extracted, payload)


def page_envelopes(
    page: Page, records: PageRecords, members: Iterable[Member], filename: str, extracted: int
) -> Iterator[Record]:
    """The envelopes of a page's three records, which are in these members of the WARC file with this name."""
    all_records = (records.request, records.response, records.metadata)
    payloads = (_of_request(page, records), _of_response(page, records), _of_metadata(records))
    for record, member, payload in zip(all_records, members, payloads, strict=True):
        own_id = record_id(page.seed, page.number, record["WARC-Type"], "wat")
        yield _envelope((record, member), page.address.url, filename, own_id, extracted, payload)


def _of_request(page: Page, records: PageRecords) -> Fields:
    message = (("Method", '"GET"'), ("Path", dumps(page.address.target)), ("Version", '"HTTP/1.1"'))
    return _of_http(
        "Request",
        records.request,
        (
            ("Request-Message", join_object(message)),
            ("Headers-Length", dumps(str(len(records.request.block) - 2))),
            ("Headers", _headers(request_fields(page))),
        ),
        0,
    )


def _of_response(page: Page, records: PageRecords) -> Fields:
    status, _, reason = page.status.partition(" ")
    message = (("Status", dumps(status)), ("Version", '"HTTP/1.1"'), ("Reason", dumps(reason)))
    members = [
        ("Response-Message", join_object(message)),
        ("Headers-Length", dumps(str(records.response_head))),
        ("Headers", _headers(page.fields)),
    ]
    if page.document is not None:
        links = ",".join([fragment.wat_links for fragment in page.document.fragments if fragment.wat_links])
        html = [("Head", page.document.head.wat)]
        members.append(("HTML-Metadata", join_object([*html, ("Links", f"[{links}]")] if links else html)))
    return _of_http("Response", records.response, members, len(page.body))


def _of_http(side: str, record: Record, members: Iterable[tuple[str, str]], entity_length: int) -> Fields:
    return (
        ("Actual-Content-Type", dumps(record["Content-Type"])),
        (
            f"HTTP-{side}-Metadata",
            join_object(
                (
                    *members,
                    ("Entity-Length", dumps(str(entity_length))),
                    ("Entity-Digest", dumps(record["WARC-Payload-Digest"])),
                    ("Entity-Trailing-Slop-Length", '"0"'),
                )
            ),
        ),
        ("Actual-Content-Length", dumps(record["Content-Length"])),
        ("Trailing-Slop-Length", '"4"'),
        ("Block-Digest", dumps(record["WARC-Block-Digest"])),
    )


def _of_metadata(records: PageRecords) -> Fields:
    record = records.metadata
    pairs = (line.split(": ", 1) for line in record.block.decode().split("\r\n") if line)
    return (
        ("Actual-Content-Type", dumps("application/metadata-fields")),
        (
            "WARC-Metadata-Metadata",
            dumps({"Metadata-Records": [{"Name": name, "Value": value} for name, value in pairs]}),
        ),
        ("Actual-Content-Length", dumps(record["Content-Length"])),
        ("Trailing-Slop-Length", '"0"'),
        ("Block-Digest", dumps(record["WARC-Block-Digest"])),
    )


def _headers(fields: Fields) -> str:
    values: dict[str, str | list[str]] = {}
    for name, value in fields:
        value = value.strip()
        earlier = values.get(name)
        if earlier is None:
            values[name] = value
        elif isinstance(earlier, list):
            earlier.append(value)
        else:
            values[name] = [earlier, value]
    return dumps(values)


def _envelope(placed: Placed, uri: str, filename: str, own_id: str, extracted: int, payload: Fields) -> Record:
    record, member = placed
    signed_crc = member.crc - (member.crc >> 31 << 32)
    container = {
        "Filename": filename,
        "Compressed": True,
        "Offset": str(member.offset),
        "Gzip-Metadata": {
            "Deflate-Length": str(member.length),
            "Header-Length": "10",
            "Footer-Length": "8",
            "Inflated-CRC": str(signed_crc),
            "Inflated-Length": str(member.inflated_length),
        },
    }
    envelope = (
        ("Payload-Metadata", join_object(payload)),
        ("Format", '"WARC/1.0"'),
        ("WARC-Header-Length", dumps(str(len(record.header())))),
        ("WARC-Header-Metadata", dumps(dict(record.fields))),
    )
    block = join_object((("Container", dumps(container)), ("Envelope", join_object(envelope)))).encode()
    block_digest = digest(block)
    return Record(
        (
            ("WARC-Type", "metadata"),
            ("WARC-Target-URI", uri),
            ("WARC-Date", describe_time(extracted)),
            ("WARC-Record-ID", own_id),
            ("WARC-Refers-To", record["WARC-Record-ID"]),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(block))),
            ("WARC-Payload-Digest", block_digest),
            ("WARC-Block-Digest", block_digest),
        ),
        block,
    )
