"""Our records are those of warcio and FastWARC on undamaged files; each difference is named."""

from __future__ import annotations

import io

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from tests.data import shared
from tests.formats.archives import Read
from warcio.archiveiterator import ArchiveIterator

from crawlmill.formats.archive import read_archive

WARCS = [
    "archives/iana.warc.gz",
    "archives/example.warc.gz",
    "archives/example-iana.org-chunked.warc",
    "commoncrawl/whirlwind.warc.gz",
    "commoncrawl/whirlwind.warc.wat.gz",
    "commoncrawl/whirlwind.warc.wet.gz",
]


@pytest.mark.parametrize("name", WARCS)
def test_records_are_those_of_warcio(name):
    data = shared(name).read_bytes()
    read = Read(data)
    iterator = ArchiveIterator(io.BytesIO(data), no_record_parse=True)
    theirs = []
    for record in iterator:
        block = record.raw_stream.read()
        uri = record.rec_headers.get_header("WARC-Target-URI")
        theirs.append((record.rec_type, uri.strip("<>") if uri else None, block, iterator.get_record_offset()))
    assert read.problems == []
    ours = [
        (kind, uri, block, row[0]) for row, block in zip(read.rows, read.blocks, strict=True) for kind, uri in [row[3:]]
    ]
    assert ours == theirs


@pytest.mark.parametrize("name", WARCS)
def test_records_are_those_of_fastwarc(name):
    data = shared(name).read_bytes()
    theirs = [
        (record.headers.get("WARC-Type"), record.headers.get("WARC-Target-URI"), record.reader.read())
        for record in FastIterator(io.BytesIO(data), parse_http=False)
    ]
    read = Read(data)
    ours = [(kind, uri, block) for (*_, kind, uri), block in zip(read.rows, read.blocks, strict=True)]
    assert [row[2] for row in ours] == [row[2] for row in theirs]
    assert [row[0] for row in ours] == [row[0] for row in theirs]
    assert [row[1] for row in ours] == [row[1].strip("<>") if row[1] else None for row in theirs]


@pytest.mark.parametrize("name", WARCS)
def test_http_bodies_are_those_of_warcio(name):
    data = shared(name).read_bytes()
    theirs = {}
    iterator = ArchiveIterator(io.BytesIO(data))
    for record in iterator:
        if record.rec_type == "response" and record.http_headers is not None:
            body = record.content_stream().read()
            theirs[iterator.get_record_offset()] = body
    ours = {
        record.offset: record.body()
        for record in read_archive(io.BytesIO(data), on_problem=pytest.fail, on_format=lambda _: None)
        if record.type == "response" and record.holds_http
    }
    assert ours == theirs


@pytest.mark.parametrize("name", ["archives/example.arc.gz", "archives/example.arc"])
def test_arc_records_are_those_of_warcio(name):
    data = shared(name).read_bytes()
    iterator = ArchiveIterator(io.BytesIO(data), no_record_parse=True)
    theirs = [(record.rec_headers.get_header("uri"), record.raw_stream.read()) for record in iterator]
    read = Read(data)
    assert [uri for _, uri in read.uris] == [uri for uri, _ in theirs]
    # warcio cuts by the declared length, 75 for the description of a file that has 76 bytes of it.
    assert read.blocks[1:] == [block for _, block in theirs[1:]]
    assert read.blocks[0].startswith(theirs[0][1])
