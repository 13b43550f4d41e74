"""The catalogue of crawls, and what is taken of a path list."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter

import pytest

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs import catalogue
from crawlmill.inputs.catalogue import (
    Catalogue,
    Crawl,
    load_catalogue,
    of_segment,
    per_segment,
    read_paths,
    sample,
    sibling,
)
from crawlmill.storage import Storage, StorageOptions

IDS = ["CC-MAIN-2026-04", "CC-MAIN-2025-51", "CC-MAIN-2025-47", "CC-MAIN-2012", "CC-MAIN-2008-2009"]
KEYS = [
    f"crawl-data/CC-MAIN-2026-04/segments/17{s}.{s}/warc/CC-MAIN-{s}-{n:05}.warc.gz"
    for s in range(3)
    for n in range(20)
]


@pytest.fixture
def storage(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    return Storage(StorageOptions(retries=0))


@pytest.fixture
def mirror(tmp_path):
    """A folder with a catalogue and the WARC list of one crawl."""
    folder = tmp_path / "mirror"
    lists = folder / "crawl-data" / IDS[0]
    lists.mkdir(parents=True)
    rows = [
        {"id": name, "name": f"{name} Index", "from": "2026-01-05T00:00:00", "to": "2026-01-19T00:00:00"}
        for name in IDS
    ]
    (folder / "collinfo.json").write_text(json.dumps(rows))
    (lists / "warc.paths.gz").write_bytes(gzip.compress("".join(f"{key}\n" for key in KEYS).encode(), mtime=0))
    return folder


def crawls(stale=False):
    return Catalogue(tuple(Crawl(name, name) for name in IDS), "a test", stale=stale)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("latest", IDS[:1]), ("latest:3", IDS[:3]), ("2025", IDS[1:3]), ("2008", IDS[4:]), ("2009", IDS[4:]), ("2012", IDS[3:4]),
     ("cc-main-2025-51", IDS[1:2]), ("all", IDS), ("CC-NEWS-2024-05", ["CC-NEWS-2024-05"])],
)  # fmt: skip
def test_name_selects_crawls(name, expected):
    assert [crawl.id for crawl in crawls().select(name)] == expected


def test_unknown_crawl_is_a_mistake_that_names_near_ones():
    with pytest.raises(UsageError, match=r"no crawl CC-MAIN-2026-05 in a test.*CC-MAIN-2026-04"):
        crawls().select("CC-MAIN-2026-05")
    assert [crawl.id for crawl in crawls(stale=True).select("CC-MAIN-2026-05")] == ["CC-MAIN-2026-05"]
    with pytest.raises(UsageError):
        crawls(stale=True).select("CC-MAIN-1999-01")


def test_catalogue_of_a_mirror_is_read(storage, mirror):
    found = load_catalogue(storage, str(mirror))
    assert [crawl.id for crawl in found.crawls] == IDS
    assert found.crawls[0].first == "2026-01-05T00:00:00"
    assert not found.stale


def test_catalogue_that_is_none_is_an_error(storage, mirror):
    (mirror / "collinfo.json").write_text('{"not": "a list"}')
    with pytest.raises(FormatError, match="no list of crawls"):
        load_catalogue(storage, str(mirror))
    with pytest.raises(SourceError):
        load_catalogue(storage, str(mirror / "nowhere"))


def test_without_a_server_the_bundled_list_stands_in(storage, monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "INDEX_URL", f"{(tmp_path / 'nowhere').as_uri()}/")
    found = load_catalogue(storage)
    assert found.stale
    assert found.crawls[0].id == "CC-MAIN-2023-14"
    assert found.crawls[-1].id == "CC-MAIN-2008-2009"
    assert len(found.crawls) == 94


def test_catalogue_is_kept_for_a_day(storage, mirror, monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "INDEX_URL", f"{mirror.as_uri()}/")
    assert len(load_catalogue(storage).crawls) == len(IDS)
    (mirror / "collinfo.json").write_text("[]")
    cached = tmp_path / "cache/crawlmill/collinfo.json"
    assert len(load_catalogue(storage).crawls) == len(IDS)
    os.utime(cached, (0, 0))
    assert load_catalogue(storage).crawls == ()


def test_paths_are_those_of_the_list(storage, mirror):
    assert list(read_paths(storage, Crawl(IDS[0], ""), "warc", base_url=str(mirror), segment=None)) == KEYS


def test_list_that_a_crawl_has_not_is_a_mistake_that_names_those_it_has(storage, mirror):
    with pytest.raises(UsageError, match=f"{IDS[0]} has no list of wet files; it has warc$"):
        list(read_paths(storage, Crawl(IDS[0], ""), "wet", base_url=str(mirror), segment=None))
    with pytest.raises(UsageError, match="no kind of list nonsense"):
        list(read_paths(storage, Crawl(IDS[0], ""), "nonsense", base_url=str(mirror), segment=None))
    with pytest.raises(UsageError, match="CC-MAIN-2008-2009 has no text files: it has arc"):
        list(read_paths(storage, Crawl(IDS[4], ""), "text", base_url=str(mirror), segment=None))


def test_old_crawls_are_listed_from_their_folders(storage, tmp_path):
    for name in ("parse-output/segment/134/metadata-00000", "parse-output/segment/134/134_0.arc.gz",
                 "parse-output/segment/135/metadata-00001", "parse-output/segment/135/textData-00001",
                 "parse-output/segment/999/metadata-00000", "crawl-001/2008/06/19/0/1213886083018_0.arc.gz"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "parse-output/valid_segments.txt").write_text("134\n135\n")

    def paths(crawl, kind, segment=None):
        return list(read_paths(storage, Crawl(crawl, ""), kind, base_url=str(tmp_path), segment=segment))

    assert paths("CC-MAIN-2012", "metadata") == [
        "parse-output/segment/134/metadata-00000",
        "parse-output/segment/135/metadata-00001",
    ]
    assert paths("CC-MAIN-2012", "metadata", "999") == ["parse-output/segment/999/metadata-00000"]
    assert paths("CC-MAIN-2012", "arc") == ["parse-output/segment/134/134_0.arc.gz"]
    assert paths("CC-MAIN-2008-2009", "arc") == ["crawl-001/2008/06/19/0/1213886083018_0.arc.gz"]


def test_segment_and_per_segment_take_by_the_key():
    assert list(of_segment(KEYS, "171.1")) == KEYS[20:40]
    assert list(per_segment(KEYS, 2)) == [*KEYS[:2], *KEYS[20:22], *KEYS[40:42]]


def test_sample_is_uniform_in_order_and_repeatable():
    assert sample(KEYS, 5, 3) == sample(KEYS, 5, 3)
    assert sample(KEYS, 5, 3) != sample(KEYS, 5, 4)
    assert sample(KEYS, 100, 1) == KEYS
    assert sorted(sample(KEYS, 7, 2), key=KEYS.index) == sample(KEYS, 7, 2)
    taken = Counter(key for seed in range(600) for key in sample(KEYS, 6, seed))
    assert len(taken) == len(KEYS)
    assert 30 < min(taken.values()) <= max(taken.values()) < 95  # 60 expected, standard deviation 7.3


def test_sibling_is_the_file_of_the_same_pages():
    for kind, suffix in (("wat", ".warc.wat.gz"), ("wet", ".warc.wet.gz"), ("warc", ".warc.gz")):
        expected = KEYS[0].replace("/warc/", f"/{kind}/").replace(".warc.gz", suffix)
        assert sibling(KEYS[0], kind) == expected
        assert sibling(expected, "warc") == KEYS[0]
    with pytest.raises(UsageError):
        sibling("crawl-data/x/segment.paths.gz", "wat")
