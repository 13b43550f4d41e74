"""`crawl_metadata`: records as stored, projected, chosen, located, joined with texts; what is done with invalid ones."""

from __future__ import annotations

import gzip
import json

import pytest
from tests import builders
from tests.data import needs_data, shared
from tests.formats.metadata_values import FAILURE, MISSING, PAGE, RSS
from tests.formats.sequencefiles import block_file, plain_file
from tests.mr.helpers import PROJECT, rows, run, run_here

SCRIPT = PROJECT / "jobs" / "crawl_metadata.py"
VALUES = {
    "http://www.example.fr/index": PAGE,
    "http://a.example.no/": FAILURE,
    "http://b.example.no/x": MISSING,
    "http://c.example.fr/feed": RSS,
}
STORED = {f'"{url}"': json.loads(value) for url, value in VALUES.items()}
RECORDS = [(url.encode(), value) for url, value in VALUES.items()]
INVALID = [
    (b"http://x.example/1", b'{"attempt_time":1,"disposition":7}'),
    (b"http://x.example/2", b"null"),
    (b"http://x.example/3", b'{"attempt_time":01,"disposition":"SUCCESS"}'),
]


@pytest.fixture
def files(crawl):
    return [crawl.write("0", block_file(RECORDS[:3], each=2)), crawl.write("1", plain_file(RECORDS[3:]))]


def test_all_records_come_out_as_stored(job, crawl, files):
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--invalid", "fail", crawl.list(*files))
    assert (ended.code, ended.pairs) == (0, STORED), ended.err
    # Order of keys, characters and numbers are those of the file; U+2028 needs no escape in a line.
    lines = {line.partition("\t")[2] for line in ended.out.split("\n") if line}
    assert lines == {value.decode().replace("\\u2028", "\u2028") for value in VALUES.values()}


def test_splits_give_each_record_once(job, crawl):
    file = crawl.write("0", block_file(RECORDS, each=1))
    size = file.stat().st_size
    lst = crawl.list(*(f"{file}\t{start}\t{min(200, size - start)}" for start in range(0, size, 200)))
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--inputs-per-task", "1", lst)
    assert (ended.code, ended.pairs) == (0, STORED)


def test_workers_from_another_folder_give_the_same(crawl, files, tmp_path):
    ended = run(SCRIPT, "--num-cores", "2", crawl.list(*files), cwd=tmp_path)
    assert (ended.code, ended.pairs) == (0, STORED), ended.err


def test_fields_are_given_under_the_names_asked_for(job, crawl, files):
    asked = "http_result,redirect_from.http_result,http_headers.x-dotted.name,content.title"
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--fields", asked, crawl.list(*files))
    assert ended.pairs == {
        '"http://www.example.fr/index"': {
            "http_result": 200,
            "redirect_from.http_result": 301,
            "http_headers.x-dotted.name": "7",
            "content.title": "\n Été\u2028 ",
        },
        '"http://a.example.no/"': {"redirect_from.http_result": 0},
        '"http://b.example.no/x"': {"http_result": 404},
        '"http://c.example.fr/feed"': {
            "http_result": 200,
            "content.title": json.loads(RSS)["content"]["title"],
        },
    }


@pytest.mark.parametrize(
    ("conditions", "urls"),
    [
        (["tld=no"], {"http://a.example.no/", "http://b.example.no/x"}),
        (["domain=EXAMPLE.FR"], {"http://www.example.fr/index", "http://c.example.fr/feed"}),
        (["host=b.example.no"], {"http://b.example.no/x"}),
        (["http_result=200", "tld=fr"], {"http://www.example.fr/index", "http://c.example.fr/feed"}),
        (["http_result=200", "tld=no"], set()),
        (["download_truncated=true"], {"http://www.example.fr/index"}),
        (["disposition=FAILURE"], {"http://a.example.no/"}),
    ],
)
def test_where_chooses_records(job, crawl, files, conditions, urls):
    options = [word for condition in conditions for word in ("--where", condition)]
    ended = run_here(job.CrawlMetadata, "-r", "inline", *options, crawl.list(*files))
    assert (ended.code, set(ended.pairs)) == (0, {f'"{url}"' for url in urls})


