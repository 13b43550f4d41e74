"""The catalogue of crawls: the server's, the kept one, the one that comes with the package."""

from __future__ import annotations

import json
import os
import stat
import time

import pytest

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs.common_crawl import catalogue
from crawlmill.inputs.common_crawl.catalogue import Catalogue, Crawl, load_catalogue
from crawlmill.storage import Storage, StorageOptions

IDS = ["CC-MAIN-2026-04", "CC-MAIN-2025-51", "CC-MAIN-2025-47", "CC-MAIN-2012", "CC-MAIN-2008-2009"]
DAY_S = 86_400


@pytest.fixture
def storage(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    return Storage(StorageOptions(retries=0))


def collinfo(*names):
    rows = [
        {"id": name, "name": f"{name} Index", "from": "2026-01-05T00:00:00", "to": "2026-01-19T00:00:00"}
        for name in names
    ]
    return json.dumps(rows)


@pytest.fixture
def mirror(tmp_path):
    """A folder with a catalogue."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "collinfo.json").write_text(collinfo(*IDS))
    return folder


@pytest.fixture
def server(mirror, monkeypatch):
    """The same, as the index server."""
    monkeypatch.setattr(catalogue, "INDEX_URL", f"{mirror.as_uri()}/")
    return mirror


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No index server."""
    monkeypatch.setattr(catalogue, "INDEX_URL", f"{(tmp_path / 'nowhere').as_uri()}/")


@pytest.fixture
def cached(tmp_path):
    """Where the catalogue is kept."""
    path = tmp_path / "cache/crawlmill/collinfo.json"
    path.parent.mkdir(parents=True)
    return path


def crawls(stale=False):
    return Catalogue(tuple(Crawl(name, name) for name in IDS), "a test", stale=stale)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("latest", IDS[:1]),
        ("latest:3", IDS[:3]),
        ("latest:007", IDS),
        ("latest:999999", IDS),
        ("2025", IDS[1:3]),
        ("2008", IDS[4:]),
        ("2009", IDS[4:]),
        ("2012", IDS[3:4]),
        ("cc-main-2025-51", IDS[1:2]),
        ("all", IDS),
        ("CC-NEWS-2024-05", ["CC-NEWS-2024-05"]),
        ("EOT-2020", ["EOT-2020"]),
    ],
)
def test_name_selects_crawls(name, expected):
    assert [crawl.id for crawl in crawls().select(name)] == expected


@pytest.mark.parametrize("count", ["0", "000", "", "-1", "1.5", "abc", "9" * 5000, "\u0663", " 1", "0" * 5000 + "1"])
def test_latest_of_no_number_is_a_mistake(count):
    with pytest.raises(UsageError, match="latest:N: expected a number of crawls, 1 or more, got '") as caught:
        crawls().select(f"latest:{count}")
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "name", ["1999", "CC-NEWS-2024-13", "EOT-20", "CC-NEWS-2024-00", "\u0662\u0660\u0661\u0662", "latest3", ""]
)
def test_name_of_no_crawl_is_a_mistake(name):
    with pytest.raises(UsageError, match="no crawl"):
        crawls().select(name)


