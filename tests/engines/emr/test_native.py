"""The native core travels in one archive, for every kind of machine that there is a module for."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crawlmill import __version__
from crawlmill.mr.engines.emr.native import native_archive, native_modules

ASK = "import crawlmill_native as native; print(native.__file__, native.API_VERSION, native.RecordReader.__name__)"


def wheel(dist: Path, machine: str, module: bytes, version: str = __version__) -> None:
    path = dist / f"crawlmill_native-{version}-cp311-abi3-manylinux_2_34_{machine}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("crawlmill_native/__init__.py", "")
        archive.writestr("crawlmill_native/crawlmill_native.abi3.so", module)


def test_archive_serves_this_machine_and_those_of_wheels(tmp_path):
    pytest.importorskip("crawlmill_native")
    this = os.uname().machine
    other = {"x86_64": "aarch64"}.get(this, "x86_64")
    wheel(tmp_path, other, b"for the other")
    machines = native_archive(tmp_path / "native.zip", tmp_path)
    assert sorted(machines) == sorted([this, other])
    with zipfile.ZipFile(tmp_path / "native.zip") as archive:
        archive.extractall(tmp_path / "there")
        assert archive.read(f"crawlmill_native/{other}/crawlmill_native.abi3.so") == b"for the other"
    done = subprocess.run(
        [sys.executable, "-S", "-c", ASK],
        env={"PYTHONPATH": str(tmp_path / "there")},
        capture_output=True,
        text=True,
        check=True,
    )
    file, version, name = done.stdout.split()
    assert (file, name) == (str(tmp_path / "there" / "crawlmill_native" / "__init__.py"), "RecordReader")
    assert int(version) >= 1


def test_modules_that_ask_more_of_the_c_library_than_nodes_have_stay_here(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    wheel(tmp_path, "x86_64", b"\0GLIBC_2.4\0GLIBC_2.35\0")
    wheel(tmp_path, "aarch64", b"\0GLIBC_2.17\0GLIBC_2.34\0")
    assert list(native_modules(tmp_path)) == ["aarch64"]
    wheel(tmp_path, "x86_64", b"of another version", version="0.0.1")
    assert list(native_modules(tmp_path)) == ["aarch64"]
    assert native_archive(tmp_path / "none.zip", tmp_path / "nothing") == []
    assert not (tmp_path / "none.zip").exists()