def test_invalid_records_are_dropped_counted_and_named(job, crawl, tmp_path):
    lst = crawl.list(crawl.write("0", block_file([*RECORDS, *INVALID], each=3)))
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.pairs) == (2, STORED)
    [row] = rows(tmp_path / "l").values()
    assert (row["outcome"], row["records"], row["lost"]) == ("partial", 7, {"bad-json": 3})
    assert "$.disposition" in row["problems"][0]["message"]


def test_invalid_records_are_kept_with_what_is_wrong(job, crawl):
    lst = crawl.list(crawl.write("0", block_file([*RECORDS, *INVALID])))
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--invalid", "keep", "--where", "tld=no", lst)
    assert ended.code == 0
    kept = {key: value for key, value in ended.pairs.items() if "x.example" in key}
    assert {key: value for key, value in ended.pairs.items() if key not in kept} == {
        key: value for key, value in STORED.items() if ".no/" in key
    }
    assert [sorted(value) for value in kept.values()] == [["invalid", "value"]] * 3
    assert kept['"http://x.example/1"']["invalid"][0]["path"] == "$.disposition"
    assert kept['"http://x.example/1"']["value"] == {"attempt_time": 1, "disposition": 7}
    assert kept['"http://x.example/2"']["value"] == "null"
    assert kept['"http://x.example/3"']["value"] == INVALID[2][1].decode()


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_invalid_record_fails_the_job_if_that_is_asked_for(crawl, tmp_path, runner):
    lst = crawl.list(crawl.write("0", block_file([*RECORDS, *INVALID])))
    ended = run(SCRIPT, "-r", runner, "--invalid", "fail", "--output-dir", tmp_path / "out", lst)
    assert (ended.code, ended.out) == (1, "")
    assert "$.disposition: expected" in ended.err
    assert f"{crawl.folder}/0" in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "out").exists()


def test_damage_of_the_file_is_no_invalid_record(job, crawl, tmp_path):
    data = block_file(RECORDS, each=2)
    lst = crawl.list(crawl.write("0", data[:-3]))
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--invalid", "fail", "--ledger", tmp_path / "l", lst)
    assert (ended.code, list(ended.pairs)) == (2, list(STORED)[:2])
    [row] = rows(tmp_path / "l").values()
    assert row["lost"] == {"truncated": 1}


def test_located_records_are_a_list_that_gives_the_pages(job, crawl, files, tmp_path):
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--locate", "--where", "tld=fr", crawl.list(*files))
    located = "parse-output/segment/1341690147253/1341708194671_12.arc.gz\t13002\t415\n"
    assert (ended.code, ended.out) == (0, located)
    # The very record that it names, read by another job.
    page = builders.http([("Content-Type", "text/html"), ("Server", "nginx")], b"<p><b>")
    arc = builders.arc([("http://www.example.fr/index", page)])
    member = arc[arc.rindex(b"\x1f\x8b\x08") :]
    filler = b"".join(builders.gzip_member(bytes(7)) for _ in range(9))
    data = filler + bytes(13002 - len(filler)) + member + bytes(415 - len(member)) + b"more"
    crawl.write("parse-output/segment/1341690147253/1341708194671_12.arc.gz", data)
    lst = crawl.write("located.paths", located.replace("415", str(len(member))).encode())
    ended = run(PROJECT / "jobs" / "tag_count.py", "-r", "inline", "--base-url", crawl.folder, lst, cwd=tmp_path)
    assert (ended.code, ended.pairs) == (0, {'"b"': 1, '"p"': 1}), ended.err


