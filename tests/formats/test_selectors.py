"""Selecting pages: what each option means, what each format can answer, and that both cores decide alike."""

from __future__ import annotations

import argparse
import hashlib
import json
from fractions import Fraction

import pytest
from tests.builders import DATE, gzip_member, record, response
from tests.formats.sequencefiles import plain_file

from crawlmill.errors import UsageError
from crawlmill.formats.selection import Selection
from crawlmill.formats.selectors import options as values
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.mr.run.reading_options import add_selecting, criteria_of
from crawlmill.mr.task.selected import select_inputs, verdict_of
from crawlmill.storage import Storage

TYPES = frozenset({"response"})


def criteria(*arguments):
    parser = argparse.ArgumentParser()
    add_selecting(parser.add_argument)
    parser.error = lambda message: (_ for _ in ()).throw(UsageError(message))
    return criteria_of(parser.parse_args([str(each) for each in arguments]))


def page(uri, head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", date=DATE, **fields):
    named = tuple((name.replace("_", "-"), value) for name, value in fields.items())
    made = record("response", head + b"<p>", uri, "application/http; msgtype=response", fields=named)
    return made.replace(DATE.encode(), date.encode(), 1)


def about(uri, *lines):
    return record("metadata", "".join(f"{line}\r\n" for line in lines).encode(), uri, "application/warc-fields")


def languages(*codes):
    return "languages-cld2: " + json.dumps({"languages": [{"code-iso-639-3": code} for code in codes]})


def read(tmp_path, data, asked, types=TYPES, span=(None, None), **options):
    path = tmp_path / "x"
    path.write_bytes(data)
    reading = Reading(
        Input("x", str(path), *span), Storage(), ReadOptions(**options), Selection(None, types, (), asked)
    )
    return reading, [found.uri for found in reading]


def chosen(tmp_path, records, *arguments, **options):
    reading, found = read(tmp_path, b"".join(map(gzip_member, records)), criteria(*arguments), **options)
    assert reading.row.outcome == "ok", reading.row.problems
    return found


URLS = ["http://e.org/", "http://WWW.E.org:80/a", "http://a.b.e.org./", "http://note.org/", "http://e.org.uk/",
        "http://b\u00fccher.example/", "http://www.xn--bcher-kva.example/", "http://192.0.2.7/", "http://uk/", "dns:e.org"]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--host", "E.ORG."], [0]),
        (["--host", "www.e.org:8080", "--host", ".e.org"], [0, 1]),
        (["--host", "b\u00fccher.example", "--host", "192.0.2.7"], [5, 7]),
        (["--domain", "e.org"], [0, 1, 2]),
        (["--domain", "xn--bcher-kva.example"], [5, 6]),
        (["--domain", "192.0.2.7"], [7]),
        (["--tld", "uk"], [4, 8]),
        (["--tld", "org.uk", "--tld", "example"], [4, 5, 6]),
        (["--url-regex", "org/$"], [0, 3]),
        (["--domain", "e.org", "--url-regex", "a"], [1, 2]),
    ],
)
def test_urls_are_selected_by_host_domain_suffix_and_expression(tmp_path, on_core, arguments, expected):
    assert chosen(tmp_path, map(page, URLS), *arguments) == [URLS[at] for at in expected]


HEADS = {
    "a": b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\n\r\n",
    "b": b"HTTP/1.1 301 OK\r\ncontent-type: text/plain\r\n\r\n",
    "c": b"HTTP/1.1 404 OK\r\n\r\n",
    "d": b"no response",
}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--status", "200"], "a"),
        (["--status", "3xx,404"], "bc"),
        (["--status", "200", "--status", "404"], "ac"),
        (["--mime", "text/html"], "a"),
        (["--mime", "TEXT/*"], "ab"),
        (["--mime", "text/htm"], ""),
        (["--status", "2xx", "--mime", "text/plain"], ""),
        (["--truncated", "only"], "c"),
        (["--truncated", "none"], "abd"),
        (["--detected-mime", "application/pdf"], "b"),
    ],
)
def test_responses_are_selected_by_their_heads(tmp_path, on_core, arguments, expected):
    fields = {"b": {"WARC_Identified_Payload_Type": "application/pdf"}, "c": {"WARC_Truncated": "length"}}
    records = [page(name, head, **fields.get(name, {})) for name, head in HEADS.items()]
    assert "".join(chosen(tmp_path, records, *arguments)) == expected
    assert "".join(chosen(tmp_path, records, *arguments, verify=True)) == expected


