"""`make` where the native core cannot be built: everything else goes on, and it is said which core is in use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mr.helpers import PROJECT

PROGRAMS = ("sh", "touch")


@pytest.fixture
def make(tmp_path):
    """Runs the rule that builds the native core, in an environment that is there; `programs` are what the PATH has."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    for folder in ("bin", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name in PROGRAMS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    script(tmp_path / "venv/bin/python", f'exec {sys.executable} "$@"')
    script(tmp_path / "venv/bin/pip", f'echo "$@" >>{tmp_path}/asked; exit 1')
    for stamp in (".made", ".installed"):
        (tmp_path / "venv" / stamp).touch()

    def run() -> str:
        command = [shutil.which("make"), f"VENV={tmp_path}/venv", f"{tmp_path}/venv/.native"]
        outside = {name: value for name, value in os.environ.items() if "MAKE" not in name}  # of a make that runs us
        environment = {**outside, "PATH": str(tmp_path / "bin"), "CRAWLMILL_CORE": "python"}
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_cargo_nothing_is_built_and_the_core_is_python(make, tmp_path):
    assert make() == "== core in use: python\n"
    assert not (tmp_path / "asked").exists()


def test_core_that_cannot_be_built_is_done_without(make, tmp_path):
    script(tmp_path / "bin/cargo", "exit 1")
    said = make().splitlines()
    assert said[1:] == [f"== it could not be built: see {tmp_path}/venv/native.log", "== core in use: python"]
    assert (tmp_path / "asked").read_text() == "install -q --disable-pip-version-check ./native\n"