def test_texts_are_joined_by_url_whatever_the_order(job, crawl, files, tmp_path):
    pairs = [
        (b"http://only.example/", b"a text alone"),
        (b"http://c.example.fr/feed", b"feed"),
        (b"http://www.example.fr/index", b"one"),
        (b"http://www.example.fr/index", b"two"),
        (b"http://www.example.fr/index", b"one"),
    ]
    texts = crawl.list(crawl.write("textData-00000", block_file(pairs)), name="texts.paths")
    options = ("-r", "inline", "--with-text", texts)
    ended = run_here(job.CrawlMetadata, *options, "--ledger", tmp_path / "l", crawl.list(*files))
    texts_of = {
        '"http://www.example.fr/index"': ["one", "two"],
        '"http://a.example.no/"': [],
        '"http://b.example.no/x"': [],
        '"http://c.example.fr/feed"': ["feed"],
        '"http://only.example/"': ["a text alone"],
    }
    joined = {key: {"metadata": STORED.get(key), "texts": texts} for key, texts in texts_of.items()}
    assert (ended.code, ended.pairs) == (0, joined), ended.err
    assert {row["records"] for row in rows(tmp_path / "l").values()} == {3, 1, 5}
    ended = run_here(job.CrawlMetadata, *options, "--where", "tld=fr", "--fields", "http_result", crawl.list(*files))
    assert ended.pairs == {
        '"http://www.example.fr/index"': {"metadata": {"http_result": 200}, "texts": ["one", "two"]},
        '"http://c.example.fr/feed"': {"metadata": {"http_result": 200}, "texts": ["feed"]},
    }


def test_join_on_workers_gives_the_same_and_repeated_records_stay(crawl, files, tmp_path):
    texts = crawl.list(crawl.write("t", block_file([(b"http://a.example.no/", b"x")])), name="texts.paths")
    again = crawl.write("again", block_file([RECORDS[1]]))
    ended = run(SCRIPT, "--num-cores", "2", "--with-text", texts, crawl.list(*files, again), cwd=tmp_path)
    assert ended.code == 0, ended.err
    lines = sorted(line.split("\t") for line in ended.out.split("\n") if line)
    assert [key for key, _ in lines] == sorted([*STORED, '"http://a.example.no/"'])
    assert [json.loads(value)["texts"] for key, value in lines if key == '"http://a.example.no/"'] == [["x"], ["x"]]


@pytest.mark.parametrize(
    "options",
    [
        ("--where", "http_result"),
        ("--fields", ""),
        ("--where", "=200"),
        ("--invalid", "ignore"),
        ("--locate", "--fields", "a"),
        ("--locate", "--with-text", "x"),
        ("--locate", "--invalid", "keep"),
        ("--with-text", "no-such-list"),
    ],
)
def test_mistakes_end_in_one_line_before_anything_runs(job, crawl, files, options):
    ended = run_here(job.CrawlMetadata, "-r", "inline", *options, crawl.list(*files))
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)


def test_no_list_is_a_mistake_with_texts_too(job, crawl, files):
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--with-text", crawl.list(*files))
    assert (ended.code, ended.out) == (1, "")
    assert "no input list given" in ended.err


@needs_data
def test_genuine_records_come_out_as_their_stored_bytes(job, crawl):
    with gzip.open(shared("legacy/metadata_real_2012.tsv.gz")) as lines:
        stored = [line.rstrip(b"\n").split(b"\t", 1) for line in lines if line.strip()]
    lst = crawl.list(crawl.write("metadata-00000", block_file([tuple(pair) for pair in stored])))
    ended = run_here(job.CrawlMetadata, "-r", "inline", "--invalid", "fail", lst)
    assert ended.code == 0, ended.err
    found = [line.split("\t", 1) for line in ended.out.split("\n") if line]
    escaped = {"\u2028": "\\u2028", "\u2029": "\\u2029"}
    values = sorted(value.translate(str.maketrans(escaped)).encode() for _, value in found)
    assert values == sorted(value for _, value in stored)
