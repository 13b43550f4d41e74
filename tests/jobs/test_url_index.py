"""The job that builds clusters: every line of every input once, in order, whatever brought it and whoever ran it."""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from pathlib import Path

import pytest
from tests import builders
from tests.indexes.captures import make_cluster
from tests.mr.helpers import PROJECT, rows, run, run_here

from crawlmill.jobs.url_index import UrlIndex
from crawlmill.sample import write_sample

JOB = PROJECT / "jobs" / "url_index.py"
CDXJ = [
    b'com,example)/%05d 20240101%06d {"url": "http://example.com/%d", "status": "200"}' % (n * 7919 % 5000, n, n)
    for n in range(2000)
]
CDX = [
    b"com,old)/%03d 20090102030405 http://old.com/%d text/html 200 A - 10 20 old.arc.gz" % (n * 31 % 100, n)
    for n in range(100)
]


def text(lines) -> bytes:
    return b"".join(line + b"\n" for line in lines)


class Inputs:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, data: bytes) -> Path:
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def list(self, *files: Path) -> Path:
        return self.write("x.paths", "".join(f"{file}\n" for file in files).encode())


@pytest.fixture
def inputs(tmp_path):
    return Inputs(tmp_path)


def members(data: bytes) -> list[tuple[int, int, bytes]]:
    """(offset, length, content) of gzip members, by zlib alone."""
    found, at = [], 0
    while at < len(data):
        inflate = zlib.decompressobj(31)
        content = inflate.decompress(data[at:])
        length = len(data) - at - len(inflate.unused_data)
        found.append((at, length, content))
        at += length
    return found


def cluster(out: Path, per_member: int) -> list[bytes]:
    """The lines of a cluster, whose second level is held against what gzip says."""
    lines, wanted, shards = [], [], sorted(out.glob("cdx-*.gz"))
    assert [shard.name for shard in shards] == [f"cdx-{n:05}.gz" for n in range(len(shards))]
    for shard in shards:
        found = members(shard.read_bytes())
        for number, (offset, length, content) in enumerate(found):
            held = content.split(b"\n")[:-1]
            assert len(held) == per_member or (number == len(found) - 1 and 0 < len(held) < per_member)
            start = b" ".join(held[0].split(b" ")[:2]).decode("latin-1")
            wanted.append(f"{start}\t{shard.name}\t{offset}\t{length}\t{len(wanted) + 1}")
            lines += held
    assert (out / "cluster.idx").read_text("latin-1").split("\n")[:-1] == wanted
    assert (out / "cluster.loc").read_text() == "".join(f"{shard.name}\t{shard.name}\n" for shard in shards)
    said = dict(line.split(": ") for line in (out / "metadata.yaml").read_text().splitlines())
    assert (said["cdxLinesTotal"], said["shards"], said["members"]) == (
        str(len(lines)),
        str(len(shards)),
        str(len(wanted)),
    )
    assert (out / "_SUCCESS").exists()
    return lines


def build(out: Path, *args: object, code: int = 0, **environment: str) -> str:
    ended = run(JOB, "--output-dir", out, *args, **environment)
    assert ended.code == code, ended.err
    return ended.err


@pytest.fixture
def mixture(inputs):
    """A list of everything, and its lines."""
    warc = inputs.write(
        "d.warc.gz",
        builders.pack(
            [
                builders.warcinfo(),
                builders.response("http://w.org/1", b"<p>"),
                builders.response("http://w.org/2", b"<p>"),
            ]
        ),
    )
    shuffled = random.Random(1).sample(CDXJ, len(CDXJ))
    shard = b"".join(gzip.compress(text(shuffled[at : at + 100])[:-1]) for at in range(1000, 2000, 100))
    files = [
        inputs.write("a.cdxj", b'!meta {"format": "cdxj"}\n' + text(shuffled[:500])[:-1]),
        inputs.write("b.cdxj.gz", gzip.compress(text(shuffled[500:1000]))),
        inputs.write("cdx-00000.gz", shard),
        inputs.write("c.cdx", b" CDX N b a m s k r V g\n\n" + text(CDX)),
        warc,
    ]
    return inputs.list(*files), CDXJ + CDX, files


