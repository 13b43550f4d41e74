"""`host_graph`: equal to a graph built by hand, in the order that web-graph tools need."""

from __future__ import annotations

import gzip
import json

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run, run_here

from crawlmill.analysis.links.graph import count_edges, graph_host, label_of, number_graph, rank_hosts

LINKS = {
    "http://a.example/1": ["http://b.example/", "//b.example/x", "/own", "http://c.example", "ftp://f.example/"],
    "http://a.example/2": ["https://C.example.:8080/", "http://user:pw@d.example/@x", "http://192.0.2.1/"],
    "http://b.example.com/": ["http://a-.example/", "http://a_b.example/", "http://localhost/", "mailto:x@y.example"],
    "http://b.example/": [
        "http://a.example/",
        "http://b\u00fccher.example/",
        "http://[::1]/",
        "http://" + "l" * 64 + ".example",
    ],
    "http://www.b.example/": ["http://b.example/"],
    "http://alone.example.org/": [],
    "http://192.0.2.7/": ["http://a.example/", "http://only-here.example/"],
}
HOSTS = [
    "com.example.b",
    "example.a",
    "example.b",
    "example.b.www",
    "example.c",
    "example.d",
    "example.xn--bcher-kva",
    "org.example.alone",
]
EDGES = {
    ("example.a", "example.b"): 2,
    ("example.a", "example.c"): 2,
    ("example.a", "example.d"): 1,
    ("example.b", "example.a"): 1,
    ("example.b", "example.xn--bcher-kva"): 1,
    ("example.b.www", "example.b"): 1,
}


def graph_in(folder):
    """Hosts by number, and edges between hosts with the number of their links; the order is asserted."""
    assert (folder / "_SUCCESS").exists()
    text = {
        name: b"".join(gzip.decompress(path.read_bytes()) for path in sorted((folder / name).iterdir())).decode()
        for name in ("vertices", "edges")
    }
    vertices = [line.split("\t") for line in text["vertices"].splitlines()]
    edges = [tuple(map(int, line.split("\t"))) for line in text["edges"].splitlines()]
    assert [int(number) for number, _ in vertices] == list(range(len(vertices)))
    assert [edge[:2] for edge in edges] == sorted({edge[:2] for edge in edges})
    names = [name for _, name in vertices]
    assert names == sorted(set(names))
    return names, {(names[edge[0]], names[edge[1]]): (edge[2] if edge[2:] else None) for edge in edges}


def pages(links=LINKS):
    return [
        builders.response(url, "".join(f'<a href="{link}">' for link in found).encode()) for url, found in links.items()
    ]


@pytest.fixture
def crawls(crawl):
    records = pages()
    noise = [builders.response("http://text.example/", b"<a href=/>", [("Content-Type", "text/plain")])]
    first, second = (builders.pack([builders.warcinfo(), *each]) for each in (records[:3] + noise, records[3:]))
    return crawl.list(crawl.write("a", first), crawl.write("b", second))


def test_graph_is_that_of_the_links(job, crawls, tmp_path):
    ended = run_here(job.HostGraph, "-r", "inline", "--weights", "--output-dir", tmp_path / "out", crawls)
    assert ended.code == 0, ended.err
    assert graph_in(tmp_path / "out") == (HOSTS, EDGES)


def test_same_files_on_workers_without_weights(job, crawls, tmp_path):
    script = PROJECT / "jobs" / "host_graph.py"
    ended = run(script, "-r", "local", "--num-cores", "2", "--output-dir", tmp_path / "local", crawls)
    assert ended.code == 0, ended.err
    assert run_here(job.HostGraph, "-r", "inline", "--output-dir", tmp_path / "here", crawls).code == 0
    assert graph_in(tmp_path / "local") == (HOSTS, dict.fromkeys(EDGES))
    for path in sorted((tmp_path / "here").glob("*/*.gz")):
        assert path.read_bytes() == (tmp_path / "local" / path.relative_to(tmp_path / "here")).read_bytes()


def test_few_edges_held_at_once_change_nothing(job, crawls, tmp_path, monkeypatch):
    monkeypatch.setattr("crawlmill.jobs.host_graph._MAX_EDGES", 1)
    assert run_here(job.HostGraph, "-r", "inline", "--weights", "--output-dir", tmp_path / "out", crawls).code == 0
    assert graph_in(tmp_path / "out") == (HOSTS, EDGES)


def test_www_is_stripped_where_that_is_asked_for(job, crawls, tmp_path):
    out = tmp_path / "out"
    assert run_here(job.HostGraph, "-r", "inline", "--strip-www", "--output-dir", out, crawls).code == 0
    names, edges = graph_in(out)
    assert names == [name for name in HOSTS if not name.endswith(".www")]
    assert set(edges) == {edge for edge in EDGES if edge[0] != "example.b.www"}


