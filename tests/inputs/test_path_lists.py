"""The path lists of crawls, and what is taken of them."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest
from tests.storage.faults import FaultServer, Thing

from crawlmill.errors import UsageError
from crawlmill.inputs.common_crawl.catalogue import Crawl
from crawlmill.inputs.common_crawl.path_lists import KINDS, of_segment, per_segment, read_paths, sample, sibling
from crawlmill.storage import Storage, StorageOptions

IDS = ["CC-MAIN-2026-04", "CC-MAIN-2025-51", "CC-MAIN-2025-47", "CC-MAIN-2012", "CC-MAIN-2008-2009"]
KEYS = [
    f"crawl-data/CC-MAIN-2026-04/segments/17{s}.{s}/warc/CC-MAIN-{s}-{n:05}.warc.gz"
    for s in range(3)
    for n in range(20)
]


@pytest.fixture
def storage(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    return Storage(StorageOptions(retries=0))


@pytest.fixture
def mirror(tmp_path):
    """A folder with the WARC list of one crawl."""
    folder = tmp_path / "mirror"
    lists = folder / "crawl-data" / IDS[0]
    lists.mkdir(parents=True)
    (lists / "warc.paths.gz").write_bytes(gzip.compress("".join(f"{key}\n" for key in KEYS).encode(), mtime=0))
    return folder


def test_paths_are_those_of_the_list(storage, mirror):
    assert list(read_paths(storage, Crawl(IDS[0], ""), "warc", base_url=str(mirror), segment=None)) == KEYS


def test_list_that_a_crawl_has_not_is_a_mistake_that_names_those_it_has(storage, mirror):
    with pytest.raises(UsageError, match=f"{IDS[0]} has no list of wet files; it has warc$"):
        list(read_paths(storage, Crawl(IDS[0], ""), "wet", base_url=str(mirror), segment=None))
    with pytest.raises(UsageError, match=f"{IDS[0]} has no list of nonsense files; it has warc$"):
        list(read_paths(storage, Crawl(IDS[0], ""), "nonsense", base_url=str(mirror), segment=None))
    with pytest.raises(UsageError, match="CC-MAIN-2008-2009 has no text files: it has arc"):
        list(read_paths(storage, Crawl(IDS[4], ""), "text", base_url=str(mirror), segment=None))


def test_crawl_without_any_list_is_told(storage, mirror):
    with pytest.raises(UsageError, match=f"CC-MAIN-2020-05 has no list of warc files; nor any other below {mirror}$"):
        list(read_paths(storage, Crawl("CC-MAIN-2020-05", ""), "warc", base_url=str(mirror), segment=None))


@pytest.mark.parametrize("kind", ["arc", "text", "../../secret"])
def test_kind_of_other_times_names_the_lists_that_there_are(storage, mirror, kind):
    (mirror / "crawl-data" / IDS[0] / "cc-index.paths.gz").write_bytes(gzip.compress(b"cc-index/x\n"))
    with pytest.raises(UsageError, match=r"has no list of .* files; it has warc, cc-index$"):
        list(read_paths(storage, Crawl(IDS[0], ""), kind, base_url=str(mirror), segment=None))


def test_server_that_is_down_is_asked_once_which_lists_it_has():
    thing = Thing(every=(503, {}))
    with FaultServer({f"/crawl-data/{IDS[0]}/{kind}.paths.gz": thing for kind in KINDS}) as web:
        with pytest.raises(UsageError, match=r"has no list of arc files; it does not say which it has: HTTP 503"):
            list(
                read_paths(Storage(StorageOptions(retries=0)), Crawl(IDS[0], ""), "arc", base_url=web.url, segment=None)
            )
        assert len(web.seen) == 1


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0), gzip.compress(b"# nothing\n\n", mtime=0)])
def test_list_that_is_empty_is_told(storage, mirror, data):
    path = mirror / "crawl-data" / IDS[0] / "wet.paths.gz"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=f"the list of wet files of {IDS[0]} is empty") as caught:
        list(read_paths(storage, Crawl(IDS[0], ""), "wet", base_url=str(mirror), segment=None))
    assert caught.value.source == str(path)


def test_month_of_news_has_a_list_of_its_own(storage, tmp_path):
    folder = tmp_path / "crawl-data/CC-NEWS/2024/05"
    folder.mkdir(parents=True)
    (folder / "warc.paths.gz").write_bytes(gzip.compress(b"crawl-data/CC-NEWS/2024/05/x.warc.gz\n"))
    for name in ("CC-NEWS-2024-05", "CC-NEWS/2024/05"):
        found = read_paths(storage, Crawl(name, name), "warc", base_url=str(tmp_path), segment=None)
        assert list(found) == ["crawl-data/CC-NEWS/2024/05/x.warc.gz"]


def test_lists_of_the_end_of_term_archive_are_in_its_bucket(tmp_path, monkeypatch):
    asked = []

    class Bucket(Storage):
        def open_stream(self, location, start=0, length=None, *, kind=None):
            asked.append(location)
            return super().open_stream(str(tmp_path / "list"), start, length)

    (tmp_path / "list").write_bytes(gzip.compress(b"crawl-data/EOT-2020/x.warc.gz\n"))
    found = read_paths(Bucket(), Crawl("EOT-2020", ""), "warc", base_url=None, segment=None)
    assert list(found) == ["crawl-data/EOT-2020/x.warc.gz"]
    assert asked == ["https://eotarchive.s3.amazonaws.com/crawl-data/EOT-2020/warc.paths.gz"]


def test_old_crawls_are_listed_from_their_folders(storage, tmp_path):
    for name in (
        "parse-output/segment/134/metadata-00000",
        "parse-output/segment/134/134_0.arc.gz",
        "parse-output/segment/135/metadata-00001",
        "parse-output/segment/135/textData-00001",
        "parse-output/segment/999/metadata-00000",
        "crawl-001/2008/06/19/0/1213886083018_0.arc.gz",
    ):
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
    with pytest.raises(UsageError, match=f"CC-MAIN-2012 has no text files in a segment 134 .{tmp_path}"):
        paths("CC-MAIN-2012", "text", "134")


def test_segment_and_per_segment_take_by_the_key():
    assert list(of_segment(KEYS, "171.1")) == KEYS[20:40]
    with pytest.raises(UsageError, match="none of the files is in a segment 171"):
        list(of_segment(KEYS, "171"))
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
