"""Both cores read the same out of every archive, whole, cut, flipped or forged: rows, contents, reasons, offsets, counts."""

from __future__ import annotations

import io
import os
import random
import sys
import zlib
from itertools import chain

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import conversion, gzip_member, metadata, pack, pages, record, request, response, warcinfo
from tests.data import shared
from tests.native.cores import using

import crawlmill
from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage

pytest.importorskip("crawlmill_native", reason="the native core is not installed")

WAYS = [{}, {"heads_only": True}, {"types": frozenset(["response"])}, {"types": frozenset(), "heads_only": True}]


class Trickle(io.BytesIO):
    """A source that gives at most so many bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self.most = most

    def read(self, n=-1, /):
        return super().read(min(n, self.most))


@pytest.fixture
def on(monkeypatch):
    """Chooses a core."""

    def choose(name):
        monkeypatch.setenv("CRAWLMILL_CORE", name)
        core.native.cache_clear()

    yield choose
    core.native.cache_clear()


def read(data, *, types=None, heads_only=False, most=None):
    """All that a reading gives: (rows, [(reason, offset, message)], formats, records in all)."""
    rows, problems, formats, left_out = [], [], [], []
    others = 0
    source = io.BytesIO(data) if most is None else Trickle(data, most)
    records = read_archive(
        source,
        types=types,
        heads_only=heads_only,
        on_left_out=left_out.append,
        on_problem=problems.append,
        on_format=formats.append,
    )
    try:
        for found in records:
            try:
                block = b"".join(found.block.pieces())
            except FormatError as error:
                block = error.reason
            if types is not None and found.type not in types:
                others += 1  # the Python core gives them
                continue
            rows.append((found.offset, found.length, found.index, found.type, found.head, block, found.content_length))
    except FormatError as error:
        problems.append(error)
    found = [(problem.reason, problem.offset, str(problem)) for problem in problems]
    return rows, found, formats, len(rows) + others + sum(left_out)


def assert_same(on, data, **options):
    on("python")
    wanted = read(data, **options)
    on("native")
    assert read(data, **options) == wanted
    return wanted


CONTENTS = [*pages(2), response("http://example.org/long", b"<p>" * 3000), conversion("http://example.org/", "Wörter")]
ARCHIVE = pack(CONTENTS)


@pytest.mark.parametrize("options", WAYS)
def test_cut_archive_is_read_the_same(on, options):
    for end in range(len(ARCHIVE)):
        assert_same(on, ARCHIVE[:end], **options)


@pytest.mark.parametrize("options", WAYS[:3])
def test_flipped_archive_is_read_the_same(on, options):
    lost = 0
    for at in range(len(ARCHIVE)):
        flipped = bytearray(ARCHIVE)
        flipped[at] ^= 1 << at % 8
        lost += bool(assert_same(on, bytes(flipped), **options)[1])
    assert lost > len(ARCHIVE) / 3


@pytest.mark.parametrize("most", [1, 7, 100, 4096])
def test_size_of_reads_changes_nothing(on, most):
    for options in WAYS:
        assert assert_same(on, ARCHIVE, most=most, **options) == read(ARCHIVE, **options)


DICTIONARY = zstandard.ZstdCompressionDict(b"".join(CONTENTS[:3]), dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def frames(**options):
    """The archive as Zstandard frames, behind their dictionary if they have one."""
    compressor = zstandard.ZstdCompressor(**options)
    data = b"".join(compressor.compress(content) for content in CONTENTS)
    if "dict_data" in options:
        data = b"\x5d\x2a\x4d\x18" + len(DICTIONARY.as_bytes()).to_bytes(4, "little") + DICTIONARY.as_bytes() + data
    return data


FRAMES = [
    {"write_checksum": True},
    {"write_checksum": False},
    {"write_checksum": True, "write_content_size": False},
    {"write_checksum": True, "dict_data": DICTIONARY},
]


@pytest.mark.parametrize("how", FRAMES)
def test_frames_are_read_the_same_whole_cut_and_flipped(on, how):
    whole, draw = frames(**how), random.Random(7)
    cases = [whole, *(whole[:end] for end in range(0, len(whole), 41))]
    for at in range(0, len(whole), 23):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << draw.randrange(8)
        cases.append(bytes(flipped))
    found = {}
    for name in ("python", "native"):
        on(name)
        found[name] = [read(data, **options) for data in cases for options in WAYS]
    for _, problems, _, _ in chain(*found.values()):
        # What zstd says of damage depends on which frames it has read before.
        problems[:] = [(*place, text.partition(": got")[0]) for *place, text in problems]
    assert found["native"] == found["python"]
    assert all((problems, records) == ([], len(CONTENTS)) for _, problems, _, records in found["native"][: len(WAYS)])
    assert sum(bool(problems) for _, problems, _, _ in found["native"]) > len(WAYS)


def test_frames_come_natively(on):
    on("native")
    reader = core.native().RecordReader(None, 0, 1 << 20, None, b"")
    data = frames(write_checksum=False)
    at, passed, rows = reader.read(data, 0, True)
    assert (at, passed, len(rows), reader.unproven(), reader.unproven()) == (
        len(data),
        0,
        len(CONTENTS),
        len(CONTENTS),
        0,
    )


def lying(content: bytes, *, crc: int | None = None, size: int | None = None, header: bytes | None = None) -> bytes:
    """A member with another checksum, length or header than its own."""
    member = bytearray(gzip_member(content))
    if crc is not None:
        member[-8:-4] = crc.to_bytes(4, "little")
    if size is not None:
        member[-4:] = size.to_bytes(4, "little")
    return (header or bytes(member[:10])) + bytes(member[10:])


def head(fields: str, block: bytes = b"block", version: str = "WARC/1.0") -> bytes:
    return f"{version}\r\n{fields}\r\n\r\n".encode() + block + b"\r\n\r\n"


USUAL = "WARC-Type: response\r\nContent-Length: 5"
LONG = response("http://example.org/x", random.Random(1).randbytes(9000))
HOSTILE = {
    "nothing in a member": gzip_member(b""),
    "huge ISIZE": lying(CONTENTS[1], size=0xFFFFFFFF),
    "ISIZE of 16 MiB": lying(CONTENTS[1], size=16 << 20),
    "ISIZE too small": lying(CONTENTS[1], size=len(CONTENTS[1]) - 1),
    "ISIZE 0": lying(CONTENTS[1], size=0),
    "ISIZE of the heads": lying(LONG, size=3072),
    "ISIZE beyond the heads": lying(CONTENTS[1], size=4000),
    "wrong CRC": lying(CONTENTS[1], crc=1),
    "wrong CRC of a long one": lying(LONG, crc=1),
    "extra field beyond the end": lying(CONTENTS[1], header=b"\x1f\x8b\x08\x04" + bytes(6) + b"\xff\xff"),
    "name without an end": b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 300,
    "reserved flag": lying(CONTENTS[1], header=b"\x1f\x8b\x08\x20" + bytes(6)),
    "checksum of the header": gzip_member(CONTENTS[1], header_crc=True),
    "name, comment and extra field": gzip_member(LONG, name=b"n", comment=b"c", extra=b"\x1f\x8b\x08\0" * 3),
    "ISIZE again behind the end": gzip_member(CONTENTS[1]) + len(CONTENTS[1]).to_bytes(4, "little"),
    "trailer again behind the end": gzip_member(CONTENTS[1]) * 1 + gzip_member(CONTENTS[1])[-8:],
    "zeros between": gzip_member(CONTENTS[1]) + bytes(100),
    "three bytes of a member": b"\x1f\x8b\x08",
    "a stored member full of members": gzip_member(response("http://x/", pack(CONTENTS)), level=0),
    "two records in a member": gzip_member(CONTENTS[1] + CONTENTS[2]),
    "Content-Length of 18 nines": gzip_member(head(USUAL.replace(": 5", ": " + "9" * 18))),
    "Content-Length of 2 to the 63rd": gzip_member(head(USUAL.replace(": 5", ": 9223372036854775808"))),
    "Content-Length of 2 to the 64th": gzip_member(head(USUAL.replace(": 5", ": 18446744073709551616"))),
    "negative Content-Length": gzip_member(head(USUAL.replace(": 5", ": -5"))),
    "signed Content-Length": gzip_member(head(USUAL.replace(": 5", ": +5"))),
    "Content-Length with zeros": gzip_member(head(USUAL.replace(": 5", ": 0005"))),
    "Content-Length in Arabic digits": gzip_member(head(USUAL.replace(": 5", ": \u0665"))),
    "two equal Content-Lengths": gzip_member(head(f"{USUAL}\r\nContent-Length: 5")),
    "two Content-Lengths": gzip_member(head(f"{USUAL}\r\ncontent-length: 6")),
    "two types": gzip_member(head(f"{USUAL}\r\nWARC-Type: request")),
    "type in upper case": gzip_member(head(USUAL.replace("response", "RESPONSE"))),
    "type of its own": gzip_member(head(USUAL.replace("response", "poem"))),
    "type with a blank": gzip_member(head(USUAL.replace("response", "response "))),
    "no type": gzip_member(head("Content-Length: 5")),
    "no length": gzip_member(head("WARC-Type: response")),
    "no fields": gzip_member(head("")),
    "length 0": gzip_member(head(USUAL.replace(": 5", ": 0"), b"")),
    "other version": gzip_member(head(USUAL, version="WARC/0.18")),
    "LF alone": gzip_member(head(USUAL).replace(b"\r\n", b"\n")),
    "folded line": gzip_member(head(f"WARC-Type: response\r\n Content-Length: 9\r\n{USUAL}")),
    "block too long": gzip_member(head(USUAL, b"blocks")),
    "block too short": gzip_member(head(USUAL, b"bloc")),
    "closed by other bytes": gzip_member(head(USUAL)[:-1] + b" "),
    "not closed": gzip_member(head(USUAL)[:-4]),
    "header without an end": gzip_member(f"WARC/1.0\r\n{USUAL}\r\n".encode() * 3000),
    "a header of a megabyte": gzip_member(head(f"{USUAL}\r\nX: {'x' * (1 << 20)}")),
    "almost deflate": b"\x1f\x8b\x08\0" + bytes(6) + b"\x07" * 50,
    "raw deflate behind a header": b"\x1f\x8b\x08\0" + bytes(6) + zlib.compress(CONTENTS[1])[2:-4] + bytes(8),
}


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("part", [pytest.param(part, id=name) for name, part in HOSTILE.items()])
def test_hostile_member_is_read_the_same_wherever_it_stands(on, part, options):
    sound = [gzip_member(content) for content in CONTENTS[:4]]
    for data in (part, *(b"".join([*sound[:at], part, *sound[at:]]) for at in range(1, len(sound) + 1))):
        assert_same(on, data, **options)


SOUND = [gzip_member(content) for content in (*CONTENTS, request("http://x/"), metadata("http://x/"), warcinfo(), LONG)]
parts = st.lists(st.sampled_from([*SOUND * 6, *HOSTILE.values()]), min_size=1, max_size=8).map(b"".join)
mutations = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "insert", "remove", "zero", "copy"]), st.floats(0, 1), st.integers(0, 300)
    ),
    max_size=3,
)


def mutated(data: bytes, changes) -> bytes:
    for kind, place, number in changes:
        at = int(place * len(data))
        found = data[at : at + number]
        if kind == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << number % 8]) + data[at + 1 :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "insert":
            data = data[:at] + random.Random(number).randbytes(number) + data[at:]
        elif kind == "remove":
            data = data[:at] + data[at + number :]
        elif kind == "zero":
            data = data[:at] + bytes(len(found)) + data[at + number :]
        elif kind == "copy":
            data = data[:at] + found + data[at:]
    return data


@settings(derandomize=True, deadline=None, database=None, max_examples=600)
@given(parts, mutations, st.sampled_from(WAYS), st.sampled_from([None, None, 11, 3000]))
def test_mutated_archive_is_read_the_same(data, changes, options, most):

    def on(name):
        os.environ["CRAWLMILL_CORE"] = name
        core.native.cache_clear()

    with using("python"):  # and what there was, after `on`
        assert_same(on, mutated(data, changes), most=most, **options)


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(heads_only=True), ReadOptions(verify=True)])
@pytest.mark.parametrize("types", [None, frozenset(["response"]), frozenset(["conversion"])])
def test_ledger_row_is_the_same(on, tmp_path, options, types):
    file = tmp_path / "x.warc.gz"
    for data in (ARCHIVE, ARCHIVE[:-9], ARCHIVE[:700] + b"\0" + ARCHIVE[701:], *list(HOSTILE.values())[:12]):
        file.write_bytes(data)
        found = []
        for name in ("python", "native"):
            on(name)
            reading = Reading(Input(str(file), str(file)), Storage(), options, Selection(types=types))
            given = [(rec.offset, rec.type) for rec in reading]
            found.append((given, reading.row.to_json()))
        assert found[0] == found[1]


def test_format_that_a_job_does_not_count_ends_the_reading_at_once(on, tmp_path):
    file = tmp_path / "x.warc.gz"
    file.write_bytes(pack([warcinfo(), *(conversion("http://x/", str(n)) for n in range(5))]))
    rows = []
    for name in ("python", "native"):
        on(name)
        reading = Reading(Input("x", str(file)), Storage(), selection=Selection(frozenset(["warc"])))
        assert list(reading) == [] or name  # the warcinfo may be given
        rows.append(reading.row.to_json())
    assert rows[0] == rows[1]
    assert rows[0]["lost"] == {"unsupported-format": 1}


def test_more_than_one_call_takes_is_read_to_its_end(on):
    body = b"<p>text</p>" * 100_000
    data = pack([warcinfo(), *(response(f"http://x/{n}", body) for n in range(20))], level=1)
    rows, problems, _, count = assert_same(on, data, types=frozenset(["response"]))
    assert (len(rows), problems, count) == (20, [], 21)


@pytest.mark.parametrize("before", [1, 200_000, 1_000_000])
def test_member_of_eight_mebibytes_is_read_the_same(on, before):
    noise = random.Random(1).randbytes(9 << 20)
    parts = [gzip_member(response("http://e.org/", noise[:size])) for size in (9, before, 9 << 20)]
    parts[2] = parts[2][: 5 << 20] + bytes([parts[2][5 << 20] ^ 1]) + parts[2][(5 << 20) + 1 :]
    _, problems, *_ = assert_same(on, b"".join([*parts, *parts[:2]]), heads_only=True)
    assert [offset for _, offset, _ in problems] == [len(parts[0]) + len(parts[1])]


def test_real_files_are_read_the_same(on):
    for name in ("whirlwind.warc.gz", "whirlwind.warc.wat.gz", "whirlwind.warc.wet.gz"):
        data = shared(f"commoncrawl/{name}").read_bytes()
        for options in WAYS:
            assert assert_same(on, data, **options)[1] == []


def test_record_of_another_version_and_length_is_given_by_the_python_reader(on):
    strange = record("response", b"x" * 70, "http://x/", version="0.17")
    rows, problems, _, _ = assert_same(on, pack([*CONTENTS, strange, *CONTENTS]))
    assert len(rows) == 2 * len(CONTENTS) + 1
    assert problems == []


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_record_costs_few_calls(tmp_path, coding):
    """What a record of the native core costs in Python is calls, and they are counted: times depend on the machine."""
    path = tmp_path / "some.warc"
    pack_one = gzip_member if coding == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress

    def calls(count):
        path.write_bytes(b"".join(map(pack_one, [warcinfo(), *pages(count)])))
        counted = 0

        def count_call(frame, event, argument):
            nonlocal counted
            counted += event == "call"

        with crawlmill.open_archive(path) as archive:
            sys.setprofile(count_call)
            try:
                records = sum(1 for record in archive for piece in record.block.pieces())
            finally:
                sys.setprofile(None)
        return records, counted

    (few, less), (many, more) = calls(100), calls(300)
    assert (more - less) / (many - few) < 18