def test_supplement_has_no_lists():
    with pytest.raises(UsageError, match="CC-SUPPLEMENTAL-2026-22 has no path lists: name its files"):
        crawls().select("CC-SUPPLEMENTAL-2026-22")


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


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("<html>captive portal</html>", "'<html>captive portal</html>' ("),
        ('{"not": "a list"}', """'{"not": "a list"}' ("""),
        ("{}", "'{}' ("),
        ('"abc"', """'"abc"' ("""),
        ('[{"id": "CC-MAIN-', """'[{"id": "CC-MAIN-' ("""),
        ("", "'' ("),
        ('[{"id": "a\udcff"}]', r"""'[{"id": "a\xff"}]' ("""),
        ("[" * 200_000, f"'{'[' * 40}' ("),
        (f'[{{"id": "a", "name": {"9" * 5000}}}]', """'[{"id": "a", "name": 9"""),
    ],
)
def test_document_that_makes_no_sense_is_told_with_its_place(storage, mirror, text, got):
    path = mirror / "collinfo.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError) as caught:
        load_catalogue(storage, str(mirror))
    assert str(caught.value).startswith("not a list of crawls: expected a JSON array of objects with id and name, got ")
    assert got in str(caught.value)
    assert str(caught.value).endswith(f"({path})")


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("5", "expected an object, got 5"),
        ("null", "expected an object, got None"),
        ("[[]]", "expected an object, got [[]]"),
        ("{}", "expected an id such as CC-MAIN-2024-10, got None"),
        ('{"id": 5}', "expected an id such as CC-MAIN-2024-10, got 5"),
        ('{"id": ["a"]}', "expected an id such as CC-MAIN-2024-10, got ['a']"),
        ('{"id": ""}', "expected an id such as CC-MAIN-2024-10, got ''"),
        ('{"id": "../../x"}', "expected an id such as CC-MAIN-2024-10, got '../../x'"),
        (r'{"id": "CC\u001b[31m"}', r"expected an id such as CC-MAIN-2024-10, got 'CC\x1b[31m'"),
        (r'{"id": "CC\ud800"}', r"expected an id such as CC-MAIN-2024-10, got 'CC\ud800'"),
        ('{"id": "CC-X", "name": 5}', "expected a text as name, got 5"),
        (r'{"id": "CC-X", "name": "\ud800"}', r"expected a text as name, got '\ud800'"),
        ('{"id": "CC-X", "from": ["2026"]}', "expected a text as from, got ['2026']"),
        (r'{"id": "CC-X", "to": "\u001b[0m"}', r"expected a text as to, got '\x1b[0m'"),
        ('{"id": "CC-X", "to": ' + "[" * 400 + "]" * 400 + "}", "expected a text as to, got [[[[[["),
    ],
)
def test_entry_that_makes_no_sense_is_left_out_and_told(storage, mirror, entry, wrong):
    path = mirror / "collinfo.json"
    path.write_text(f'[{{"id": "CC-MAIN-2026-04"}}, {entry}, {{"id": "CC-MAIN-2025-51"}}, 7]')
    found = load_catalogue(storage, str(mirror))
    assert [crawl.id for crawl in found.crawls] == ["CC-MAIN-2026-04", "CC-MAIN-2025-51"]
    (warning,) = found.warnings
    assert warning.startswith(f"2 of 4 entries of {path} make no sense and are left out; entry 2: {wrong}")
    path.write_text(f"[{entry}]")
    with pytest.raises(FormatError) as caught:
        load_catalogue(storage, str(mirror))
    assert str(caught.value).startswith(f"the list does not name a crawl: entry 1: {wrong}")


def test_list_of_nothing_is_told(storage, mirror):
    (mirror / "collinfo.json").write_text("[]")
    with pytest.raises(FormatError, match="the list does not name a crawl: an empty array"):
        load_catalogue(storage, str(mirror))


def test_texts_that_are_absent_or_null_are_empty_and_blanks_are_one(storage, mirror):
    (mirror / "collinfo.json").write_text(
        r'[{"id": "CC-A", "name": null, "from": null}, {"id": "CC-B", "name": "a\t\n b"}]'
    )
    found = load_catalogue(storage, str(mirror))
    assert found.crawls == (Crawl("CC-A", "", "", ""), Crawl("CC-B", "a b", "", ""))
    assert not found.warnings


def test_mirror_that_cannot_be_read_is_an_error(storage, mirror):
    with pytest.raises(SourceError):
        load_catalogue(storage, str(mirror / "nowhere"))


def is_bundled(found):
    assert found.stale
    assert found.crawls[0].id == "CC-MAIN-2023-14"
    assert found.crawls[-1].id == "CC-MAIN-2008-2009"
    assert len(found.crawls) == 94
    return found.source == "the bundled list of spring 2023"


