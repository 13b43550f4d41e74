"""What tasks leave in the run's folder, as the launcher finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlmill.errors import SourceError
from crawlmill.mr.engines.run_folder import fetch_rows, parts_in, report_of
from crawlmill.storage import Storage


@pytest.fixture
def storage():
    with Storage() as storage:
        yield storage


def test_parts_are_what_has_no_special_name(storage, tmp_path):
    for name in ("part-00001", "part-00000", "_SUCCESS", "_rows-00000", ".part-00000.crc"):
        (tmp_path / name).touch()
    assert parts_in(storage, str(tmp_path)) == [f"{tmp_path}/part-00000", f"{tmp_path}/part-00001"]
    with pytest.raises(SourceError):
        parts_in(storage, str(tmp_path / "gone"))


def test_rows_are_fetched_in_their_order(storage, tmp_path):
    names = [f"_rows-{number:05}" for number in range(40)]
    for name in names:
        (tmp_path / name).write_text(name)
    (tmp_path / "scratch").mkdir()
    found = fetch_rows(storage, (str(tmp_path / name) for name in names), tmp_path / "scratch")
    assert [path.read_text() for path in found] == names
    assert {path.parent for path in found} == {tmp_path / "scratch"}
    assert fetch_rows(storage, [], tmp_path / "scratch") == []


def test_rows_that_are_gone_are_an_error(storage, tmp_path):
    with pytest.raises(SourceError):
        fetch_rows(storage, [str(tmp_path / "gone")], tmp_path)


def test_report_is_a_line_and_a_traceback(storage, tmp_path: Path):
    (tmp_path / "attempt").write_text("RuntimeError: bad luck\nTraceback\n  …\n")
    assert report_of(storage, str(tmp_path / "attempt")) == ("RuntimeError: bad luck", "Traceback\n  …\n")
    assert report_of(storage, str(tmp_path / "gone")) == ("", "")
