from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data import shared

from crawlmill.analysis import servers
from crawlmill.analysis.servers import servers_of_headers, wat_servers
from crawlmill.errors import FormatError

NASTY = [
    '{"report_to":"x","max_age":1}}}',
    '"Server":"fake","Headers":{"Server":"fake"}',
    "\\",
    '\\"',
    "}",
    "{",
    '"',
    '","Headers":{"Server":"fake"},"x":"',
    '"HTTP-Response-Metadata":{"Headers":{"Server":"fake"}}',
    "HTTP-Response-Metadata",
    "Headers",
    '{"Headers":{',
    "\\\\",
    "\n\t\0",
    "é漢\U0001f600",
    '"WARC-Header-Metadata":{"WARC-Type":"request"}',
    "[]",
    "null",
    "</script>",
    "\u2028",
]


def envelope(headers, *, kind="response", order="2024", head=None):
    """A WAT record as ia-web-commons writes it; `order` 2014: the key order of the first WAT files."""
    side = "HTTP-Request-Metadata" if kind == "request" else "HTTP-Response-Metadata"
    html = {"Head": head or {}, "Links": [{"path": "A@/href", "url": text} for text in NASTY]}
    message = {"Response-Message": {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"}, "Headers-Length": "250"}
    given_headers = {} if headers is None else {"Headers": headers}
    ends = {"Entity-Length": "10", "Entity-Trailing-Slop-Length": "0"}
    warc = {"WARC-Type": kind, "WARC-Target-URI": "http://e.org/", "Content-Type": "application/http; msgtype=response"}
    container = {"Filename": "a.warc.gz", "Compressed": True, "Gzip-Metadata": {"Inflated-Length": "626"}}
    if order == "2014":
        payload = {"Slop": "4", side: {"HTML-Metadata": html, **ends, **given_headers, **message}, "Length": "265"}
        whole = {"Payload-Metadata": payload, "WARC-Header-Metadata": warc, "Format": "WARC/1.0"}
        return {"Envelope": whole, "Container": container}
    payload = {"Type": "application/http", side: {**message, **given_headers, "HTML-Metadata": html, **ends}}
    whole = {"Payload-Metadata": payload, "Format": "WARC/1.0", "WARC-Header-Metadata": warc}
    return {"Container": container, "Envelope": whole}


def spellings(value):
    """The JSON of a value as several writers would give it."""
    for ascii_only in (False, True):
        yield json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode()
        yield json.dumps(value, ensure_ascii=ascii_only).encode()
    yield json.dumps(value, indent=1).encode() + b"\r\n"
    yield json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode()


def plainly(text: bytes):
    """What `wat_servers` must say, by the standard library's parser."""
    found = json.loads(text)["Envelope"]
    response = found.get("Payload-Metadata", {}).get("HTTP-Response-Metadata")
    if response is None or found.get("WARC-Header-Metadata", {}).get("WARC-Type", "response") != "response":
        return None
    values = []
    for name, value in response.get("Headers", {}).items():
        if name.strip(" \t\r\n\v\f").lower() == "server":
            values += value if isinstance(value, list) else [value]
    stripped = [value.strip(" \t\r\n\v\f") for value in values if value is not None]
    return list(dict.fromkeys(value for value in stripped if value)) or [None]


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ([], [None]),
        (["nginx"], ["nginx"]),
        (["b", "a", "b", " a "], ["b", "a"]),
        ([""], [None]),
        (["  ", "\t"], [None]),
        (["", "x", " "], ["x"]),
        ([" a b\t\r\n"], ["a b"]),
        (["\u00a0"], ["\u00a0"]),  # blanks are ASCII, as in the bytes of a header
        (["nginx", "Nginx"], ["nginx", "Nginx"]),
        (["null"], ["null"]),
    ],
)
def test_servers_of_headers_gives_each_value_once_or_null(values, keys):
    assert servers_of_headers(iter(values)) == keys


