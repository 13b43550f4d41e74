"""`crawlmill.open_archive`: records, and what becomes of what is lost."""

from __future__ import annotations

import warnings

import pytest
from tests import builders

import crawlmill

URIS = [f"http://e.org/{n}" for n in range(6)]


@pytest.fixture
def members():
    return [builders.pack([each]) for each in [builders.warcinfo(), *(builders.response(uri, b"<p>") for uri in URIS)]]


@pytest.fixture
def damaged(tmp_path, members):
    """An archive whose fourth page has a wrong checksum, and where that page is."""
    broken = bytearray(members[4])
    broken[-6] ^= 1
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([*members[:4], bytes(broken), *members[5:]]))
    return path, sum(map(len, members[:4]))


def uris(archive):
    return [record.uri for record in archive if record.type == "response"]


def test_records_of_a_sound_archive_and_no_warning(tmp_path, members):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(members))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        archive = crawlmill.open_archive(path)
        assert (archive.outcome, archive.records, archive.problems) == (None, 0, [])
        for _ in range(2):  # each iteration begins anew
            assert uris(archive) == URIS
            assert (archive.outcome, archive.records, archive.problems) == ("ok", 7, [])


@pytest.mark.parametrize(("first", "last"), [(1, 3), (4, 7), (6, 7)])
def test_ranges_give_the_records_within_them(tmp_path, members, first, last):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(members))
    offset, length = (sum(map(len, some)) for some in (members[:first], members[first:last]))
    assert uris(crawlmill.open_archive(str(path), offset=offset, length=length)) == URIS[first - 1 : last - 1]
    assert uris(crawlmill.open_archive(str(path), offset=offset)) == URIS[first - 1 :]


def test_damage_is_one_warning_at_the_end_on_the_line_of_the_caller(damaged):
    path, at = damaged
    archive = crawlmill.open_archive(path)
    with pytest.warns(crawlmill.LossWarning, match=r"a\.warc\.gz is partial: lost 1 bad-checksum") as caught:
        assert uris(archive) == [uri for uri in URIS if uri != URIS[3]]
    assert [warning.filename for warning in caught] == [__file__]
    assert (archive.outcome, archive.records) == ("partial", 6)
    assert [(problem.reason, problem.offset) for problem in archive.problems] == [("bad-checksum", at)]


def test_damage_is_raised_after_what_comes_before_it(damaged):
    path, at = damaged
    records = iter(crawlmill.open_archive(path, errors="raise"))
    assert [next(records).uri for _ in range(4)] == [None, *URIS[:3]]
    with pytest.raises(crawlmill.FormatError) as error:
        next(records)
    assert (error.value.reason, error.value.offset) == ("bad-checksum", at)


def test_damage_that_is_collected_neither_warns_nor_raises(damaged, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        archive = crawlmill.open_archive(damaged[0], errors="collect")
        assert len(uris(archive)) == 5
        assert (archive.outcome, len(archive.problems)) == ("partial", 1)
        missing = crawlmill.open_archive(tmp_path / "nowhere", errors="collect")
        assert (list(missing), missing.outcome, missing.problems[0].reason) == ([], "failed", "not-found")


@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_what_cannot_be_read_at_all_raises(tmp_path, errors):
    (tmp_path / "text").write_text("no archive at all\n" * 100)
    with pytest.raises(crawlmill.SourceError, match="nowhere") as error:
        list(crawlmill.open_archive(tmp_path / "nowhere", errors=errors))
    assert error.value.reason == "not-found"
    archive = crawlmill.open_archive(tmp_path / "text", errors=errors)
    with pytest.raises(crawlmill.FormatError, match="text"):
        list(archive)


def test_leaving_early_warns_of_nothing(damaged):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with crawlmill.open_archive(damaged[0]) as archive:
            assert next(iter(archive)).type == "warcinfo"
        assert archive.outcome is None
        with pytest.raises(ValueError, match="closed"):
            iter(archive)


@pytest.mark.parametrize("options", [{"errors": "ignore"}, {"offset": -1}, {"length": "5"}, {"offset": True}])
def test_mistakes_are_raised_by_the_call(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        crawlmill.open_archive("a.warc.gz", **options)


def test_keys_are_read_from_the_base_url_unless_they_are_files_here(tmp_path, members, monkeypatch):
    key = "crawl-data/CC-X/a.warc.gz"
    path = tmp_path / "base" / key
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(members))
    monkeypatch.chdir(tmp_path)
    assert crawlmill.open_archive(key).location == f"https://data.commoncrawl.org/{key}"
    assert crawlmill.open_archive("crawl-data/EOT-2020/a").location.startswith("https://eotarchive.")
    assert crawlmill.open_archive("a.warc.gz").location == "a.warc.gz"
    assert uris(crawlmill.open_archive(key, base_url=str(tmp_path / "base"))) == URIS
    monkeypatch.chdir(tmp_path / "base")
    assert crawlmill.open_archive(key).location == key
