"""The sibling index is the same with either core: ids, dates and places of usual and of odd records."""

from __future__ import annotations

import json
import random
import shutil

import pyarrow.parquet as pq
import pytest
from tests import builders
from tests.mr.helpers import rows, run_here
from tests.native.cores import using
from tests.native.test_same_reading import mutated

from crawlmill.extraction.beside import with_siblings
from crawlmill.inputs.reading import ReadOptions
from crawlmill.jobs.sibling_index import SiblingIndex
from crawlmill.storage import Storage

pytest.importorskip("crawlmill_native", reason="the native core is not installed")

URL = "http://example.org/{}"
ID = "<urn:uuid:00000000-0000-4000-8000-{:012}>"

DATES = [
    "Fri, 02 Jan 2026 03:04:05 GMT", "Thu, 29 Feb 2024 23:59:59 GMT", "Thu, 29 Feb 2023 23:59:59 GMT",
    "Sun, 31 Dec 1899 00:00:00 GMT", "Fri, 2 Jan 2026 03:04:05 GMT", "Friday, 02-Jan-26 03:04:05 GMT",
    "fri, 02 jan 2026 03:04:05 gmt", "Fri, 02 Jan 2026 03:04:60 GMT", "Fri, 02 Jan 2026 24:04:05 GMT",
    "Fri, 02 Jan 2026 03:04:05 +0200", "Fri, 02 Jan 2026 03:04:05", "Fri, 31 Sep 2026 03:04:05 GMT",
    "Fri, 02 Jan 0026 03:04:05 GMT", "Fri, 02 Mai 2026 03:04:05 GMT", "", "never", "Fri, 02 Jan 2026 03:04:05 GMT x",
]  # fmt: skip
REFERENCES = [
    "{}", " \t{}", "{} x", "urn:uuid:{bare}", "{bare}", "<URN:UUID:{bare}>", "<{bare}", "<>", "<urn:uuid:>", "",
    "{}\r\nWARC-Refers-To: {}", "{}\r\n more", "{}\xe9", "<urn:uuid:none>",
]  # fmt: skip


def response(number, *headers, name=None):
    made = builders.response(URL.format(number), b"x", [("Content-Type", "text/html"), *headers])
    start = made.index(b"WARC-Record-ID: ")
    name = (ID.format(number) if name is None else name).encode()
    return made[:start] + b"WARC-Record-ID: " + name + made[made.index(b"\r\n", start) :]


def about(kind, number, *references):
    """A WAT or WET record of a page, with these values of WARC-Refers-To."""
    fields = tuple(("WARC-Refers-To", each) for each in references)
    if kind == "wet":
        return builders.conversion(URL.format(number), "text", *fields)
    said = {"Envelope": {"WARC-Header-Metadata": {"WARC-Type": "response"}}}
    return builders.record("metadata", json.dumps(said).encode(), URL.format(number), "application/json", fields=fields)


def referring(kind, number, form):
    name = ID.format(number)
    made = about(kind, number, "REFERENCE")
    return made.replace(b"REFERENCE", form.format(name, name, bare=name[10:-1]).encode("latin-1"))


def write(folder, **files):
    for kind, data in files.items():
        (folder / ("a.warc.gz" if kind == "warc" else f"a.warc.{kind}.gz")).write_bytes(data)
    (folder / "x.paths").write_text("a.warc.gz\n")


def both(folder, *options):
    """The table and the ledger row, after they were compared."""
    found = []
    for core in ("python", "native"):
        with using(core):
            out = folder / core
            shutil.rmtree(out, ignore_errors=True)
            ended = run_here(SiblingIndex, "-r", "inline", folder / "x.paths", "--output-dir", out, *options)
            table = [row for path in out.glob("crawl=*/*.parquet") for row in pq.read_table(path).to_pylist()]
            found.append((ended.code, table, rows(out / "_ledger.jsonl")))
    assert found[0] == found[1]
    (row,) = found[0][2].values()
    return found[0][1], row


@pytest.mark.parametrize("options", [(), ("--verify",)])
def test_ids_and_dates_of_all_kinds_are_the_same(tmp_path, options):
    pages = [response(number, ("Last-Modified", date)) for number, date in enumerate(DATES, 100)]
    names = ["", "<>", "<urn:uuid:", "a", "<a>>", 'a"b\\', "<urn:uuid:\xe9>", ID.format(100)]
    pages += [response(number, name=name) for number, name in enumerate(names, 200)]
    write(tmp_path, warc=builders.pack([builders.warcinfo(), *pages]))
    table, row = both(tmp_path, "--siblings", "", *options)
    assert (len(table), row["lost"]) == (len(DATES) + len(names), {})
    assert (
        str(next(row["last_modified"] for row in table if row["url"].endswith("/100"))) == "2026-01-02 03:04:05+00:00"
    )


@pytest.mark.parametrize("kind", ["wat", "wet"])
@pytest.mark.parametrize("name", [None, ""])
def test_references_of_all_kinds_lead_to_the_same_pages(tmp_path, kind, name):
    numbers = range(len(REFERENCES))
    records = [referring(kind, number, form) for number, form in enumerate(REFERENCES)]
    records += [about(kind, 0, ID.format(0)), about(kind, 3), about(kind, 8)]  # again, and without a reference
    pages = [response(number, name=name) for number in numbers]
    write(tmp_path, warc=builders.pack(pages), **{kind: builders.pack([builders.warcinfo(), *records])})
    table, _ = both(tmp_path, "--siblings", kind)
    assert any(row[f"{kind}_filename"] for row in table) == (kind == "wet" or name is None)


@pytest.mark.slow
def test_damaged_and_mutated_files_are_joined_alike(tmp_path):
    dice = random.Random(5)
    pages = [response(number, ("Last-Modified", DATES[0])) for number in range(6)]
    files = {
        kind: builders.pack([builders.warcinfo(), *(referring(kind, n, "{}") for n in range(6))])
        for kind in ("wat", "wet")
    }
    files["warc"] = builders.pack([builders.warcinfo(), *pages])
    damaged = 0
    for _ in range(60):
        kind = dice.choice(list(files))
        changes = [(dice.choice(["flip", "cut", "insert"]), dice.random(), dice.randrange(256)) for _ in range(2)]
        write(tmp_path, **files | {kind: mutated(files[kind], changes)})
        damaged += bool(both(tmp_path)[1]["lost"])
    assert damaged > 10


def test_usual_records_do_not_reach_python(tmp_path):
    many = range(400)
    write(tmp_path, wat=builders.pack([builders.warcinfo(), *(referring("wat", n, "{}") for n in many)]))
    seen, lost = [], []

    def watch(reading):
        for record in reading:
            seen.append(record)
            yield record

    lines = [
        b'org,example)/%d 20260105100000 {"url": "x", "recordid": "%s"}\n' % (n, ID.format(n)[10:-1].encode())
        for n in many
    ]
    with using("native"):
        found = list(
            with_siblings(
                lines, str(tmp_path / "a.warc.gz"), ["wat"], Storage(), ReadOptions(heads_only=True),
                name_of=str, watch=watch, complete=lambda: True, lose=lost.append,
            )
        )  # fmt: skip
    assert (len(found), lost) == (len(many), [])
    assert all(b'"wat": [' in line for line in found)
    assert len(seen) <= 2