CASES = [
    ({"Server": "nginx"}, ["nginx"]),
    ({"server": "nginx", "Date": "x"}, ["nginx"]),
    ({"SERVER": "Apache/2.4 (Unix)"}, ["Apache/2.4 (Unix)"]),
    ({"Server ": "x"}, ["x"]),
    ({"Server": ["a", "b"], "server": "a"}, ["a", "b"]),
    ({"server": "b", "Server": ["a", "", "b"]}, ["b", "a"]),
    ({"Server": ""}, [None]),
    ({"Server": "  "}, [None]),
    ({"Server": ["", " "], "sErver": "x"}, ["x"]),
    ({"Server": []}, [None]),
    ({"Server": None}, [None]),
    ({"X-Server": "no", "Server-Timing": "no", "Serve": "no", "Servers": "no"}, [None]),
    ({}, [None]),
    (None, [None]),
    ({"Headers": "no", "HTTP-Response-Metadata": "no", "WARC-Type": "request", "Server": "yes"}, ["yes"]),
    ({'"Headers":{"Server': "no", '{"Headers":{': "no", "Server": "yes"}, ["yes"]),
    *(({"X-Nasty": text, "Server": "true-one", "X-More": [text, text]}, ["true-one"]) for text in NASTY),
    *(({"Server": text}, [text.strip(" \t\r\n\v\f") or None]) for text in NASTY),
    ({"Server": "café 漢 \U0001f600"}, ["café 漢 \U0001f600"]),
]


@pytest.mark.parametrize("order", ["2024", "2014"])
@pytest.mark.parametrize(("headers", "keys"), CASES)
def test_servers_of_a_wat_record_are_found_in_every_spelling(headers, keys, order):
    metas = [{"name": "Server", "Server": "fake3", "Headers": "{"}]
    head = {"Title": 'x "Headers":{"Server":"fake2"} }', "Metas": metas}
    for text in spellings(envelope(headers, order=order, head=head)):
        assert wat_servers(text) == keys == plainly(text)


@pytest.mark.parametrize("order", ["2024", "2014"])
@pytest.mark.parametrize("kind", ["request", "metadata", "revisit", "warcinfo"])
def test_record_that_is_no_response_counts_nothing(kind, order):
    for text in spellings(envelope({"Server": "client-side"}, kind=kind, order=order)):
        assert wat_servers(text) is None


@pytest.mark.parametrize(
    "payload",
    [
        {"WARC-Metadata-Metadata": {"Metadata-Records": [{"Name": "Server", "Value": "x"}]}},
        {"Note": "HTTP-Response-Metadata"},
        {},
    ],
)
def test_payload_without_http_response_counts_nothing(payload):
    warc = {"WARC-Type": "response"}
    for text in spellings({"Container": {}, "Envelope": {"Payload-Metadata": payload, "WARC-Header-Metadata": warc}}):
        assert wat_servers(text) is None
    assert wat_servers(b'{"Envelope":[]}') is None
    assert wat_servers(b"{}") is None


def test_wat_of_an_arc_file_has_no_warc_type_and_counts():
    payload = {"HTTP-Response-Metadata": {"Headers": {"Server": "old"}}}
    for text in spellings({"Envelope": {"ARC-Header-Metadata": {"IP": "192.0.2.1"}, "Payload-Metadata": payload}}):
        assert wat_servers(text) == ["old"]


def test_usual_record_is_not_parsed_whole(monkeypatch):
    monkeypatch.setattr(servers, "_in_whole", None)
    for order in ("2024", "2014"):
        for headers in ({"Server": "a"}, {"NEL": '{"x":{"y":"}"}}', "Server": "a"}, {}):
            text = json.dumps(envelope(headers, order=order), separators=(",", ":")).encode()
            assert wat_servers(text) == (["a"] if headers else [None])
    assert wat_servers(b'{"Envelope":{"Payload-Metadata":{"HTTP-Request-Metadata":{"Headers":{}}}}}') is None


