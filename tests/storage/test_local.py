"""What is special about local files: the reasons of their errors, pipes, devices, links, atomic writing."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage import Storage
from crawlmill.storage.local import LocalStream

storage = Storage()


@pytest.mark.parametrize("name", ["folder", "none", "file/below", "x" * 300, "loop"])
def test_open_of_what_is_no_file_is_not_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    for run in (storage.open_stream, storage.size_of):
        with pytest.raises(SourceError) as caught:
            run(str(tmp_path / name))
        assert caught.value.reason == "not-found"
        assert name in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_open_without_permission_is_denied(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    (tmp_path / "x").chmod(0)
    with pytest.raises(SourceError) as caught:
        storage.open_stream(str(tmp_path / "x"))
    assert caught.value.reason == "denied"


def test_permission_error_of_the_system_is_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError) as caught:
        LocalStream(str(tmp_path / "x"))
    assert caught.value.reason == "denied"


def test_pipe_is_read_forward_from_a_place_and_not_back(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"0123456789"))
    writer.start()
    with storage.open_stream(str(pipe), 2, 5) as stream:
        assert stream.size is None
        assert stream.read() == b"23456"
        with pytest.raises(SourceError, match="pipe"):
            stream.seek(0)
    writer.join()


def test_write_to_a_device_writes_in_place() -> None:
    with storage.write("/dev/null") as file:
        file.write(b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_write_to_a_full_disk_is_unavailable() -> None:
    with pytest.raises(SourceError, match="No space left") as caught, storage.write("/dev/full") as file:
        file.write(b"x" * 100_000)
    assert caught.value.reason == "unavailable"


def test_write_passes_on_errors_that_are_not_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError), storage.write(str(tmp_path / "x")):
        raise ConnectionResetError
    assert list(tmp_path.iterdir()) == []


def test_write_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(SourceError), storage.write(str(tmp_path / "file/below")):
        pass


def test_write_through_a_link_replaces_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with storage.write(str(tmp_path / "link")) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_write_gives_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    with storage.write(str(tmp_path / "x")):
        pass
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_write_of_the_longest_name_works(tmp_path: Path) -> None:
    with storage.write(str(tmp_path / ("ü" * 127))):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["ü" * 127]


def test_remove_of_a_link_leaves_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/x").write_bytes(b"")
    (tmp_path / "link").symlink_to("folder")
    storage.remove(str(tmp_path / "link"))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert (tmp_path / "folder/x").exists()


def test_rename_across_kinds_of_storage_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        storage.rename(str(tmp_path), "s3://b/k")


def test_unknown_scheme_names_the_known_ones() -> None:
    with pytest.raises(SourceError, match="file, http, https, s3, hdfs"):
        storage.open_stream("ftp://host/x")


def test_span_that_means_nothing_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValueError, match="span"):
        storage.open_stream("/dev/null", -1)


def test_dash_names_the_location_of_stdin() -> None:
    with pytest.raises(SourceError, match="No such file or directory; for stdin, give /dev/stdin") as caught:
        storage.open_stream("-")
    assert caught.value.reason == "not-found"