@pytest.mark.parametrize("options", [("-r", "inline"), ("-r", "local", "--num-cores", "3")])
@pytest.mark.parametrize("core", ["python", "native"])
def test_every_line_of_every_input_is_in_the_cluster_once_and_in_order(tmp_path, mixture, options, core):
    lst, lines, files = mixture
    if core == "native":
        pytest.importorskip("crawlmill_native")
    build(tmp_path / "out", *options, "--shards", "3", "--lines", "70", lst, CRAWLMILL_CORE=core)
    found = cluster(tmp_path / "out", 70)
    assert found == sorted(found)
    captures = [line for line in found if line.startswith(b"org,w)/")]
    assert [line.split(b" ", 2)[0] for line in captures] == [b"org,w)/1", b"org,w)/2"]
    assert [json.loads(line.split(b" ", 2)[2])["filename"] for line in captures] == [str(files[-1])] * 2
    assert sorted(set(found) - set(captures)) == sorted(lines)
    sizes = [gzip.decompress(shard.read_bytes()).count(b"\n") for shard in sorted((tmp_path / "out").glob("cdx-*"))]
    assert len(sizes) == 3
    assert max(sizes) < 1.3 * len(found) / 3
    assert [row["outcome"] for row in rows(tmp_path / "out" / "_ledger.jsonl").values()] == ["ok"] * 5


def test_archives_of_nothing_but_usual_records_are_indexed(tmp_path, inputs):
    pytest.importorskip("crawlmill_native")  # which makes the lines of usual records itself, and gives none of them
    write_sample(tmp_path / "crawl", pages=20, files=2, formats=("warc",))
    files = sorted((tmp_path / "crawl").rglob("*.warc.gz"))
    found = {}
    for core in ("native", "python"):
        build(tmp_path / core, "-r", "inline", inputs.list(*files), CRAWLMILL_CORE=core)
        found[core] = cluster(tmp_path / core, 3000)
    assert len(found["native"]) == 20
    assert found["native"] == found["python"]


def test_bytes_do_not_depend_on_runner_workers_core_or_order(tmp_path, mixture):
    lst, _, files = mixture
    seen = set()
    backwards = tmp_path / "y.paths"
    backwards.write_text("".join(f"{file}\n" for file in reversed(files)))
    for number, (given, core, *options) in enumerate(
        [
            (lst, "python", "-r", "inline"),
            (lst, "python", "-r", "local", "--num-cores", "1"),
            (lst, "python", "-r", "local", "--num-cores", "4"),
            (backwards, "python", "-r", "inline"),
            (lst, "", "-r", "local"),
        ]
    ):
        out = tmp_path / f"out{number}"
        build(out, *options, "--shards", "4", "--lines", "50", given, **({"CRAWLMILL_CORE": core} if core else {}))
        seen.add(tuple((path.name, path.read_bytes()) for path in sorted(out.glob("c*"))))
    assert len(seen) == 1


def test_lines_are_kept_byte_for_byte(tmp_path, inputs):
    odd = [
        b'com,a)/\x08 20240101000000 {"url":\t"http://a.com/"}',
        b'com,a)/ 20240101000000 {"url": "http://a.com/"}\r',
        b"com,a)/\xff\xfe 20240101000000 http://a.com/ - - - - - - - -",
        b"com,a)/\x0c\x01 20240101000000 x\ty\tz",
        b'com,a)/{} 20240101000000 {"a": "\xc3\xa9"}',
    ]
    build(tmp_path / "out", "--shards", "3", "--lines", "1", inputs.list(inputs.write("a.cdxj", text(odd))))
    assert cluster(tmp_path / "out", 1) == sorted(odd)


@pytest.mark.parametrize(("how", "count"), [("keep", 2 * len(CDX) + 1), ("drop", len(CDX))])
def test_equal_lines_are_kept_or_dropped(tmp_path, inputs, how, count):
    lst = inputs.list(inputs.write("a.cdx", text([*CDX, CDX[3]])), inputs.write("b.cdx", text(CDX)))
    build(tmp_path / "out", "--shards", "3", "--lines", "9", "--duplicates", how, lst)
    found = cluster(tmp_path / "out", 9)
    assert len(found) == count
    assert sorted(set(found)) == sorted(CDX)


