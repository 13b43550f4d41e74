"""`server_addresses`: the same pages as WARC, WAT and ARC give the same counts."""

from __future__ import annotations

import json

import pytest
from tests import builders
from tests.mr.helpers import rows, run_here

PAGES = [
    ("http://a.example/1", "192.0.2.1"),
    ("https://A.Example.:8080/2", "192.0.2.1"),
    ("http://b\u00fccher.example/", "2001:db8::1"),
    ("http://192.0.2.9/", "192.0.2.9"),
    ("http://[2001:DB8::1]/", "-"),
    ("http://b.example/", None),
    ("http://no host/", "192.0.2.3"),
]
COUNTS = {
    '["a.example","192.0.2.1"]': 2,
    '["xn--bcher-kva.example","2001:db8::1"]': 1,
    '["192.0.2.9","192.0.2.9"]': 1,
    '["[2001:db8::1]",null]': 1,
    '["b.example",null]': 1,
    '[null,"192.0.2.3"]': 1,
}


def wat(url, ip, kind="response", *, of="WARC", spaced=False, name="HTTP-Response-Metadata"):
    prefix = "WARC-" if of == "WARC" else ""
    header = {"WARC-Type": kind} if of == "WARC" else {}
    header |= {f"{prefix}Target-URI": url, **({f"{prefix}IP-Address": ip} if ip else {})}
    page = {"Links": [{"path": "A@/href", "url": '"WARC-Header-Metadata":{"WARC-IP-Address":"192.0.2.66"}'}]}
    envelope = {"Payload-Metadata": {name: {"HTML-Metadata": page}}, f"{of}-Header-Metadata": header}
    separators = (", ", ": ") if spaced else (",", ":")
    block = json.dumps({"Container": {}, "Envelope": envelope}, separators=separators).encode()
    return builders.record("metadata", block, "http://record.example/", "application/json")


def warc():
    ip = [(("WARC-IP-Address", ip),) if ip else () for _, ip in PAGES]
    block = builders.http([("Content-Type", "text/html")], b"x")
    kind = "application/http; msgtype=response"
    pages = [builders.record("response", block, url, kind, fields=f) for (url, _), f in zip(PAGES, ip, strict=True)]
    noise = [builders.request("http://a.example/1"), builders.record("response", b"x", "dns:a.example", "text/dns")]
    return builders.pack([builders.warcinfo(), *pages, *noise, builders.metadata("http://a.example/1")])


def wats(**options):
    noise = [
        wat("http://a.example/", "192.0.2.7", "request"),
        wat("http://a.example/", "192.0.2.7", name="WARC-Metadata"),
    ]
    return builders.pack([builders.warcinfo(), *noise, *(wat(*page, **options) for page in PAGES)])


@pytest.mark.parametrize("options", [(), ("--heads-only",)])
def test_hosts_and_addresses_of_warc(job, crawl, options):
    ended = run_here(job.ServerAddresses, "-r", "inline", *options, crawl.list(crawl.write("a", warc())))
    assert (ended.code, ended.pairs) == (0, COUNTS), ended.err


@pytest.mark.parametrize("options", [{}, {"spaced": True}, {"of": "ARC"}], ids=["usual", "spaced", "of-arc"])
def test_hosts_and_addresses_of_wat(job, crawl, options):
    ended = run_here(job.ServerAddresses, "-r", "inline", crawl.list(crawl.write("a", wats(**options))))
    assert (ended.code, ended.pairs) == (0, COUNTS), ended.err


def test_hosts_and_addresses_of_arc(job, crawl):
    pages = [(url, builders.http([], b"x")) for url in ("http://a.example/1", "http://a.example/2", "http://[x/")]
    ended = run_here(job.ServerAddresses, "-r", "inline", crawl.list(crawl.write("a", builders.arc(pages))))
    assert ended.code == 0, ended.err
    assert {json.loads(key)[0]: count for key, count in ended.pairs.items()} == {"a.example": 2, None: 1}


def test_top_and_broken_json(job, crawl, tmp_path):
    broken = [
        builders.record("metadata", block, None, "application/json") for block in (b"[1]", b'{"Envelope":{"a":}}')
    ]
    lst = crawl.list(crawl.write("a", wats() + builders.pack(broken)))
    ended = run_here(job.ServerAddresses, "-r", "inline", "--top", "1", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.out) == (2, '["a.example","192.0.2.1"]\t2\n')
    assert [row["lost"] for row in rows(tmp_path / "l").values()] == [{"bad-json": 2}]
