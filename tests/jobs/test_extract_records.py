"""The job that copies records: whole members, planned from the list alone, the same whoever runs it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zlib

import pytest
import zstandard
from tests import builders
from tests.data import shared
from tests.mr.helpers import PROJECT, rows, run
from tests.storage.faults import FaultServer, Thing
from warcio.archiveiterator import ArchiveIterator

JOB = PROJECT / "jobs" / "extract_records.py"


def members(data: bytes) -> list[tuple[int, int, bytes]]:
    """(offset, length, content) of gzip members, by zlib alone."""
    found, at = [], 0
    while at < len(data):
        inflate = zlib.decompressobj(31)
        content = inflate.decompress(data[at:])
        assert inflate.eof, f"a torn member at {at}"
        length = len(data) - at - len(inflate.unused_data)
        found.append((at, length, content))
        at += length
    return found


class Crawl:
    """WARC files of pages, and the captures of their responses as a list."""

    def __init__(self, folder, files=2, count=5):
        self.folder, self.members, self.lines = folder, [], []
        for number in range(files):
            name = f"{number}.warc.gz"
            data = builders.pack(builders.pages(count, f"h{number}.example"))
            (folder / name).write_bytes(data)
            for offset, length, content in members(data):
                if b"WARC-Type: response" in content:
                    url = content.partition(b"Target-URI: ")[2].partition(b"\r")[0].decode()
                    place = {"url": url, "filename": name, "offset": str(offset), "length": str(length)}
                    self.lines.append(f"x,h{number})/ 20260105100000 {json.dumps(place)}\n")
                    self.members.append(data[offset : offset + length])

    def list(self, lines=None):
        path = self.folder / "captures.cdxj"
        path.write_text("".join(self.lines if lines is None else lines))
        return path


@pytest.fixture
def crawl(tmp_path):
    return Crawl(tmp_path)


def extract(crawl, *args, lines=None, code=0, name="out", runner="inline", **more):
    """The output folder of a run."""
    out = crawl.folder / name
    ended = run(JOB, "-r", runner, "--no-progress", "--output-dir", out, *args, crawl.list(lines), **more)
    assert ended.code == code, ended.err
    return out


def copies(out, pattern="*.warc.gz"):
    """The members of the output but for what describes its files."""
    found = []
    for path in sorted(out.glob(pattern)):
        data = path.read_bytes()
        (_, _, first), *others = members(data)
        assert first.startswith((b"WARC/1.1\r\nWARC-Type: warcinfo\r\n", b"filedesc://"))
        found += [data[offset : offset + length] for offset, length, _ in others]
    return found


def test_members_are_copied_byte_for_byte_with_an_index_that_finds_them(crawl):
    out = extract(crawl, lines=[*crawl.lines[::-1], crawl.lines[0]])
    assert copies(out) == crawl.members
    index = (out / "records-00000.cdxj").read_bytes().splitlines()
    assert index == sorted(index)
    data = (out / "records-00000.warc.gz").read_bytes()
    for line in index:
        place = json.loads(line.split(b" ", 2)[2])
        assert place["filename"] == "records-00000.warc.gz"
        found = gzip.decompress(data[int(place["offset"]) :][: int(place["length"])])
        assert f"WARC-Target-URI: {place['url']}\r\n".encode() in found
    made = subprocess.run(
        [sys.executable, "-m", "crawlmill", "index", "--sort", "records-00000.warc.gz"],
        cwd=out,
        capture_output=True,
        check=True,
    )
    assert made.stdout.splitlines() == index
    ledger = rows(out / "_ledger.jsonl")
    assert len(ledger) == len(crawl.lines)
    assert {(row["outcome"], row["records"]) for row in ledger.values()} == {("ok", 1)}


def test_the_warcinfo_says_what_the_file_is(crawl):
    out = extract(crawl, SOURCE_DATE_EPOCH="1700000000")
    with (out / "records-00000.warc.gz").open("rb") as file:
        first = next(iter(ArchiveIterator(file)))
        head, block = first.rec_headers, first.content_stream().read().decode()
    assert (first.rec_type, head.protocol, head["WARC-Date"]) == ("warcinfo", "WARC/1.1", "2023-11-14T22:13:20Z")
    assert (head["WARC-Filename"], head["Content-Type"]) == ("records-00000.warc.gz", "application/warc-fields")
    fields = [line.split(": ", 1) for line in block.splitlines()]
    assert [name for name, _ in fields] == ["software", "format", "conformsTo", "description", "source"]
    assert dict(fields)["source"].endswith("captures.cdxj")


def test_a_date_for_the_run_makes_runs_the_same_bytes_and_without_it_only_warcinfos_differ(crawl):
    outs = [extract(crawl, name=f"fixed{n}", SOURCE_DATE_EPOCH="1700000000") for n in range(2)]
    files = [{path.name: path.read_bytes() for path in out.glob("records-*")} for out in outs]
    assert files[0] == files[1]
    free = {path.name: path.read_bytes() for path in extract(crawl, name="free").glob("records-*")}
    assert free["records-00000.cdxj"] == files[0]["records-00000.cdxj"]
    assert free["records-00000.warc.gz"] != files[0]["records-00000.warc.gz"]
    assert extract(crawl, name="wrong", code=1, SOURCE_DATE_EPOCH="soon").exists() is False


def test_sizes_are_bounded_and_the_local_runner_writes_the_same(crawl):
    more = ("--max-size", "6KB", "--prefix", "p")
    outs = [extract(crawl, *more, name=runner, runner=runner) for runner in ("inline", "local")]
    indexes = [{path.name: path.read_bytes() for path in out.glob("*.cdxj")} for out in outs]
    assert indexes[0] == indexes[1]
    assert len(indexes[0]) > 1
    assert copies(outs[0]) == copies(outs[1]) == crawl.members
    assert all(path.stat().st_size <= 6000 for path in outs[0].glob("*.gz"))


def test_damage_is_in_the_ledger_and_not_in_the_output(crawl):
    path = crawl.folder / "1.warc.gz"
    spoiled = bytearray(path.read_bytes())
    at = bytes(spoiled).index(crawl.members[6]) + 60
    spoiled[at] ^= 4
    path.write_bytes(spoiled)
    other = crawl.lines[0].replace("h0.example/0", "h0.example/none")
    gone = crawl.lines[1].replace("0.warc.gz", "gone.warc.gz")
    out = extract(crawl, lines=[other, gone, *crawl.lines[2:]], code=2)
    assert copies(out) == [*crawl.members[2:6], *crawl.members[7:]]
    lost = {row["input"]: row["lost"] for row in rows(out / "_ledger.jsonl").values() if row["outcome"] != "ok"}
    assert {line.strip() for line in (other, gone, crawl.lines[6])} == set(lost)
    assert lost[other.strip()] == lost[gone.strip()] == {"not-found": 1}
    assert next(iter(lost[crawl.lines[6].strip()])).startswith("bad-")


def test_an_output_file_of_which_nothing_is_left_is_not_written(crawl):
    out = extract(crawl, lines=[crawl.lines[0].replace("0.warc.gz", "gone.warc.gz")], code=2)
    assert not list(out.glob("records*"))


def test_arc_records_and_plain_ones_come_out_as_what_they_are(crawl):
    pages = [(f"http://arc.example/{n}", builders.http([("Content-Type", "text/html")], b"x%d" % n)) for n in range(3)]
    (crawl.folder / "a.arc.gz").write_bytes(builders.arc(pages))
    (crawl.folder / "unnamed").write_bytes(builders.arc(pages[:1]))
    plain = builders.response("http://plain.example/", b"plain")
    (crawl.folder / "p.warc").write_bytes(builders.warcinfo() + plain)
    places = [("a.arc.gz", *each[:2]) for each in members((crawl.folder / "a.arc.gz").read_bytes())[1:]]
    places += [("unnamed", *each[:2]) for each in members((crawl.folder / "unnamed").read_bytes())[1:]]
    places.append(("p.warc", len(builders.warcinfo()), len(plain)))
    lines = ["\t".join(map(str, place)) + "\n" for place in places]
    out = extract(crawl, lines=lines)
    assert sorted(path.name for path in out.glob("records*")) == [
        "records-00000.arc.gz",
        "records-00000.cdxj",
        "records-00001.arc.gz",
        "records-00001.cdxj",
        "records-00001.warc.gz",
    ]
    assert gzip.decompress(copies(out)[0]) == plain
    with (out / "records-00000.arc.gz").open("rb") as file:
        found = [
            (record.rec_type, record.rec_headers.get_header("uri"), record.content_stream().read())
            for record in ArchiveIterator(file)
        ]
    assert [each[0] for each in found] == ["arc_header", "response", "response", "response"]
    assert [each[1:] for each in found[1:]] == [(url, block.partition(b"\r\n\r\n")[2]) for url, block in pages]
    check = subprocess.run(
        [sys.executable, "-m", "crawlmill", "check", *sorted(out.glob("*.gz"))], capture_output=True, check=True
    )
    assert check.stdout.count(b"ok") == 3


def test_records_of_zstandard_frames_come_out_in_gzip_members_and_a_dictionary_is_fetched_once(crawl):
    pages = [builders.response(f"http://z.example/{n}", b"page %d" % n) for n in range(4)]
    made = zstandard.ZstdCompressionDict(b"".join(pages), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    frames = [zstandard.ZstdCompressor(dict_data=made, write_checksum=True).compress(page) for page in pages]
    data = b"\x5d\x2a\x4d\x18" + len(made.as_bytes()).to_bytes(4, "little") + made.as_bytes()
    with FaultServer({"/z.warc.zst": Thing(data + b"".join(frames))}) as server:
        lines, at = [], len(data)
        for frame in frames:
            lines.append(f"{server.url}/z.warc.zst\t{at}\t{len(frame)}\n")
            at += len(frame)
        out = extract(crawl, lines=lines)
        assert len([seen for seen in server.seen if seen.method == "GET"]) == 3  # frames; its length; the dictionary
    assert [gzip.decompress(each) for each in copies(out)] == pages
    written = (out / "records-00000.warc.gz").read_bytes()
    for page, line in zip(pages, (out / "records-00000.cdxj").read_text().splitlines(), strict=True):
        place = json.loads(line.split(" ", 2)[2])
        start = int(place["offset"])
        assert gzip.decompress(written[start : start + int(place["length"])]) == page


def test_provenance_says_where_each_record_was(crawl):
    out = extract(crawl, "--provenance", lines=crawl.lines[:2])
    found = []
    with (out / "records-00000.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            found.append((record.rec_type, record.rec_headers, record.content_stream().read().decode()))
    assert [kind for kind, _, _ in found] == ["warcinfo", "response", "metadata", "response", "metadata"]
    for line, (_, page, _), (_, about, block) in zip(crawl.lines, found[1::2], found[2::2], strict=False):
        place = json.loads(line.split(" ", 2)[2])
        assert about["WARC-Refers-To"] == page["WARC-Record-ID"]
        for name in ("WARC-Target-URI", "WARC-Date"):
            assert about[name] == page[name]
        assert block.splitlines() == [
            f"source-file: {place['filename']}",
            f"source-offset: {place['offset']}",
            f"source-length: {place['length']}",
        ]
    assert copies(extract(crawl, name="bare", lines=crawl.lines[:2])) == copies(out)[::2]


def test_neighbours_are_one_request(crawl):
    data = (crawl.folder / "0.warc.gz").read_bytes()
    with FaultServer({"/0.warc.gz": Thing(data)}) as server:
        lines = [line.replace("0.warc.gz", f"{server.url}/0.warc.gz") for line in crawl.lines[:5]]
        out = extract(crawl, lines=lines)
        assert [seen.method for seen in server.seen] == ["GET"]
    assert copies(out) == crawl.members[:5]


def test_fields_that_only_the_list_knows_are_kept(crawl):
    line = crawl.lines[0].replace('"url"', '"charset": "UTF-8", "recordid": "7", "mime": "no/no", "url"')
    out = extract(crawl, lines=[line])
    fields = json.loads((out / "records-00000.cdxj").read_text().split(" ", 2)[2])
    assert (fields["charset"], fields["recordid"], fields["mime"]) == ("UTF-8", "7", "text/html")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--max-size", "much"), "expected a size"),
        (("--prefix", "../x"), "expected letters"),
        (("--kind", "wax"), "invalid choice"),
        (("--inputs-per-task", "5"), "a task for each output file"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(crawl, args, said):
    ended = run(JOB, "-r", "inline", "--output-dir", crawl.folder / "out", *args, crawl.list())
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert said in ended.err
    assert not (crawl.folder / "out").exists()


def test_a_list_of_whole_files_and_no_folder_are_mistakes(crawl):
    (crawl.folder / "x.paths").write_text("0.warc.gz\n")
    ended = run(JOB, "-r", "inline", "--output-dir", crawl.folder / "out", crawl.folder / "x.paths")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "a whole file, not a record of it" in ended.err
    assert "--output-dir is needed" in run(JOB, crawl.list()).err
    assert not (crawl.folder / "out").exists()


def test_pages_of_whirlwind_have_their_wat_and_wet_records(crawl):
    """One page as WARC, WAT and WET; its WAT holds the request's metadata alone."""
    source = shared("commoncrawl/whirlwind.warc.gz")
    at, length, content = next(each for each in members(source.read_bytes()) if b"WARC-Type: response" in each[2])
    url = content.partition(b"Target-URI: ")[2].partition(b"\r")[0].decode()
    stamp = "".join(filter(str.isdigit, content.partition(b"WARC-Date: ")[2].partition(b"\r")[0].decode()))
    place = {"url": url, "filename": str(source), "offset": str(at), "length": str(length)}
    line = f"x)/ {stamp} {json.dumps(place)}\n"
    out = extract(crawl, "--kind", "wet", lines=[line], name="wet")
    wanted = [
        each for each in members((source.parent / "whirlwind.warc.wet.gz").read_bytes()) if b": conversion" in each[2]
    ]
    assert [gzip.decompress(each) for each in copies(out, "*.warc.wet.gz")] == [content for _, _, content in wanted]
    out = extract(crawl, "--kind", "wat", lines=[line], name="wat")
    assert [row["records"] for row in rows(out / "_ledger.jsonl").values()] == [0]
