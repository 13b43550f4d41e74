"""The job that extracts structured data: pages sorted and each in one piece, looked up by context, counted, accounted."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import rows, run_here

from crawlmill.cli import main
from crawlmill.jobs.structured_data import StructuredData

S = "http://schema.org/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
URLS = [
    f"http://{host}/p/{n}"
    for n in range(12)
    for host in ("b.example.org", "example.org", "www.example.org", "a.example")
]


def page(uri: str, name: str) -> bytes:
    body = f'<p itemscope itemtype="{S}T"><b itemprop=name>{name}</b></p><h1 class=h-card>{name}</h1>'
    return builders.response(uri, body.encode())


def crawl(folder: Path, records: list[bytes], files: int = 3) -> Path:
    for number in range(files):
        (folder / f"{number}.warc.gz").write_bytes(builders.pack([builders.warcinfo(), *records[number::files]]))
    listed = folder / "x.paths"
    listed.write_text("".join(f"{folder / str(number)}.warc.gz\n" for number in range(files)))
    return listed


def lines_of(out: Path) -> list[str]:
    parts = sorted(out.glob("part-*.nq.gz"))
    return b"".join(gzip.decompress(part.read_bytes()) for part in parts).decode().splitlines()


def graph_of(line: str) -> str:
    return line.rpartition("<")[2].removesuffix("> .")


def key(uri: str) -> str:
    host, _, path = uri.removeprefix("http://").partition("/")
    return ",".join(reversed(host.removeprefix("www.").split("."))) + ")/" + path


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A list of three files, the output of the job in three parts, and what it prints without an output folder."""
    folder = tmp_path_factory.mktemp("structured")
    listed = crawl(folder, [page(uri, f"n{n}") for n, uri in enumerate(URLS)])
    out = folder / "out"
    assert run_here(StructuredData, "-r", "inline", listed, "--output-dir", out, "--parts", 3).code == 0
    turned = folder / "turned.paths"
    turned.write_text("".join(reversed(listed.read_text().splitlines(keepends=True))))
    printed = run_here(StructuredData, "-r", "local", "--num-cores", "2", turned)
    assert printed.code == 0, printed.err
    return listed, out, printed.out


def test_pages_are_sorted_over_all_parts_and_printed_as_they_are_written(built):
    _, out, printed = built
    lines = lines_of(out)
    assert len(list(out.glob("part-*.nq.gz"))) == 3
    assert lines == printed.splitlines()
    graphs = list(dict.fromkeys(map(graph_of, lines)))
    assert sorted(graphs) == sorted(URLS)
    assert list(map(key, graphs)) == sorted(map(key, URLS))
    changes = sum(
        before != after for before, after in zip(map(graph_of, lines), map(graph_of, lines[1:]), strict=False)
    )
    assert changes == len(URLS) - 1
    for n, uri in enumerate(URLS):
        of_page = [line for line in lines if graph_of(line) == uri]
        nodes = set(re.findall(r"_:\w+", "".join(of_page)))
        assert len(of_page) == 4
        assert len(nodes) == 2
        assert sum(f'"n{n}"' in line for line in of_page) == 2
    assert [row["records"] for row in rows(out / "_ledger.jsonl").values()] == [17, 17, 17]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("*.example.org", lambda uri: "example.org/" in uri),
        ("example.org/p/1*", lambda uri: re.search(r"//(www\.)?example\.org/p/1", uri)),
        ("http://a.example/p/7", lambda uri: uri == "http://a.example/p/7"),
        ("nowhere.example", lambda _: False),
    ],
)
def test_quads_are_looked_up_by_page(built, capfdbinary, pattern, wanted):
    _, out, printed = built
    assert main(["lookup", pattern, "--index", str(out)]) == 0
    found = capfdbinary.readouterr().out.decode().splitlines()
    assert found == [line for line in printed.splitlines() if wanted(graph_of(line))]


def test_pages_are_captures_and_captures_are_inputs(built, capfdbinary, tmp_path):
    _, out, printed = built
    assert main(["lookup", "*.example.org", "--index", str(out), "--output", "json"]) == 0
    found = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert sorted(each["url"] for each in found) == sorted(uri for uri in URLS if "example.org/" in uri)
    assert main(["lookup", "a.example/p/3", "--index", str(out), "--output", "cdxj"]) == 0
    captures = tmp_path / "captures.cdxj"
    captures.write_bytes(capfdbinary.readouterr().out)
    again = run_here(StructuredData, "-r", "inline", captures)
    assert again.code == 0
    assert again.out.splitlines() == [line for line in printed.splitlines() if graph_of(line) == "http://a.example/p/3"]
    assert main(["lookup", "*.a.example", "--index", str(captures), "--output", "quads"]) == 1
    assert "this index holds captures, not quads" in capfdbinary.readouterr().err.decode()
    assert main(["check", str(out)]) == 0


