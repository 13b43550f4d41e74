"""The typed view of metadata records of 2012: what is stored, what it is called, what is made alike."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib

import pytest
from tests.data import shared
from tests.formats import metadata_values
from tests.formats.metadata_values import ATOM, FAILURE, MISSING, PAGE, RSS

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.content import Author, Document, Feed, Link
from crawlmill.formats.crawl2012.metadata import CHARSET_SOURCES, ArchivePointer, parse_metadata
from crawlmill.formats.sequencefile.reader import read_sequencefile


def stored(**fields):
    return parse_metadata(json.dumps({"attempt_time": 1, "disposition": "SUCCESS", **fields}).encode())


def test_page_has_all_attributes():
    record = parse_metadata(PAGE)
    attributes = (
        "attempt_time_ms disposition failure_reason failure_detail server_ip http_status downloaded_bytes mime_type body_bytes "
        "gunzipped_bytes md5 charset charset_detector text_simhash parsed_as succeeded is_truncated is_gzip gunzip_failed "
        "status_line http_headers unknown"
    )
    assert {name: getattr(record, name) for name in attributes.split()} == {
        "attempt_time_ms": 1341708194671,
        "disposition": "SUCCESS",
        "failure_reason": None,
        "failure_detail": None,
        "server_ip": "192.0.2.8",
        "http_status": 200,
        "downloaded_bytes": 4100,
        "mime_type": "text/html",
        "body_bytes": 4100,
        "gunzipped_bytes": 16384,
        "md5": "0123456789abcdef0123456789abcdef",
        "charset": "UTF-8",
        "charset_detector": 1,
        "text_simhash": -6830530949119961,
        "parsed_as": "html",
        "succeeded": True,
        "is_truncated": True,
        "is_gzip": True,
        "gunzip_failed": False,
        "status_line": "HTTP/1.1 200 OK",
        "http_headers": {"server": " nginx ", "x-dotted.name": "7", "content-type": "text/html"},
        "unknown": {},
    }
    assert CHARSET_SOURCES[record.charset_detector] == "meta tag"


def test_record_keeps_what_was_stored():
    record = parse_metadata(PAGE)
    assert record.raw is PAGE
    assert record.fields == json.loads(PAGE)
    assert record.to_json().encode() == PAGE
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.raw = b""


def test_text_that_was_spelt_otherwise_is_kept_and_written_compactly():
    record = parse_metadata(b' {"attempt_time": 1, "disposition": "\\u0053UCCESS"} ')
    assert record.raw.startswith(b" {")
    assert record.to_json() == '{"attempt_time":1,"disposition":"SUCCESS"}'


def test_page_content():
    content = parse_metadata(PAGE).content
    assert isinstance(content, Document)
    assert content.title == "\n Été\u2028 "
    assert [(tag.name, tag.content) for tag in content.meta_tags] == [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Description", "Über uns"),
        ("og:title", "Été"),
        ("charset", "utf-8"),
    ]
    assert content.meta("description") == ["Über uns"]
    assert content.meta("generator") == []
    assert content.links[0] == Link(
        "http://www.example.fr/a.css", "", "text/css", {"rel": "stylesheet", "media": "screen"}
    )
    assert [(link.type, link.element, link.text) for link in content.links[1:]] == [
        ("text/javascript", "script", ""),
        ("img", "img", ""),
        ("a", "a", 'a "quoted" word'),
        ("a", "a", ""),
    ]
    assert content.links[2].attributes == {"alt": "", "width": "7"}
    assert content.unknown == {}


@pytest.mark.parametrize(
    ("link", "element"),
    [
        ({"type": "area", "rel": "x"}, "area"),
        ({"type": "application/rss+xml", "rel": "alternate", "text": ""}, "link"),
        ({"type": "application/rss+xml", "text": "RSS"}, None),
        ({"type": "text/html", "rel": "nofollow", "text": "more"}, None),
        ({"type": "application/x-javascript", "text": ""}, "script"),
        ({"type": "text/VBScript", "text": ""}, "script"),
        ({"text": ""}, None),
    ],
)
def test_element_of_a_link_is_told_as_far_as_it_can_be(link, element):
    content = stored(content={"type": "html-doc", "links": [link]}).content
    assert content.links[0].element == element


@pytest.mark.parametrize(
    ("attributes", "name", "content"),
    [
        ({"name": "a", "content": "b"}, "a", "b"),
        ({"name": "a", "value": "b"}, "a", "b"),
        ({"og:title": "b"}, "og:title", "b"),
        ({"content": "b", "itemprop": "a", "lang": "fr"}, "a", "b"),
        ({"http-equiv": "a"}, "a", None),
        ({"content": "b"}, None, "b"),
        ({}, None, None),
    ],
)
def test_meta_tag_of_every_shape_has_name_and_content(attributes, name, content):
    (tag,) = stored(content={"type": "html-doc", "meta_tags": [attributes]}).content.meta_tags
    assert (tag.name, tag.content, tag.attributes) == (name, content, attributes)


def test_redirect_and_failure():
    redirect = parse_metadata(PAGE).redirect
    assert (redirect.source_url, redirect.http_status, redirect.server_ip) == ("http://example.fr/", 301, "192.0.2.7")
    assert redirect.http_headers == {"location": "/index"}
    failure = parse_metadata(FAILURE)
    assert (failure.succeeded, failure.failure_reason, failure.failure_detail) == (False, "DNSFailure", "")
    assert (failure.http_status, failure.content, failure.archive, failure.http_headers) == (None, None, None, {})
    assert (failure.redirect.http_status, failure.redirect.server_ip) == (None, None)


def test_response_without_body_has_no_redirect_archive_or_content():
    record = parse_metadata(MISSING)
    assert (record.http_status, record.downloaded_bytes, record.mime_type) == (404, 0, None)
    assert (record.redirect, record.archive, record.content) == (None, None, None)


def test_rss_feed():
    feed = parse_metadata(RSS).content
    assert isinstance(feed, Feed)
    assert (feed.kind, feed.title, feed.description, feed.generator, feed.ttl_minutes) == ("rss", "News", "", "g", 60)
    assert (feed.updated_ms, feed.published_ms, feed.categories, feed.authors) == (1336636800000, None, ("Travel",), ())
    assert feed.links == (Link("http://a.example/", "", None, {}),)
    first, second = feed.items
    assert (first.title, first.description, first.guid) == ("One", "It floats.", "tag:1")
    assert (first.published_ms, first.comments_url) == (1336588200000, "http://a.example/1#c")
    assert first.authors == (Author("ann@a.example (Ann)"),)
    assert first.categories == ("B", "N")
    assert [link.href for document in first.documents for link in document.links] == ["http://a.example/p"]
    assert (second.title, second.links, second.documents, second.published_ms) == ("", (), (), None)
    assert (feed.unknown, first.unknown) == ({}, {})


def test_atom_feed_as_it_was_written():
    feed = parse_metadata(ATOM).content
    assert (feed.kind, feed.updated_ms, feed.published_ms) == ("atom", 1336500000000, 1336400000000)
    assert [(link.href, link.attributes["rel"], link.type) for link in feed.links] == [
        ("http://a.example/", "alternate", "text/html"),
        ("http://m.a.example/", "self", None),
    ]
    assert feed.authors == (Author("Ben", "http://a.example/ben"), Author("Cy"))
    (item,) = feed.items
    assert [link.href for link in (*item.links, *item.self_links, *item.replies)] == [
        "http://a.example/1",
        "http://a.example/s",
        "http://a.example/r1",
        "http://a.example/r2",
    ]
    assert [document.title for document in item.documents] == [None, "t"]
    assert (item.published_ms, item.updated_ms) == (None, None)


def test_atom_items_that_have_dates_keep_them():
    item = {"title": "", "published": 1, "updated": 2}
    (read,) = stored(content={"type": "atom-feed", "items": [item]}).content.items
    assert (read.published_ms, read.updated_ms) == (1, 2)


def test_archive_pointer_names_file_segment_and_line():
    pointer = parse_metadata(PAGE).archive
    assert pointer == ArchivePointer(1341690147253, 1341708194671, 12, 13002, 415)
    assert pointer.file_name == "1341708194671_12.arc.gz"
    assert pointer.location == "parse-output/segment/1341690147253/1341708194671_12.arc.gz"
    assert pointer.input_line == "parse-output/segment/1341690147253/1341708194671_12.arc.gz\t13002\t415"


def test_unknown_keys_are_kept_at_every_place():
    record = stored(
        new=[1],
        redirect_from={"source_url": "a", "how": "meta"},
        content={"type": "atom-feed", "rights": "all", "items": [{"title": "", "id": 7, "content": {"lang": "fr"}}]},
    )
    assert record.unknown == {"new": [1]}
    assert record.redirect.unknown == {"how": "meta"}
    assert record.content.unknown == {"rights": "all"}
    assert record.content.items[0].unknown == {"id": 7}
    assert record.content.items[0].documents[0].unknown == {"lang": "fr"}
    assert json.loads(record.to_json())["new"] == [1]


@pytest.mark.parametrize("wrong", [None, True, 1, 1.5, "text", [], {}, [None, 1, "a"], {"a": None}], ids=repr)
def test_values_of_the_wrong_type_are_absent(wrong):
    keys = [
        "attempt_time",
        "redirect_from",
        "failure_reason",
        "server_ip",
        "http_result",
        "http_headers",
        "content_len",
        "download_truncated",
        "text_simhash",
        "content",
        "archiveInfo",
    ]
    record = stored(**dict.fromkeys(keys, wrong))
    for name in ("attempt_time_ms", "http_status", "downloaded_bytes", "text_simhash"):
        assert getattr(record, name) == (wrong if type(wrong) is int else None)
    for name in ("failure_reason", "server_ip"):
        assert getattr(record, name) == (wrong if type(wrong) is str else None)
    assert record.is_truncated is (wrong is True)
    assert record.http_headers == {}
    assert record.archive is None
    assert (record.redirect is None) == (not isinstance(wrong, dict))
    assert (record.content is None) == (not isinstance(wrong, dict))
    keys = ["title", "links", "meta_tags", "link", "items", "authors", "author", "categories", "updated"]
    for kind in ("html-doc", "rss-feed", "atom-feed"):
        content = stored(content={"type": kind} | dict.fromkeys(keys, wrong)).content
        assert content.title == (wrong if type(wrong) is str else None)
        assert len(content.links) == (type(wrong) is dict)  # an object may be a link, however empty


@pytest.mark.parametrize("value", [b"null", b"[]", b"1", b'"a"'])
def test_json_that_is_no_object_is_refused(value):
    with pytest.raises(FormatError, match="metadata record: expected an object, got") as caught:
        parse_metadata(value)
    assert caught.value.reason == "bad-json"


def test_value_that_is_not_utf8_is_refused():
    with pytest.raises(FormatError) as caught:
        parse_metadata(b'{"a":"\xff"}')
    assert caught.value.reason == "bad-encoding"


def test_genuine_records_have_nothing_unknown_and_contiguous_members():
    records = [parse_metadata(value) for _, value in metadata_values.real_values()]
    assert [record.unknown for record in records] == [{}] * 50
    contents = [record.content for record in records if record.content]
    assert (len(contents), {type(content) for content in contents}) == (35, {Document})
    assert sum(len(content.links) for content in contents) == 3552
    assert not any(content.unknown for content in contents)
    pointers = [record.archive for record in records if record.archive]
    assert len(pointers) == 36
    assert {pointer.segment_id for pointer in pointers} == {1341690147253}
    ends = {pointer.offset_bytes + pointer.length_bytes for pointer in pointers}
    assert len(ends & {pointer.offset_bytes for pointer in pointers}) > 5


def test_pointers_of_the_segment_lead_to_the_bodies():
    segment = shared("legacy/seqfiles/segment")
    path = segment / "metadata-00000"
    with path.open("rb") as file:
        values = [record.value for record in read_sequencefile(file, path.stat().st_size, on_problem=pytest.fail)]
    joined = 0
    for value in values:
        record = parse_metadata(value)
        if record.archive:
            pointer = record.archive
            data = (segment / pointer.file_name).read_bytes()[pointer.offset_bytes :][: pointer.length_bytes]
            body = zlib.decompress(data, 31).partition(b"\r\n\r\n")[2][:-1]
            assert hashlib.md5(body).hexdigest() == record.md5
            joined += 1
    assert joined > 20