def test_dates_are_compared_as_far_as_they_are_given(tmp_path, on_core):
    dates = ["2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2026-02-28T10:00:00Z", "2026-03-01T00:00:00Z"]
    records = [page(each, date=each) for each in dates]
    assert chosen(tmp_path, records, "--from", "2026", "--to", "202602") == dates[1:3]
    assert chosen(tmp_path, records, "--to", "20260101000000") == dates[:2]


def test_samples_are_the_same_pages_everywhere_by_the_hash_of_their_urls(tmp_path, on_core):
    urls = [f"http://e.org/{number}" for number in range(50)]
    kept = [url for url in urls if int(hashlib.sha1(url.encode()).hexdigest()[:16], 16) * 10 < 3 << 64]
    assert 5 < len(kept) < 25
    assert chosen(tmp_path, map(page, urls), "--sample-records", "30%") == kept
    assert chosen(tmp_path, map(page, urls), "--sample-records", "100%") == urls
    files = plain_file([(url.encode(), b"text") for url in urls])
    assert read(tmp_path, files, criteria("--sample-records", "30%"), types=None)[1] == kept


def test_languages_and_charsets_come_from_the_metadata_behind_a_page(tmp_path, on_core):
    records = [
        page("http://a/"), about("http://a/", "charset-detected: UTF-8", languages("nor", "eng")),
        page("http://b/"), about("http://b/", languages("deu", "fra", "ita")),
        page("http://c/"), about("http://c/", "fetchTimeMs: 1"),
        page("http://d/"),
    ]  # fmt: skip
    assert chosen(tmp_path, records, "--language", "ENG") == ["http://a/"]
    assert chosen(tmp_path, records, "--language", "ita", "--language", "nor") == ["http://a/", "http://b/"]
    assert chosen(tmp_path, records, "--charset", "utf-8", "--url-regex", "a") == ["http://a/"]
    reading, found = read(tmp_path, b"".join(records), criteria("--language", "fra"))
    assert (found, reading.row.records, reading.row.deselected) == (["http://b/"], 7, 3)


def test_what_is_said_of_a_page_that_is_left_out_is_not_said_of_another(tmp_path, on_core):
    records = [page("http://a/"), page("http://a/", HEADS["c"]), about("http://a/", languages("eng"))]
    assert chosen(tmp_path, records, "--language", "eng", "--status", "200") == []


def test_range_without_the_metadata_that_must_answer_is_unsupported(tmp_path, on_core):
    data = gzip_member(page("http://a/"))
    reading, found = read(tmp_path, data + data, criteria("--language", "eng"), span=(0, len(data)))
    assert (found, reading.row.outcome, dict(reading.row.lost)) == ([], "failed", {"unsupported-format": 1})
    assert "--language" in reading.row.problems[0].message


def test_deselected_and_cut_records_are_counted(tmp_path, on_core):
    records = [page("http://a/"), page("http://b/", WARC_Truncated="length"), about("http://b/"), page("http://c/")]
    reading, _ = read(tmp_path, b"".join(map(gzip_member, records)), criteria("--url-regex", "a|b"))
    assert (reading.row.records, reading.row.deselected, reading.row.truncated) == (4, 1, 1)
    reading, _ = read(tmp_path, b"".join(map(gzip_member, records)), criteria("--host", "nowhere"))
    assert (reading.row.records, reading.row.deselected, reading.row.truncated) == (4, 3, 0)