def test_captures_of_a_page_give_equal_quads_once_and_their_blank_nodes_apart(tmp_path):
    def capture(date: str, name: str) -> bytes:
        body = f"<p itemscope itemid=#a itemtype={S}T><b itemprop=name>{name}</b></p><p itemscope><b itemprop=x>{name}"
        record = builders.response("http://a.example/", body.encode())
        return record.replace(builders.DATE.encode(), date.encode())

    records = [
        capture("2026-01-05T10:00:00Z", "old"),
        capture("2026-03-05T10:00:00Z", "new"),
        capture("2026-02-05T10:00:00Z", "old"),
    ]
    listed, out = crawl(tmp_path, records), tmp_path / "out"
    assert run_here(StructuredData, "-r", "inline", listed, "--output-dir", out, "--formats", "microdata").code == 0
    lines = lines_of(out)
    assert sum(TYPE in line for line in lines) == 1
    assert sorted(re.findall(r'schema.org/name> "(\w+)"', "".join(lines))) == ["new", "old"]
    assert sorted(re.findall(r'#x> "(\w+)"', "".join(lines))) == ["new", "old", "old"]
    (capture_line,) = gzip.decompress((out / "pages-00000.gz").read_bytes()).splitlines()
    assert capture_line.startswith(b"example,a)/ 20260305100000 {")


def test_statistics_are_printed_in_place_of_quads(built, tmp_path):
    listed, _, _ = built
    ended = run_here(StructuredData, "-r", "inline", "--statistics", listed)
    assert ended.code == 0
    found = {key: json.loads(value) for key, _, value in (line.partition("\t") for line in ended.out.splitlines())}
    assert found['["format","microdata"]'] == {"pages": 48, "hosts": 4, "domains": 2, "triples": 96}
    assert found[f'["class","microdata","{S}T"]'] == {"pages": 48, "entities": 48}
    assert found['["property","microformats2","http://microformats.org/wiki/microformats2#name"]']["pages"] == 48
    assert len(found) == 8
    out = tmp_path / "out"
    assert run_here(StructuredData, "-r", "inline", "--statistics", listed, "--output-dir", out).code == 0
    assert (out / "part-00000").read_text().splitlines() == sorted(ended.out.splitlines())


def test_what_could_not_be_taken_is_counted_and_costs_nothing_else(tmp_path):
    scripts = ['{"@context":"http://x.example/"}', "[", '{"@id":"#a","http://p.example/p":"v"}']
    body = "".join(f"<script type=application/ld+json>{text}</script>" for text in scripts).encode()
    records = [
        builders.response("http://a.example/", body),
        builders.response("not a URI", body),
        builders.response("http://b.example/", body, [("Content-Type", "text/plain")]),
    ]
    out = tmp_path / "out"
    ended = run_here(StructuredData, "-r", "inline", crawl(tmp_path, records, 1), "--output-dir", out)
    assert ended.code == 0
    assert lines_of(out) == ['<http://a.example/#a> <http://p.example/p> "v" <http://a.example/> .']
    assert json.loads((out / "_run.json").read_text())["skipped"] == {
        "bad-json-ld": 1,
        "bad-uri": 1,
        "unknown-context": 1,
    }
    (row,) = rows(out / "_ledger.jsonl").values()
    assert (row["outcome"], row["lost"]) == ("ok", {})


def test_an_empty_result_is_a_cluster(tmp_path, capfdbinary):
    out = tmp_path / "out"
    listed = crawl(tmp_path, [builders.response("http://a.example/", b"<p>x")], 1)
    assert run_here(StructuredData, "-r", "inline", listed, "--output-dir", out).code == 0
    assert main(["lookup", "a.example", "--index", str(out)]) == 0
    assert capfdbinary.readouterr().out == b""
    assert [path.name for path in out.glob("part-*")] == ["part-00000.nq.gz"]
    assert gzip.decompress((out / "part-00000.nq.gz").read_bytes()) == b""


@pytest.mark.parametrize("options", [("--formats", "rdf-a"), ("--formats", ""), ("--statistics", "--parts", "2")])
def test_bad_options_end_before_anything_runs(tmp_path, options):
    listed = crawl(tmp_path, [], 1)
    ended = run_here(StructuredData, "-r", "inline", listed, "--output-dir", tmp_path / "o", *options)
    assert (ended.code, ended.err.count("\n")) == (1, 1), ended.err
    assert not (tmp_path / "o").exists()


def test_a_missing_package_is_said_in_one_line(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "turbohtml" else find(name))
    ended = run_here(StructuredData, "-r", "inline", crawl(tmp_path, [], 1))
    assert ended.code == 1
    assert ended.err == "structured_data needs the package turbohtml: pip install 'crawlmill[structured]'\n"
