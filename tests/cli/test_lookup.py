"""`crawlmill lookup`: what it prints in each form, how it ends, what is a mistake."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tests.indexes.api_server import ApiServer, in_pages
from tests.indexes.captures import expected, make_cluster, make_lines, text, value
from tests.storage.faults import FaultServer, Thing

LINES = make_lines(600, seed=2)
FOUND = expected(LINES, "*.example.com", filters=["=status:200"], limit=9)
ARGUMENTS = ("lookup", "*.example.com", "--filter", "=status:200", "--limit", "9")


@pytest.fixture
def index(tmp_path):
    (tmp_path / "a.cdxj").write_bytes(text(LINES))
    return tmp_path / "a.cdxj"


def ask(run, index, *more):
    code, out, err = run(*ARGUMENTS, "--index", index, *more)
    assert (code, err) == (0, "")
    return out.decode().split("\n")[:-1]


def test_stored_lines_are_printed_as_they_stand(run, index):
    assert ask(run, index) == FOUND


def test_json_is_flat(run, index):
    flat = [
        {"urlkey": line.split(" ")[0], "timestamp": line.split(" ")[1], **json.loads(line.split(" ", 2)[2])}
        for line in FOUND
    ]
    assert list(map(json.loads, ask(run, index, "--output", "json"))) == flat


def test_fields_are_chosen_by_names_of_disk_and_api_and_missing_ones_left_out_in_json(run, index):
    found = ask(run, index, "--output", "json", "--fields", "timestamp,encoding,status")
    names = {"timestamp": "timestamp", "encoding": "charset", "status": "status"}
    assert list(map(json.loads, found)) == [
        {name: value(line, disk) for name, disk in names.items() if value(line, disk)} for line in FOUND
    ]


def test_fields_of_cdxj_keep_key_and_time(run, index):
    wanted = [
        " ".join([*line.split(" ")[:2], json.dumps({"url": value(line, "url"), "length": value(line, "length")})])
        for line in FOUND
    ]
    assert ask(run, index, "--fields", "url,length,nonesuch") == wanted


def test_tsv_has_a_line_of_names_where_there_are_rows(run, index):
    rows = ["\t".join(value(line, name) for name in ("url", "charset", "urlkey")) for line in FOUND]
    assert ask(run, index, "--output", "tsv", "--fields", "url,charset,urlkey") == ["url\tcharset\turlkey", *rows]
    assert run("lookup", "nowhere.example", "--index", index, "--output", "tsv") == (0, b"", "")


def test_list_is_an_input_list(run, index):
    assert ask(run, index, "--output", "list") == [
        "\t".join(value(line, name) for name in ("filename", "offset", "length")) for line in FOUND
    ]


def test_a_capture_without_a_place_is_told_and_not_in_the_list(run, tmp_path):
    """The Wayback Machine prints 7 columns. CDX 9 has no length, but says where the record begins."""
    (tmp_path / "a.cdx").write_bytes(
        b"com,a)/ 20240101000000 http://a.com/ text/html 200 SHA 77\n"
        b"com,a)/ 20240102000000 http://a.com/ text/html 200 SHA - 88 x.warc.gz\n"
        b"com,a)/ 20240103000000 http://a.com/ text/html 200 SHA - - 77 99 x.warc.gz\n"
    )
    code, out, err = run("lookup", "a.com", "--index", tmp_path / "a.cdx", "--output", "list")
    assert (code, out) == (2, b"x.warc.gz\t88\t\nx.warc.gz\t99\t77\n")
    assert [line.partition("it has no ")[2] for line in err.splitlines()] == ["filename and no offset"]
    _, out, _ = run("lookup", "a.com", "--index", tmp_path / "a.cdx", "--output", "tsv", "--fields", "length,offset")
    assert out == b"length\toffset\n77\t\n\t88\n77\t99\n"


def test_half_a_surrogate_pair_is_escaped(run, tmp_path):
    """JSON may hold one, UTF-8 may not."""
    place = '"filename": "f\\udc7f", "offset": "1", "length": "2"'
    (tmp_path / "a").write_text(f'com,a)/ 20240101000000 {{"url": "http://a.com/\\ud800", {place}}}\n')
    tsv = run("lookup", "a.com", "--index", tmp_path / "a", "--output", "tsv", "--fields", "url,length")
    assert tsv == (0, b"url\tlength\nhttp://a.com/\\ud800\t2\n", "")
    assert run("lookup", "a.com", "--index", tmp_path / "a", "--output", "list") == (0, b"{%s}\n" % place.encode(), "")


def test_columns_of_cdx_are_named(run, tmp_path):
    (tmp_path / "a.cdx").write_bytes(
        b" CDX N b a m s k r M S V g\n"
        b"com,a)/ 20200101000000 http://a.com/ text/html 200 AAAA - - 12 34 a.warc.gz\n"
        b"com,a)/b 20200101000000 http://a.com/b text/html - AAAA - - - 35 a.warc.gz\n"
    )
    code, out, _ = run("lookup", "*.a.com", "--index", tmp_path / "a.cdx", "--output", "json")
    assert code == 0
    rows = list(map(json.loads, out.splitlines()))
    shared = {"timestamp": "20200101000000", "mime": "text/html", "digest": "AAAA", "filename": "a.warc.gz"}
    assert rows == [
        {"urlkey": "com,a)/", "url": "http://a.com/", "status": "200", "length": "12", "offset": "34", **shared},
        {"urlkey": "com,a)/b", "url": "http://a.com/b", "offset": "35", **shared},
    ]
    assert run("lookup", "*.a.com", "--index", tmp_path / "a.cdx", "--filter", "=status:200", "--count")[1] == b"1\n"


def test_count_of_one_pattern_and_of_several(run, index):
    assert ask(run, index, "--count") == ["9"]
    options = [*ARGUMENTS[2:], "--index", index, "--count"]
    both = run("lookup", "*.example.com", "example.org", *options)[1].decode().splitlines()
    assert both == [
        "*.example.com\t9",
        f"example.org\t{len(expected(LINES, 'example.org', filters=['=status:200'], limit=9))}",
    ]


def test_patterns_come_from_stdin(run, index, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"example.org\r\n\n*.example.com\n")))
    code, out, _ = run("lookup", "-", "--index", index)
    assert (code, out) == (0, text([*expected(LINES, "example.org"), *expected(LINES, "*.example.com")]))


def test_many_patterns_are_parsed_together(run, index, monkeypatch):
    monkeypatch.setattr("crawlmill.mr.run.lookup._AT_ONCE", 3)
    urls = [f"http://{pattern}" for pattern in ("example.com/a", "example.org/", "a.example.com/b", "example.com/")]
    patterns = ["example.org", urls[0], "*.example.com", *urls[1:], "example.com/*", *urls]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("\n".join(patterns).encode())))
    code, out, _ = run("lookup", "-", "--index", index)
    assert (code, out) == (0, b"".join(text(expected(LINES, pattern)) for pattern in patterns))


def test_keys_are_patterns(run, index):
    key = LINES[77].split(" ")[0]
    assert run("lookup", "--key", key, "--index", index)[1] == text(
        [line for line in LINES if line.split(" ")[0] == key]
    )
    raw = run("lookup", "--key", "--match", "prefix", "com,example", "--index", index)[1]
    assert raw == text([line for line in LINES if line.startswith("com,example")])


def test_plan_says_blocks_and_bytes_and_reads_no_shard(run, tmp_path):
    members = make_cluster(tmp_path / "c", LINES, per=10, shards=1)
    for path in (tmp_path / "c").glob("cdx-*"):
        path.unlink()
    lines = [line for line, *_ in members]
    first = max(number for number, line in enumerate(lines) if line < "com,example)/")
    last = max(number for number, line in enumerate(lines) if line < "com,example)0")
    code, out, err = run("lookup", "http://example.com/*", "--index", tmp_path / "c", "--plan")
    size = sum(length for *_, length in members[first : last + 1])
    assert (code, out.decode(), err) == (0, f"blocks {last + 1 - first}\nbytes {size}\nrequests 1\n", "")


def test_losses_are_a_line_each_and_exit_code_2(run, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=10, shards=3)
    (tmp_path / "c/cdx-00001.gz").unlink()
    code, out, err = run("lookup", "--match", "domain", "com", "--index", tmp_path / "c")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("not-found: the shard cdx-00001.gz does not exist")
    assert out == text([line for line in expected(LINES, "com", match="domain") if line not in LINES[200:400]])


def test_shard_that_is_denied_is_not_said_to_be_missing(run, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=10, shards=3)
    with FaultServer() as server:
        server.things = {f"/{path.name}": Thing(path.read_bytes()) for path in (tmp_path / "c").iterdir()}
        server.things["/cdx-00001.gz"] = Thing(every=(403, {}))
        code, _, err = run("lookup", "--match", "domain", "com", "--index", f"{server.url}/cluster.idx", "--retries", 0)
    assert code == 2
    assert err.startswith("denied: the shard cdx-00001.gz cannot be read: expected cdx-00001.gz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.com"], "no index given"),
        (["--index", "I"], "no pattern given"),
        (["a.com", "--index", "I", "--from", "20x"], "from: expected a timestamp"),
        (["a.com", "--index", "I", "--to", "202001010000001"], "to: expected a timestamp"),
        (["a.com", "--index", "I", "--filter", "~url:("], "is not a regular expression"),
        (["a.com", "--index", "I", "--sort", "closest"], "needs a timestamp"),
        (["a.com", "--index", "I", "--sort", "closest", "--closest", "tomorrow"], "closest: expected"),
        (["a.com", "--index", "I", "--closest", "2024"], "closest: expected no timestamp in the order `key`"),
        (["a.com", "--index", "I", "--match", "some"], "invalid choice"),
        (["a.com", "--index", "I", "--limit", "ten"], "--limit"),
        (["a.com", "--index", "I", "--output", "xml"], "invalid choice"),
        (["a.com", "--index", "missing.cdxj"], "cannot use this index"),
        (["a.com", "--index", "empty folder"], "cannot use this index"),
        (["a.com", "--index", "text"], "not an index"),
        (["a.com", "--index", "api:nonsense"], "api: expected a URL or a crawl"),
        (["a.com", "--index", "I", "--checkpoint", "pages"], "--checkpoint is of CDX APIs"),
        (["a.com", "--index", "I", "--page-size", "5"], "--page-size is of CDX APIs"),
        (["", "--index", "I"], "names no URL"),
        (["*.", "--index", "I"], "names no URL"),
        (["*", "--match", "domain", "--index", "I"], "names no URL"),
        (["mailto:a@b.c", "--match", "host", "--index", "I"], "has no host"),
        (["a.com", "--index", "latest:0"], "latest:N"),
    ],
)
def test_mistakes_are_one_line(run, index, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty folder").mkdir()
    (tmp_path / "text").write_text("This is no index.\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, err = run("lookup", *[str(index) if each == "I" else each for each in arguments])
    assert (code, out, err.count("\n")) == (1, b"", 1), err
    assert message in err


def test_an_empty_index_answers_with_nothing(run, tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert run("lookup", "a.com", "--index", tmp_path / "a") == (0, b"", "")


def test_a_reader_that_has_seen_enough_ends_it_quietly(tmp_path):
    many = [f'com,z)/{n:07} 20200101000000 {{"url": "x"}}' for n in range(200_000)]
    (tmp_path / "a").write_bytes(text(sorted([*LINES, *many], key=str.encode)))
    command = [sys.executable, "-m", "crawlmill", "lookup", "--match", "domain", "com", "--index", str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == text(expected(LINES, "com", match="domain", limit=1))
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_cdx_api_is_asked_page_by_page_and_cannot_be_proven(run, tmp_path):
    lines = [line for line in make_lines(300, seed=4) if line.startswith("com,example)/")]
    with ApiServer(in_pages(lines, 3)) as api:
        fast = ("--max-requests-per-second", "1000")
        code, out, err = run("lookup", "example.com", "--match", "host", "--index", api.url, *fast, "--verbose")
        assert (code, out.decode().splitlines()) == (0, lines)
        assert "cannot be proven" in err
        pages = -(-len(lines) // 3)
        api.asked.clear()
        code, out, _ = run("lookup", "*.example.com", "--index", api.url, "--plan", *fast)
        assert (code, out.decode()) == (0, f"pages {pages}\nblocks {pages}\nrequests {pages}\n")
        assert len(api.asked) == 1
        kept = ("--checkpoint", str(tmp_path / "pages"))
        for _ in range(2):
            assert run("lookup", "*.example.com", "--index", api.url, *kept, *fast)[1].decode().splitlines() == lines
        assert len(api.pages()) == pages


def test_a_page_that_is_lost_is_one_line_and_exit_2(run):
    lines = [line for line in make_lines(300, seed=4) if line.startswith("com,example)/")]
    with ApiServer(in_pages(lines, 3, page1=b"<html>")) as api:
        limits = ("--max-requests-per-second", "1000", "--retries", "0")
        code, out, err = run("lookup", "*.example.com", "--index", api.url, *limits)
        assert (code, out.decode().splitlines(), err.count("\n")) == (2, lines[:3] + lines[6:], 1)
        assert "page 1 of *.example.com is lost" in err