def test_record_without_response_is_parsed_whole_where_its_braces_do_not_match():
    record = '{"Envelope":{"Payload-Metadata":{"HTTP-Request-Metadata":{"Headers":{"X":"%s"}}}}}'
    assert wat_servers((record % "{{}").encode()) is None
    with pytest.raises(FormatError):
        wat_servers((record % "}").encode() + b"}")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"x",
        b"{",
        b"}",
        b"[]",
        b'"HTTP-Response-Metadata"',
        b'{"HTTP-Response-Metadata"}',
        b'{"Envelope": nothing "HTTP-Response-Metadata"}',
        b'{"HTTP-Response-Metadata":{"Headers":{"a":b}}}',
        b'{"HTTP-Response-Metadata":' * 2000 + b"}" * 2000,
        b'{"HTTP-Response-Metadata":"\xff"}',
        b'{"HTTP-Response-Metadata":{"Headers":{"Server":"\xff"}},"WARC-Header-Metadata":{"WARC-Type":"response"}}',
    ],
)
def test_text_that_is_no_json_is_an_error(text):
    with pytest.raises(FormatError) as caught:
        wat_servers(text)
    assert caught.value.reason == "bad-json"


@pytest.mark.parametrize("value", [1, True, {"a": "b"}, ["a", 1], [["a"]]])
def test_server_value_that_is_no_string_is_an_error(value):
    for text in spellings(envelope({"Server": value})):
        with pytest.raises(FormatError, match="expected a string"):
            wat_servers(text)


@pytest.mark.parametrize("order", ["2024", "2014"])
def test_cut_record_is_an_error_or_counts_as_the_whole(order):
    text = json.dumps(envelope({"NEL": '{"a":{}}', "Server": "a"}, order=order), separators=(",", ":")).encode()
    verdicts = []
    for at in range(len(text)):
        try:
            verdicts.append(wat_servers(text[:at]))
        except FormatError as error:
            verdicts.append(error.reason)
    # A cut among the last braces passes, behind everything that is looked at.
    accepted = [verdict for verdict in verdicts if verdict != "bad-json"]
    assert all(keys == ["a"] for keys in accepted)
    assert len(accepted) < 8


def test_half_surrogates_become_replacement_characters():
    text = json.dumps(envelope({"Server": "a\ud800b\udc00 \ud83d"}), separators=(",", ":")).encode()
    assert wat_servers(text) == ["a\ufffdb\ufffd \ufffd"]


pieces = st.lists(st.sampled_from([*'"\\{}[]:,', "Headers", "Server"]), max_size=12).map("".join)
words = st.one_of(st.sampled_from(NASTY), st.text(max_size=8), pieces)
keys = st.sampled_from(["Server", "server", "SERVER", "Headers", "WARC-Type", "HTTP-Response-Metadata", "X"])
names = st.one_of(keys, words)
flat = st.dictionaries(names, st.one_of(words, st.lists(words, max_size=3)), max_size=5)


@settings(derandomize=True, deadline=None, database=None, max_examples=400)
@given(
    headers=st.none() | flat,
    head=flat,
    warc=flat,
    kind=st.sampled_from(["response", "request", "revisit"]),
    compact=st.booleans(),
    ascii_only=st.booleans(),
    seed=st.integers(0, 1 << 30),
)
def test_servers_of_any_envelope_are_those_of_a_whole_parse(headers, head, warc, kind, compact, ascii_only, seed):
    found = envelope(headers, kind="response", head={**head, "Metas": [head, warc]})
    found["Envelope"]["WARC-Header-Metadata"] = {**warc, "WARC-Type": kind}
    found["Container"] = {**warc, "Gzip-Metadata": head}
    separators = (",", ":") if compact else None
    text = json.dumps(shuffled(found, random.Random(seed)), ensure_ascii=ascii_only, separators=separators).encode()
    assert wat_servers(text) == plainly(text)


def shuffled(value, chance):
    if not isinstance(value, dict):
        return value
    items = [(name, shuffled(one, chance)) for name, one in value.items()]
    chance.shuffle(items)
    return dict(items)


def test_real_wat_file_has_only_requests():
    fastwarc = pytest.importorskip("fastwarc")
    with shared("commoncrawl/whirlwind.warc.wat.gz").open("rb") as stream:
        records = fastwarc.ArchiveIterator(stream, record_types=fastwarc.WarcRecordType.metadata)
        blocks = [record.reader.read() for record in records]
    assert blocks
    for block in blocks:
        assert wat_servers(block) == plainly(block)