@pytest.mark.parametrize(
    ("data", "option", "value"),
    [
        (gzip_member(record("conversion", b"x", "http://a/", "text/plain")), "--status", "200"),
        (gzip_member(record("conversion", b"x", "http://a/", "text/plain")), "--charset", "UTF-8"),
        (gzip_member(b"http://a/ 1.2.3.4 20120101000000 text/html 0\n\n"), "--language", "eng"),
        (gzip_member(b"http://a/ 1.2.3.4 20120101000000 text/html 0\n\n"), "--detected-mime", "text/html"),
        (plain_file([(b"http://a/", b"text")]), "--from", "2012"),
        (plain_file([(b"http://a/", b'{"attempt_time":1}')]), "--language", "eng"),
    ],
)
def test_format_that_cannot_answer_is_unsupported_and_the_option_is_named(tmp_path, data, option, value):
    reading, found = read(tmp_path, data, criteria(option, value), types=None)
    assert (found, reading.row.outcome, dict(reading.row.lost)) == ([], "failed", {"unsupported-format": 1})
    assert reading.row.problems[0].message.startswith(option)


def test_metadata_of_2012_answer_by_their_fields(tmp_path):
    values_of = [{"attempt_time": 1341708194671, "http_result": 200, "charset_detected": "UTF-8", "mime_type": "text/html"},
                 {"attempt_time": 1341708194671, "http_result": 404, "download_truncated": True}]  # fmt: skip
    data = plain_file([(b"http://%d/" % at, json.dumps(each).encode()) for at, each in enumerate(values_of)])
    for arguments in (["--status", "2xx"], ["--charset", "utf-8"], ["--mime", "text/*"], ["--truncated", "none"]):
        assert read(tmp_path, data, criteria(*arguments), types=None)[1] == ["http://0/"], arguments
    assert read(tmp_path, data, criteria("--truncated", "only"), types=None)[1] == ["http://1/"]
    assert len(read(tmp_path, data, criteria("--from", "20120708", "--to", "201207"), types=None)[1]) == 2
    assert read(tmp_path, data, criteria(), types=None)[0].row.truncated == 1


def test_captures_are_selected_by_their_lines_and_others_wait_for_their_records():
    place = {"filename": "x", "offset": "0", "length": "9"}
    said = {"url": "http://e.org/", "mime": "text/html", "status": "200", "languages": "eng,deu", **place}
    lines = [f"org,e)/ 20260105000000 {json.dumps(said)}", json.dumps(place), "x\t0\t9"]
    items = [Input(line, "x", 0, 9) for line in lines]
    assert [verdict_of(item, criteria("--language", "deu")) for item in items] == [True, None, None]
    assert [verdict_of(item, criteria("--charset", "UTF-8")) for item in items] == [False, None, None]
    assert verdict_of(items[0], criteria("--from", "2027")) is False
    left, number = select_inputs(Inputs(items), criteria("--status", "404"))
    assert (left.items, number) == (items[1:], 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--status", "20x"], ["--status", "ok"], ["--status", ""], ["--url-regex", "("], ["--url-regex", ""],
        ["--sample-records", "10"], ["--sample-records", "0%"], ["--sample-records", "101%"], ["--from", "20261301"],
        ["--to", "20260230"], ["--to", "20269"], ["--from", ""], ["--mime", "html"], ["--mime", ""], ["--host", ""],
        ["--host", "a b"], ["--host", "http://e.org/"], ["--tld", "."], ["--tld", "7"], ["--language", "en"], ["--charset", " "],
        ["--truncated", "some"],
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_told(arguments):
    with pytest.raises(UsageError):
        criteria(*arguments)


def test_share_of_a_sample_is_exact():
    assert values.parse_sample("0.5%") == Fraction(1, 200)
    assert criteria("--sample-records", "50%").sampled_hashes == 1 << 63


def test_response_of_the_builders_is_whole(tmp_path):
    assert chosen(tmp_path, [response("http://a.org/", b"<p>")], "--tld", "org") == ["http://a.org/"]