def test_what_is_no_capture_is_reported_and_the_rest_is_indexed(tmp_path, inputs):
    lines = [*CDX[:4], b"nonsense", *CDX[4:]]
    lst = inputs.list(
        inputs.write("a.cdx", text(lines)),
        inputs.write("b.cdx.gz", gzip.compress(text(CDXJ))[:-500]),
        inputs.folder / "missing",
    )
    said = build(tmp_path / "out", lst, code=2)
    assert "line 5 is not a capture" in said
    ledger = {Path(name).name: row for name, row in rows(tmp_path / "out" / "_ledger.jsonl").items()}
    assert ledger["a.cdx"]["lost"] == {"bad-header": 1}
    assert (ledger["b.cdx.gz"]["outcome"], ledger["b.cdx.gz"]["lost"]) == ("partial", {"truncated": 1})
    assert ledger["missing"]["outcome"] == "failed"
    found = cluster(tmp_path / "out", 3000)
    assert set(CDX) <= set(found) <= set(CDX) | set(CDXJ)


@pytest.mark.parametrize("name", ["gone", "gone/cluster.idx"])
def test_a_cluster_of_a_list_that_does_not_exist_is_an_input_that_failed(tmp_path, inputs, name):
    (inputs.folder / "gone").mkdir()
    lst = inputs.list(inputs.folder / name, inputs.write("a.cdx", text(CDX)))
    build(tmp_path / "out", lst, code=2)
    row = rows(tmp_path / "out" / "_ledger.jsonl")[str(inputs.folder / name)]
    assert (row["outcome"], row["lost"]) == ("failed", {"not-found": 1})
    assert cluster(tmp_path / "out", 3000) == sorted(CDX)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("cluster.idx", b"\tcdx-00002.gz\t", b"\tcdx-00001.gz\t"), "cluster.idx has no row of a shard"),
        (("cluster.loc", b"\tcdx-00002.gz", b"\tcdx-00001.gz"), "cluster.loc gives two shards the same place"),
    ],
)
def test_a_cluster_that_does_not_name_all_its_shards_ends_the_run(tmp_path, inputs, change, said):
    make_cluster(tmp_path / "c", [line.decode() for line in CDXJ], per=5)
    name, old, new = change
    data = (tmp_path / "c" / name).read_bytes()
    assert old in data
    (tmp_path / "c" / name).write_bytes(data.replace(old, new))
    assert said in build(tmp_path / "out", inputs.list(tmp_path / "c"), code=1)


def test_a_list_from_a_pipe_of_a_shell_is_read_from_its_beginning(tmp_path, inputs, monkeypatch):
    inputs.write("a.cdx", text(CDX))
    monkeypatch.chdir(tmp_path)
    reading, writing = os.pipe()
    os.write(writing, b"a.cdx\n")
    os.close(writing)
    ended = run_here(UrlIndex, "-r", "inline", "--output-dir", tmp_path / "out", f"/dev/fd/{reading}")
    os.close(reading)
    assert ended.code == 0, ended.err
    assert cluster(tmp_path / "out", 3000) == sorted(CDX)


def test_pages_texts_and_metadata_can_be_indexed_too(tmp_path, inputs):
    wet = builders.pack([builders.warcinfo(), builders.conversion("http://w.org/1", "words")])
    build(tmp_path / "out", "--records", "conversion", inputs.list(inputs.write("a.wet.gz", wet)))
    (line,) = cluster(tmp_path / "out", 3000)
    assert line.startswith(b"org,w)/1 ")


@pytest.mark.parametrize(
    "options",
    [
        ["--shards", "0"],
        ["--shards", "x"],
        ["--shards", "100001"],
        ["--lines", "0"],
        ["--duplicates", "maybe"],
        ["--records", "warcinfo"],
        ["--fields", "+none"],
        ["--dir-root", "/a", "--filename-prefix", "b"],
    ],
)
def test_mistakes_end_before_anything_runs(tmp_path, inputs, options):
    lst = inputs.list(inputs.write("a.cdx", text(CDX)))
    said = build(tmp_path / "out", *options, lst, code=1)
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_cluster_needs_a_folder(inputs):
    ended = run(JOB, inputs.list(inputs.write("a.cdx", text(CDX))))
    assert (ended.code, len(ended.err.splitlines())) == (1, 1)
    assert "--output-dir" in ended.err


def test_lines_of_the_sample_differ_in_the_fields_that_engines_sort_by(monkeypatch):
    monkeypatch.setattr(UrlIndex, "grouped", lambda *_, survey: iter([(b"", text(CDXJ[:300]))]))
    said = b"".join(piece for _, piece in UrlIndex(["--mapper", "--shards", "3"]).survey(None)).splitlines()
    keys = [tuple(line.split(b"\t")[:2]) for line in said if line.startswith(b"1")]
    assert len(set(keys)) == len(keys) == 300
