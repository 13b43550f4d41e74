"""A whole sample crawl, read back with warcio, fastwarc and plain readings of its bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from tests.data import shared
from tests.sample.plain_reading import quick_tags, read_markup
from warcio.archiveiterator import ArchiveIterator

from crawlmill.errors import SourceError, UsageError
from crawlmill.sample import DEFAULT_FORMATS, write_sample

PAGES, FILES = 230, 3
ROOT = "crawl-data/CC-SAMPLE-2026-01"
HTML = ("text/html", "application/xhtml+xml")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample") / "crawl"
    answers = write_sample(folder, pages=PAGES, files=FILES, seed=3)
    return folder, answers


def listed(folder: Path, kind: str) -> list[str]:
    return gzip.decompress((folder / ROOT / f"{kind}.paths.gz").read_bytes()).decode().splitlines()


def members(path: Path) -> list[tuple[int, int, bytes]]:
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        inflater = zlib.decompressobj(31)
        content = inflater.decompress(data[at:])
        assert inflater.eof
        length = len(data) - at - len(inflater.unused_data)
        found.append((at, length, content))
        at += length
    return found


def split_record(content: bytes) -> tuple[list[tuple[str, str]], bytes]:
    head, block = content.split(b"\r\n\r\n", 1)
    version, *lines = head.decode().split("\r\n")
    assert version == "WARC/1.0"
    fields = [(name, value) for name, value in (line.split(": ", 1) for line in lines)]
    size = int(dict(fields)["Content-Length"])
    assert block[size:] == b"\r\n\r\n"
    return fields, block[:size]


def records(folder: Path, kind: str) -> list[tuple[dict[str, str], bytes]]:
    found = []
    for path in listed(folder, kind):
        for _, _, content in members(folder / path):
            fields, block = split_record(content)
            assert len(dict(fields)) == len(fields)
            found.append((dict(fields), block))
    return found


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def read_by_warcio(folder: Path, kind: str):
    for path in listed(folder, kind):
        with (folder / path).open("rb") as stream:
            yield from ArchiveIterator(stream, check_digests="raise")


# Layout


def test_layout_is_that_of_common_crawl(crawl):
    folder, _ = crawl
    for kind, suffix in (("warc", ".warc.gz"), ("wat", ".warc.wat.gz"), ("wet", ".warc.wet.gz")):
        paths = listed(folder, kind)
        assert len(paths) == len(set(paths)) == FILES
        pattern = rf"{ROOT}/segments/\d{{13}}\.\d+/{kind}/CC-SAMPLE-\d{{14}}-\d{{14}}-\d{{5}}{re.escape(suffix)}"
        assert all(re.fullmatch(pattern, path) for path in paths)
        assert sorted(paths) == sorted(str(p.relative_to(folder)) for p in folder.glob(f"{ROOT}/segments/*/{kind}/*"))
    derived = [path.replace("/warc/", "/wat/").replace(".warc.gz", ".warc.wat.gz") for path in listed(folder, "warc")]
    assert derived == listed(folder, "wat")
    segments = listed(folder, "segment")
    assert len(segments) == 2
    assert {f"{path.rsplit('/', 2)[0]}/" for path in listed(folder, "warc")} == set(segments)
    assert not list(folder.rglob("*.part"))


def test_header_fields_stand_as_common_crawl_writes_them(crawl):
    folder, _ = crawl
    for kind in DEFAULT_FORMATS:
        real = [split_record(c)[0] for _, _, c in members(shared(f"commoncrawl/whirlwind.{SUFFIX[kind]}"))]
        first = members(folder / listed(folder, kind)[0])
        ours = [split_record(content)[0] for _, _, content in first]
        order = {dict(fields)["WARC-Type"] + dict(fields)["Content-Type"]: [n for n, _ in fields] for fields in real}
        for fields in ours[:5]:
            key = dict(fields)["WARC-Type"] + dict(fields)["Content-Type"]
            assert [name for name, _ in fields] == order[key], key


SUFFIX = {"warc": "warc.gz", "wat": "warc.wat.gz", "wet": "warc.wet.gz"}


def test_wat_envelope_has_the_keys_of_common_crawl_in_their_order(crawl):
    folder, _ = crawl
    _, (_, _, real) = members(shared("commoncrawl/whirlwind.warc.wat.gz"))
    ours = members(folder / listed(folder, "wat")[0])[2][2]
    outlines = [outline(json.loads(split_record(content)[1])) for content in (real, ours)]
    # That file's own WARC records had no digests; ours name theirs.
    assert outlines[1] == outlines[0].replace(
        "WARC-Target-URI.", "WARC-Target-URI.WARC-Payload-Digest.WARC-Block-Digest."
    )


def outline(value) -> str:
    return "".join(f"{key}.{outline(below)}" for key, below in value.items()) if isinstance(value, dict) else ""


# Answers


def tags_and_servers(folder):
    """Those that the responses hold."""
    tags, servers = Counter(), Counter()
    for record in read_by_warcio(folder, "warc"):
        if record.rec_type != "response":
            continue
        headers = record.http_headers.headers
        values = {value.strip() for name, value in headers if name.lower() == "server" and value.strip()}
        servers.update(values or {None})
        page = record.content_stream().read()
        media_type = next((v for n, v in headers if n.lower() == "content-type"), "").split(";")[0].strip().lower()
        if media_type in HTML:
            if page[:2] in (b"\xff\xfe", b"\xfe\xff"):
                page = page.decode("utf-16").encode()
            tags.update(quick_tags(page))
    return tags, servers


def test_answers_of_tags_and_servers_are_what_the_responses_hold(crawl):
    folder, answers = crawl
    tags, servers = tags_and_servers(folder)
    assert dict(answers.tags) == tags
    assert dict(answers.servers) == servers
    assert len(tags) > 80
    assert len(servers) > 15
    assert None in servers


def test_answers_of_words_are_what_the_conversions_hold(crawl):
    folder, answers = crawl
    words = Counter()
    for record in read_by_warcio(folder, "wet"):
        if record.rec_type == "conversion":
            words.update(re.findall(r"\w+", record.content_stream().read().decode().lower()))
    assert dict(answers.words) == words
    assert len(words) > 10_000


def test_answers_of_servers_are_what_the_wat_holds(crawl):
    folder, answers = crawl
    servers = Counter()
    for fields, block in records(folder, "wat"):
        if fields["WARC-Type"] != "metadata":
            continue
        response = json.loads(block)["Envelope"]["Payload-Metadata"].get("HTTP-Response-Metadata")
        if response is not None:
            lists = [v if isinstance(v, list) else [v] for n, v in response["Headers"].items() if n.lower() == "server"]
            servers.update({value for values in lists for value in values if value} or {None})
    assert dict(answers.servers) == servers


def test_answers_are_sorted_and_stored_beside_the_crawl(crawl):
    folder, answers = crawl
    stored = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    assert list(stored) == ["tags", "servers", "words", "triples"]
    for name in stored:
        rows = [tuple(row) for row in stored[name]]
        assert rows == list(getattr(answers, name))
        keys = [json.dumps(key, ensure_ascii=False).encode() if key is not None else b"" for key, _ in rows]
        assert sorted(zip((-n for _, n in rows), keys, strict=True)) == list(
            zip((-n for _, n in rows), keys, strict=True)
        )


def test_tags_of_whole_pages_are_what_html5lib_finds(crawl):
    folder, _ = crawl
    read = 0
    for fields, block in records(folder, "warc"):
        head, _, body = block.partition(b"\r\n\r\n")
        if (
            fields["WARC-Type"] == "response"
            and body.startswith(b"<")
            and b"coding: " not in head
            and len(body) < 20_000
        ):
            assert read_markup(body.decode("utf-8", "replace")).tags == quick_tags(body)
            read += 1
    assert read > 20


# Records


def test_records_of_a_page_refer_to_each_other(crawl):
    folder, _ = crawl
    all_records = [fields for fields, _ in records(folder, "warc")]
    assert len(all_records) == FILES + 3 * PAGES
    info = None
    pages = [fields for fields in all_records if fields["WARC-Type"] != "warcinfo"]
    for request, response, metadata in zip(pages[::3], pages[1::3], pages[2::3], strict=True):
        assert (request["WARC-Type"], response["WARC-Type"], metadata["WARC-Type"]) == (
            "request",
            "response",
            "metadata",
        )
        assert response["WARC-Concurrent-To"] == request["WARC-Record-ID"]
        assert metadata["WARC-Concurrent-To"] == response["WARC-Record-ID"]
        assert request["WARC-Target-URI"] == response["WARC-Target-URI"] == metadata["WARC-Target-URI"]
        assert request["WARC-Date"] == response["WARC-Date"] == metadata["WARC-Date"]
    for fields in all_records:
        info = fields["WARC-Record-ID"] if fields["WARC-Type"] == "warcinfo" else info
        assert fields.get("WARC-Warcinfo-ID", info) == info
    assert len({fields["WARC-Record-ID"] for kind in DEFAULT_FORMATS for fields, _ in records(folder, kind)}) == sum(
        len(records(folder, kind)) for kind in DEFAULT_FORMATS
    )


def test_digests_are_true(crawl):
    folder, _ = crawl
    for kind in DEFAULT_FORMATS:
        for fields, block in records(folder, kind):
            assert fields["WARC-Block-Digest"] == sha1(block)
            payload = block.split(b"\r\n\r\n", 1)[1] if "http" in fields["Content-Type"] else block
            assert fields.get("WARC-Payload-Digest", sha1(payload)) == sha1(payload)


@pytest.mark.parametrize("kind", DEFAULT_FORMATS)
def test_fastwarc_and_warcio_read_the_same_records(crawl, kind):
    folder, _ = crawl
    fast = []
    for path in listed(folder, kind):
        with (folder / path).open("rb") as stream:
            fast += [
                (record.headers["WARC-Record-ID"], record.content_length, record.verify_block_digest())
                for record in FastIterator(stream, parse_http=False)
            ]
    slow = [(r.rec_headers["WARC-Record-ID"], r.length, True) for r in read_by_warcio(folder, kind)]
    assert fast == slow


def test_wat_has_a_record_for_each_warc_record_with_its_true_place(crawl):
    folder, _ = crawl
    for warc_path, wat_path in zip(listed(folder, "warc"), listed(folder, "wat"), strict=True):
        warc = members(folder / warc_path)
        wat = [split_record(content) for _, _, content in members(folder / wat_path)][1:]
        assert len(wat) == len(warc)
        for (offset, length, content), (fields, block) in zip(warc, wat, strict=True):
            described, described_block = split_record(content)
            envelope = json.loads(block)
            assert envelope["Container"] == {
                "Filename": Path(warc_path).name,
                "Compressed": True,
                "Offset": str(offset),
                "Gzip-Metadata": {
                    "Deflate-Length": str(length),
                    "Header-Length": "10",
                    "Footer-Length": "8",
                    "Inflated-CRC": str(int.from_bytes(zlib.crc32(content).to_bytes(4, "big"), "big", signed=True)),
                    "Inflated-Length": str(len(content)),
                },
            }
            assert dict(fields)["WARC-Refers-To"] == dict(described)["WARC-Record-ID"]
            about = envelope["Envelope"]
            assert list(about["WARC-Header-Metadata"].items()) == described
            assert int(about["WARC-Header-Length"]) == len(content) - len(described_block) - 4
            payload = about["Payload-Metadata"]
            assert payload["Actual-Content-Length"] == str(len(described_block))
            assert payload["Block-Digest"] == sha1(described_block)


def test_wat_of_responses_holds_their_headers_and_links(crawl):
    folder, _ = crawl
    responses = [block for fields, block in records(folder, "warc") if fields["WARC-Type"] == "response"]
    described = [
        json.loads(block)["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
        for _, block in records(folder, "wat")
        if b'"HTTP-Response-Metadata"' in block
    ]
    assert len(described) == len(responses) == PAGES
    repeated = links = 0
    for block, response in zip(responses, described, strict=True):
        head, body = block.split(b"\r\n\r\n", 1)
        status_line, *lines = head.decode().split("\r\n")
        message = response["Response-Message"]
        assert f"{message['Version']} {message['Status']} {message['Reason']}" == status_line
        pairs = [
            (name, v)
            for name, value in response["Headers"].items()
            for v in (value if isinstance(value, list) else [value])
        ]
        assert sorted(pairs) == sorted((name, value.strip()) for name, value in (line.split(":", 1) for line in lines))
        assert int(response["Headers-Length"]) + int(response["Entity-Length"]) == len(block)
        assert response["Entity-Digest"] == sha1(body)
        repeated += any(isinstance(value, list) for value in response["Headers"].values())
        if "HTML-Metadata" in response and b"coding: " not in head and body.startswith(b"<") and len(body) < 15_000:
            reading = read_markup(body.decode("utf-8", "replace"))
            found = [(link["path"], link["url"]) for link in response["HTML-Metadata"].get("Links", ())]
            assert found == reading.links
            links += len(found)
    assert repeated > 10
    assert links > 50


def test_wet_holds_the_text_of_the_pages(crawl):
    folder, _ = crawl
    responses = {
        f["WARC-Record-ID"]: (f, block) for f, block in records(folder, "warc") if f["WARC-Type"] == "response"
    }
    conversions = [(f, block) for f, block in records(folder, "wet") if f["WARC-Type"] == "conversion"]
    assert len(conversions) > PAGES * 0.8
    for fields, block in conversions:
        about, response = responses[fields["WARC-Refers-To"]]
        assert about["WARC-Target-URI"] == fields["WARC-Target-URI"]
        assert re.fullmatch("[a-z]{3}(,[a-z]{3})?", fields["WARC-Identified-Content-Language"])
        head, body = response.split(b"\r\n\r\n", 1)
        assert block.strip()
        if b"coding: " not in head and body.startswith(b"<") and len(body) < 10_000 and body.isascii():
            assert "".join(block.decode().split()) == "".join(read_markup(body.decode()).text.split())


def test_metadata_records_say_what_the_crawler_detected(crawl):
    folder, _ = crawl
    for fields, block in records(folder, "warc"):
        if fields["WARC-Type"] != "metadata":
            continue
        lines = dict(line.split(": ", 1) for line in block.decode().split("\r\n") if line)
        assert int(lines.pop("fetchTimeMs")) > 0
        if lines:
            assert list(lines) == ["charset-detected", "languages-cld2"]
            languages = json.loads(lines["languages-cld2"])
            assert languages["reliable"] is True
            assert {len(language["code-iso-639-3"]) for language in languages["languages"]} == {3}


# The same bytes


def inflated(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = hashlib.sha256(
                gzip.decompress(data) if path.suffix == ".gz" else data
            ).hexdigest()
    return found


def test_inflated_bytes_are_the_same_everywhere(tmp_path):
    # Made alike by Python 3.11, 3.12 and 3.13. It changes only when what pages are made of is changed on purpose.
    write_sample(tmp_path, pages=120, files=3, seed=11)
    whole = hashlib.sha256(json.dumps(inflated(tmp_path)).encode()).hexdigest()
    assert whole == "36776f3777ebe585e8e616ff3714e6353e1a0692f43ee0605f52d02aa2cb5598"


def test_realistic_crawl_has_true_answers_and_the_same_bytes_everywhere(tmp_path):
    answers = write_sample(tmp_path, pages=20, files=1, formats=("wet",), realistic=True)
    words = Counter()
    for fields, block in records(tmp_path, "wet"):
        if fields["WARC-Type"] == "conversion":
            words.update(re.findall(r"\w+", block.decode().lower()))
    assert dict(answers.words) == words
    whole = hashlib.sha256(json.dumps(inflated(tmp_path)).encode()).hexdigest()
    assert whole == "47f6ad6cace6b43b1fd921bf309ef6949c61fe0c14e509be8b0b4bc1c9fd122f"


@pytest.mark.slow
def test_realistic_crawl_goes_on_with_new_words_tags_and_servers(tmp_path):
    answers = {}
    for pages in (40, 80):
        answers[pages] = write_sample(tmp_path / f"{pages}", pages=pages, files=1, seed=3, realistic=True)
    tags, servers = tags_and_servers(tmp_path / "80")
    assert (dict(answers[80].tags), dict(answers[80].servers)) == (tags, servers)
    # Heaps' law with an exponent of 0.6 or more; of what is new, most is met once.
    assert len(answers[80].words) > 2**0.6 * len(answers[40].words)
    assert sum(number == 1 for _, number in answers[80].words) > len(answers[80].words) / 2
    assert sum("-" in name for name in tags) > 100
    assert sum("(node-" in (name or "") for name in servers) > 5


def test_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        write_sample(tmp_path / name, pages=12, files=2, seed=seed)
    one, two, other = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*") if p.is_file()}
        for n in ("one", "two", "other")
    )
    assert one == two
    assert one.keys() == other.keys()
    assert all(one[path] != other[path] for path in one if path.name.startswith(("CC-", "answers")))


def test_fewer_formats_write_the_same_files_and_the_same_answers(tmp_path):
    whole = write_sample(tmp_path / "all", pages=6, files=2)
    part = write_sample(tmp_path / "wat", pages=6, files=2, formats=("wat",))
    assert part == whole
    everything, some = inflated(tmp_path / "all"), inflated(tmp_path / "wat")
    assert some.items() <= everything.items()
    assert {path for path in everything if "/wat" in path or "segment.paths" in path} | {"answers.json"} == set(some)


# What cannot be


def test_folder_may_exist_if_it_is_empty(tmp_path):
    write_sample(tmp_path, pages=1, files=1)
    assert (tmp_path / "answers.json").exists()
    with pytest.raises(UsageError, match="not empty"):
        write_sample(tmp_path, pages=1, files=1)


def test_folder_that_is_a_file_or_below_one_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match="cannot be made"):
            write_sample(folder)
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"files": 0}, "number of files: expected 1 or more, got 0"),
        ({"pages": 2, "files": 3}, "number of pages: expected 3 or more, one for each file, got 2"),
        ({"pages": 0, "files": 1}, "got 0"),
        ({"formats": ()}, "got none"),
        ({"formats": ("warc", "arx")}, "expected some of warc, wat, wet, index, arc, metadata, text, got arx"),
    ],
)
def test_impossible_options_are_refused_before_anything_is_written(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        write_sample(tmp_path / "crawl", **options)
    assert not (tmp_path / "crawl").exists()


def test_every_file_has_a_page_with_text_however_few_there_are(tmp_path):
    write_sample(tmp_path, pages=7, files=7, seed=2)
    assert len(listed(tmp_path, "warc")) == 7
    assert len(listed(tmp_path, "segment")) == 4
    for path in listed(tmp_path, "wet"):
        assert [dict(split_record(c)[0])["WARC-Type"] for _, _, c in members(tmp_path / path)] == [
            "warcinfo",
            "conversion",
        ]


def test_progress_is_told_after_each_page(tmp_path):
    told = []
    write_sample(tmp_path, pages=3, files=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_interrupted_run_leaves_neither_answers_nor_half_files(tmp_path):
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_sample(tmp_path, pages=4, files=2, progress=stop)
    assert sorted(path.parent.name for path in tmp_path.rglob("*") if path.is_file()) == ["warc", "wat", "wet"]
    assert not (tmp_path / "answers.json").exists()


def test_a_failing_disk_is_a_source_error_that_names_the_file(tmp_path):
    def spoil(done: int, total: int) -> None:
        if done == 1:
            (tmp_path / ROOT / "warc.paths.gz.part").mkdir()  # a file cannot be opened where a folder stands

    with pytest.raises(SourceError, match=r"could not be written.*warc\.paths\.gz") as caught:
        write_sample(tmp_path, pages=1, files=1, progress=spoil)
    assert caught.value.reason == "unavailable"