def test_redirects_headers_and_sitemaps(job, crawl, tmp_path):
    plain = ("Content-Type", "text/plain")
    headers = [plain, ("Link", "<http://l.example/>; rel=x, <http://m.example/>"), ("Content-Location", "//n.example/")]
    location = [("location", "http://to.example/"), plain]
    records = [
        builders.warcinfo(),
        builders.response("http://from.example/", b"", location, status="HTTP/1.1 301 Moved"),
        builders.response("http://no.example/", b"", location),
        builders.response("http://head.example/", b"", headers),
        builders.response("http://r.example/robots.txt", b"Sitemap: http://s.example/", [plain]),
    ]
    wat = {
        "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": "http://wat.example/"},
        "Payload-Metadata": {
            "HTTP-Response-Metadata": {
                "Response-Message": {"Status": "302"},
                "Headers": {"Location": ["http://to.example/"], "link": "<http://l.example/>", "x": 1},
            }
        },
    }
    block = json.dumps({"Envelope": wat}).encode()
    about = [builders.warcinfo(), builders.record("metadata", block, "http://wat.example/", "application/json")]
    lst = crawl.list(crawl.write("a", builders.pack(records)), crawl.write("b", builders.pack(about)))
    redirects = {("from", "to"), ("wat", "to")}
    in_headers = {("head", "l"), ("head", "m"), ("head", "n"), ("wat", "l")}
    for extras, expected in {
        "": set(),
        "redirects": redirects,
        "headers": in_headers,
        "sitemaps,redirects": redirects | {("r", "s")},
    }.items():
        out = tmp_path / f"out-{extras}"
        ended = run_here(job.HostGraph, "-r", "inline", "--with", extras, "--output-dir", out, lst)
        assert ended.code == 0, ended.err
        assert set(graph_in(out)[1]) == {(f"example.{one}", f"example.{other}") for one, other in expected}


def test_a_graph_of_nothing(job, crawl, tmp_path):
    lst = crawl.list(crawl.write("a", builders.pack([builders.warcinfo()])))
    assert run_here(job.HostGraph, "-r", "inline", "--output-dir", tmp_path / "out", lst).code == 0
    assert graph_in(tmp_path / "out") == ([], {})


def test_wrong_use_is_one_line(job, crawls, tmp_path):
    for args in [(), ("--output-dir", tmp_path), ("--with", "robots", "--output-dir", tmp_path / "new")]:
        ended = run_here(job.HostGraph, "-r", "inline", *args, crawls)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1), ended.err


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.example.co.uk/x", "uk.co.example.www"),
        ("https://u:p@a.example:8080/", "example.a"),
        ("http://a.example./", "example.a"),
        ("http://xn--bcher-kva.example/", "example.xn--bcher-kva"),
        (f"http://{'l' * 63}.example/", f"example.{'l' * 63}"),
        ("ftp://a.example/", None),
        ("http://localhost/", None),
        ("http://1.2.3.4/", None),
        ("http://[::1]/", None),
        ("http://a..example/", None),
        ("http://a_b.example/", None),
        ("http://-a.example/", None),
        ("http://a-.example/", None),
        (f"http://{'l' * 64}.example/", None),
        ("http://" + "a." * 126 + "ex/", None),
        ("mailto:a@b.example", None),
    ],
)
def test_hosts_that_the_graph_has(url, expected):
    assert graph_host(url) == expected
    assert graph_host(url, strip_www=True) == (expected.removesuffix(".www") if expected else None)


def test_www_stays_where_it_is_the_name():
    assert graph_host("http://www.example/", strip_www=True) == "example.www"


def test_numbers_follow_the_order_of_bytes_across_all_ranges():
    names = sorted(
        f"{tld}.{name}" for tld in ("a", "com", "com-x", "de", "net", "zz") for name in ("a", "a-b", "a.b", "x")
    )
    names += [f"com.{letter}1" for letter in "abcdefghijklmnopqrstuvwxyz"]
    names = sorted(names, key=str.encode)
    wanted = {(names[n * 7 % len(names)], names[n * n % len(names)]) for n in range(200)}
    wanted = {edge for edge in wanted if edge[0] != edge[1]}

    def shuffled(lines):
        by_label = {}
        for line in sorted(b"".join(lines).splitlines()):
            label, _, text = line.partition(b"\t")
            by_label.setdefault(label, []).append(text)
        return by_label

    mapped = [b"%b\t%b\t0\n" % (label_of(name.encode()), name.encode()) for name in names]
    mapped += [b"%b\t%b %b\t1\n" % (label_of(a.encode()), a.encode(), b.encode()) for a, b in wanted for _ in "xy"]
    first = [b"".join(count_edges([b"".join(sorted(mapped))]))]
    second = [line for label, texts in shuffled(first).items() for line in rank_hosts(label, texts)]
    vertices, edges = [], []
    for label, texts in sorted(shuffled(second).items()):
        number_graph(label, texts, vertices.append, edges.append, weights=True)
    assert vertices == [b"%d\t%b\n" % (number, name.encode()) for number, name in enumerate(names)]
    numbers = sorted((names.index(a), names.index(b)) for a, b in wanted)
    assert edges == [b"%d\t%d\t2\n" % edge for edge in numbers]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_edges_are_summed_wherever_the_lines_are_cut(size):
    lines = [b"00000\ta.b\t0\n", b"00000\ta.b a.c\t1\n", b"00000\ta.b a.c\t2\n", b"00008\tcom.x a.b\t5\n"]
    chunks = [b"".join(lines[at : at + size]) for at in range(0, len(lines), size)]
    assert b"".join(count_edges(chunks)).splitlines() == [
        b"00000\ta.b\t0",
        b"00000\ta.c a.b\t3",
        b"00008\tcom.x\t0",
        b"00000\ta.b com.x\t5",
    ]