def test_without_a_server_the_bundled_list_stands_in(storage, nowhere):
    found = load_catalogue(storage)
    assert is_bundled(found)
    (warning,) = found.warnings
    assert warning.startswith("no list of crawls from the index server: ")
    assert warning.endswith("nowhere/collinfo.json); crawls by the bundled list of spring 2023")


def test_server_that_gives_something_else_is_as_none(storage, server, cached):
    (server / "collinfo.json").write_text("<html>captive portal</html>")
    found = load_catalogue(storage)
    assert is_bundled(found)
    assert "got '<html>captive portal</html>'" in found.warnings[0]
    assert not cached.exists()


def test_catalogue_is_kept_for_a_day(storage, server, tmp_path):
    assert len(load_catalogue(storage).crawls) == len(IDS)
    (server / "collinfo.json").write_text(collinfo("CC-MAIN-2026-08"))
    cached = tmp_path / "cache/crawlmill/collinfo.json"
    assert len(load_catalogue(storage).crawls) == len(IDS)
    os.utime(cached, (0, 0))
    assert [crawl.id for crawl in load_catalogue(storage).crawls] == ["CC-MAIN-2026-08"]
    assert cached.read_text() == collinfo("CC-MAIN-2026-08")


def test_old_catalogue_stands_in_before_the_bundled_one(storage, nowhere, cached):
    cached.write_text(collinfo("CC-MAIN-2025-51"))
    os.utime(cached, (0, 0))
    found = load_catalogue(storage)
    assert [crawl.id for crawl in found.crawls] == ["CC-MAIN-2025-51"]
    assert found.stale
    assert found.warnings[0].endswith(f"crawls by {cached} (not of today)")


def test_time_stamp_in_the_future_is_not_fresh(storage, server, cached):
    cached.write_text(collinfo("CC-MAIN-2025-51"))
    os.utime(cached, (time.time() + 10 * DAY_S,) * 2)
    assert len(load_catalogue(storage).crawls) == len(IDS)


@pytest.mark.parametrize("age_s", [0, 3 * DAY_S])
@pytest.mark.parametrize("text", ["<html>", '[{"id": "CC-MA', "[]", "{}", '[{"id": 5}]', "[" * 200_000, None])
def test_cache_that_holds_no_list_is_none(storage, server, cached, monkeypatch, text, age_s):
    if text is None:
        cached.mkdir()
    else:
        cached.write_text(text)
    os.utime(cached, (time.time() - age_s,) * 2)
    with monkeypatch.context() as offline:
        offline.setattr(catalogue, "INDEX_URL", f"{server.as_uri()}/nowhere/")
        assert is_bundled(load_catalogue(storage))
    found = load_catalogue(storage)
    assert [crawl.id for crawl in found.crawls] == IDS
    assert not found.warnings
    if text is not None:
        assert cached.read_text() == collinfo(*IDS)


@pytest.mark.parametrize("obstacle", ["file", "read-only", "unreadable"])
def test_cache_that_cannot_be_used_is_gone_without(storage, server, tmp_path, obstacle):
    folder = tmp_path / "cache"
    if obstacle == "file":
        folder.write_text("")
    else:
        folder.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR if obstacle == "read-only" else 0)
    try:
        found = load_catalogue(storage)
    finally:
        folder.chmod(0o700)
    assert [crawl.id for crawl in found.crawls] == IDS
    assert not found.warnings


@pytest.mark.parametrize(("cache", "home"), [("relative", "nowhere"), ("", "")])
def test_user_without_a_folder_has_no_cache(storage, server, tmp_path, monkeypatch, cache, home):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", home)
    assert len(load_catalogue(storage).crawls) == len(IDS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mirror"]


def test_list_is_cached_in_the_cache_folder_of_the_user(storage, server, tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "own"))
    assert len(load_catalogue(storage).crawls) == len(IDS)
    assert (tmp_path / "own" / "collinfo.json").read_text() == (server / "collinfo.json").read_text()
