"""Responses and the crawler's metadata about them are brought together, wherever the two stand."""

from __future__ import annotations

import io
import json

import pytest
from tests.builders import metadata, pack, record, response

from crawlmill.formats.archive import read_archive
from crawlmill.formats.exchange import Detected, Exchanges, detected

URI = "http://example.org/"


def languages(*codes):
    return json.dumps({"reliable": True, "languages": [{"code": code[:2], "code-iso-639-3": code} for code in codes]})


def described(charset="UTF-8", codes=("eng",), uri=URI, **fields):
    block = f"fetchTimeMs: 9\r\ncharset-detected: {charset}\r\nlanguages-cld2: {languages(*codes)}\r\n\r\n"
    named = tuple((name.replace("_", "-"), value) for name, value in fields.items())
    return record("metadata", block.encode(), uri, "application/warc-fields", fields=named)


def identity(made):
    return made.split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0].decode()


def joined(records, depth=32):
    """(URI of the response, what was detected) of each, in the order given."""
    exchanges = Exchanges(depth)
    found = []
    for each in read_archive(io.BytesIO(pack(records)), on_problem=pytest.fail, on_format=lambda _: None):
        if each.type == "metadata":
            exchanges.describe(each)
        else:
            exchanges.add(each, each.uri)
        found += exchanges.take()
    return [*found, *exchanges.rest()]


def test_metadata_that_names_the_response_describes_it():
    one, two = response(URI + "1"), response(URI + "2")
    for name in ("WARC_Refers_To", "WARC_Concurrent_To"):
        found = joined([one, two, described(uri=None, **{name: identity(one)})])
        assert found == [(URI + "1", Detected("UTF-8", ("eng",))), (URI + "2", None)]


def test_metadata_may_name_the_request_of_both():
    page = response(URI).replace(
        b"\r\nContent-Length", b"\r\nWARC-Concurrent-To: <urn:test:request>\r\nContent-Length", 1
    )
    assert joined([page, described(WARC_Concurrent_To="<urn:test:request>")]) == [(URI, Detected("UTF-8", ("eng",)))]


def test_metadata_before_its_response_describes_it_if_it_names_it():
    page = response(URI)
    assert joined([described(WARC_Refers_To=identity(page)), page]) == [(URI, Detected("UTF-8", ("eng",)))]


def test_metadata_that_names_nothing_describes_the_last_response_of_its_url():
    found = joined(
        [response(URI), response(URI, b"again"), response(URI + "x"), described(charset="A"), described(charset="B")]
    )
    assert found == [(URI, Detected("B", ("eng",))), (URI, Detected("A", ("eng",))), (URI + "x", None)]


def test_metadata_that_names_another_record_describes_no_other():
    assert joined([response(URI), described(WARC_Refers_To="<urn:test:elsewhere>")]) == [(URI, None)]
    assert joined([response(URI), described(uri=URI + "other")]) == [(URI, None)]


def test_no_more_than_so_many_are_held_back():
    pages = [response(f"{URI}{n}") for n in range(10)]
    exchanges = Exchanges(4)
    most = 0
    for each in read_archive(io.BytesIO(pack(pages)), on_problem=pytest.fail, on_format=lambda _: None):
        exchanges.add(each, each.uri)
        list(exchanges.take())
        most = max(most, len(exchanges._waiting))
    assert most == 4
    late = described(uri=None, WARC_Refers_To=identity(pages[0]))
    assert joined([*pages, late], depth=4)[0] == (URI + "0", None)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"charset-detected: UTF-8\r\n", Detected("UTF-8", ())),
        (b"charset-detected: \r\n", None),
        (b"fetchTimeMs: 3\r\n", None),
        (b'languages-cld2: {"reliable":false,"text-bytes":0}\r\n', None),
        (b"languages-cld2: [1]\r\n", None),
        (b"languages-cld2: {\r\n", None),
        (b'languages-cld2: {"languages":[{"code":"de"}]}\r\n', None),
        (b"languages-cld2: " + b'{"languages":' + b"[" * 100_000 + b"\r\n", None),
        (f"languages-cld2: {languages('deu', 'eng', 'fra', 'ita')}".encode(), Detected(None, ("deu", "eng", "fra"))),
        (f"languages-cld2: {languages('', 'eng', '', 'ita')}".encode(), Detected(None, ("eng",))),
        (f"languages-cld2: {languages('')}".encode(), None),
    ],
    ids=range(11),
)
def test_what_the_crawler_says(block, expected):
    data = pack([record("metadata", block, URI, "application/warc-fields")])
    [found] = read_archive(io.BytesIO(data), on_problem=pytest.fail, on_format=lambda _: None)
    assert detected(found) == expected


def test_other_metadata_says_nothing():
    data = pack([record("metadata", b'{"charset-detected": "x"}', URI, "application/json"), metadata(URI)])
    found = read_archive(io.BytesIO(data), on_problem=pytest.fail, on_format=lambda _: None)
    assert [detected(each) for each in found] == [None, None]
