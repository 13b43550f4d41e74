"""`server_count`: the same pages as WARC, ARC and WAT give the same counts, made by hand; metadata of 2012."""

from __future__ import annotations

import json

import pytest
from tests import builders
from tests.formats.sequencefiles import block_file
from tests.mr.helpers import PROJECT, rows, run, run_here

SCRIPT = PROJECT / "jobs" / "server_count.py"
HEADERS = [
    [("Server", "nginx")],
    [("server", "nginx"), ("SERVER", " nginx "), ("Server", "Apache/2 {x}\\")],
    [("Server", " ")],
    [("X", "Server: nginx")],
    [("Server", ""), ("Server", "nginx")],
]
COUNTS = {'"nginx"': 3, '"Apache/2 {x}\\\\"': 1, "null": 2}


def wat_record(uri, headers, kind="response"):
    values = {}
    for name, value in headers:
        values.setdefault(name, []).append(value.strip())
    values = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    envelope = {
        "WARC-Header-Metadata": {"WARC-Type": kind, "WARC-Target-URI": uri},
        "Payload-Metadata": {"HTTP-Response-Metadata": {"Headers": values}},
    }
    block = json.dumps({"Container": {}, "Envelope": envelope}).encode()
    return builders.record("metadata", block, uri, "application/json")


@pytest.fixture
def crawls(crawl):
    """The same pages in three formats."""
    named = [(f"http://e.org/{n}", headers) for n, headers in enumerate(HEADERS)]
    warc = [
        builders.warcinfo(),
        *(r for uri, h in named for r in (builders.response(uri, b"x", h), builders.metadata(uri))),
    ]
    warc += [builders.response("http://e.org/r", b"", HEADERS[0], kind="revisit")]
    warc += [builders.record("response", b"by mail", "dns:e.org", "text/dns")]
    wat = [builders.warcinfo(), *(wat_record(*pair) for pair in named), wat_record("http://e.org/q", [], "request")]
    arc = builders.arc([(uri, builders.http(h, b"x")) for uri, h in named])
    return {
        "warc": crawl.write("a", builders.pack(warc)),
        "wat": crawl.write("b", builders.pack(wat)),
        "arc": crawl.write("c", arc),
    }


@pytest.mark.parametrize("kind", ["warc", "wat", "arc"])
@pytest.mark.parametrize("options", [(), ("--heads-only",)])
def test_servers_of_each_format_are_the_same(job, crawl, crawls, kind, options):
    ended = run_here(job.ServerCount, "-r", "inline", *options, crawl.list(crawls[kind]))
    assert (ended.code, ended.pairs) == (0, COUNTS), ended.err


def test_all_formats_together_on_workers_from_another_folder(crawl, crawls, tmp_path):
    ended = run(SCRIPT, "-r", "local", "--num-cores", "2", crawl.list(*crawls.values()), cwd=tmp_path)
    assert (ended.code, ended.pairs) == (0, {key: 3 * count for key, count in COUNTS.items()})


def test_top_puts_null_first_among_equals(job, crawl, crawls):
    ended = run_here(job.ServerCount, "-r", "inline", "--top", "2", crawl.list(crawls["warc"]))
    assert ended.out == '"nginx"\t3\nnull\t2\n'
    crawl.write(
        "d",
        builders.pack(
            [
                builders.warcinfo(),
                *(wat_record("http://e.org/", [("Server", s)]) for s in "ba "),
            ]
        ),
    )
    ended = run_here(job.ServerCount, "-r", "inline", "--top", "9", crawl.list("d"))
    assert ended.out == 'null\t1\n"a"\t1\n"b"\t1\n'


def test_wat_record_that_is_no_json_is_lost_and_the_others_count(job, crawl, tmp_path):
    broken = builders.record("metadata", b'{"Envelope": nothing', "http://e.org/", "application/json")
    path = crawl.write("x", builders.pack([builders.warcinfo(), wat_record("http://e.org/1", HEADERS[0]), broken]))
    ended = run_here(job.ServerCount, "-r", "inline", "--ledger", tmp_path / "l", crawl.list(path))
    assert (ended.code, ended.pairs) == (2, {'"nginx"': 1})
    [row] = rows(tmp_path / "l").values()
    assert (row["outcome"], row["format"], row["lost"]) == ("partial", "wat", {"bad-json": 1})


def attempt(**fields):
    return json.dumps({"attempt_time": 1341708194671, "disposition": "SUCCESS", **fields}).encode()


def test_metadata_of_2012_count_the_header_that_they_keep(job, crawl, tmp_path):
    elsewhere = {"redirect_from": {"source_url": "http://e.org/", "http_headers": {"server": "other"}}}
    values = [
        attempt(http_headers={"response": "HTTP/1.1 200 OK", "server": " nginx "}),
        attempt(http_headers={"server": "nginx"}, **elsewhere),
        attempt(http_headers={"server": "  "}),
        attempt(http_headers={}, **elsewhere),
        attempt(**elsewhere),  # no response
        b'{"attempt_time":1,"disposition":"FAILURE","failure_reason":"DNSFailure"}',
        attempt(http_headers={"server": 7}),
    ]
    lst = crawl.list(crawl.write("m", block_file([(b"http://e.org/%d" % n, v) for n, v in enumerate(values)])))
    ended = run_here(job.ServerCount, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.pairs) == (2, {'"nginx"': 2, "null": 2})
    [row] = rows(tmp_path / "l").values()
    assert (row["format"], row["records"], row["lost"]) == ("sequencefile", 7, {"bad-json": 1})
    texts = crawl.list(crawl.write("t", block_file([(b"http://e.org/", b"text")])))
    assert run_here(job.ServerCount, "-r", "inline", texts).code == 2
