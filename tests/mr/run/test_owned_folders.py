"""What a killed run has left is removed by a later one; nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from tests.builders import pack, response, warcinfo
from tests.mr.helpers import HANG_S, SCRIPTS, run, start, wait_until

from crawlmill.mr.run.owned_folders import OwnedFolder, remove_abandoned

FRAGILE = SCRIPTS / "fragile.py"


def folder(parent, name, *, owned=True):
    made = parent / name
    made.mkdir()
    (made / "data").write_text("x")
    return (made, OwnedFolder(made)) if owned else (made, None)


def test_folder_whose_owner_lives_or_that_has_no_mark_or_another_name_stays(tmp_path):
    living, lock = folder(tmp_path, "a-living")
    dead, dead_lock = folder(tmp_path, "a-dead")
    other, other_lock = folder(tmp_path, "b-dead")
    plain, _ = folder(tmp_path, "a-plain", owned=False)
    link = tmp_path / "a-link"
    link.symlink_to(other)
    for each in (dead_lock, other_lock):
        each.close()
    remove_abandoned(tmp_path, lambda name: name.startswith("a-"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-link", "a-living", "a-plain", "b-dead"]
    assert (living / "data").exists()
    lock.unmark()
    assert [path.name for path in living.iterdir()] == ["data"]
    assert plain.exists()
    assert not dead.exists()


def test_folder_of_another_user_stays(tmp_path, monkeypatch):
    dead, lock = folder(tmp_path, "a-dead")
    lock.close()
    monkeypatch.setattr(os, "geteuid", lambda: dead.stat().st_uid + 1)
    remove_abandoned(tmp_path, lambda _: True)
    assert dead.exists()


def test_parent_that_cannot_be_listed_is_no_matter(tmp_path):
    remove_abandoned(tmp_path / "nosuch", lambda _: True)


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_run_that_was_killed_leaves_folders_that_the_next_run_removes_and_living_runs_keep_theirs(tmp_path, runner):
    temporary, marks, outs = (tmp_path / name for name in ("temporary", "marks", "outs"))
    for each in (temporary, marks, outs):
        each.mkdir()
    (tmp_path / "x.warc.gz").write_bytes(pack([warcinfo(), response("http://wait/9", b"x")]))
    (tmp_path / "fine.warc.gz").write_bytes(pack([warcinfo(), response("http://fine/", b"x")]))
    (tmp_path / "l").write_text("x.warc.gz\n")
    (tmp_path / "m").write_text("fine.warc.gz\n")
    settings = {"TMPDIR": str(temporary), "FRAGILE": str(marks)}

    def begin(name):
        process = start(FRAGILE, "-r", runner, "--output-dir", outs / name, tmp_path / "l", **settings)
        count = len((marks / "wait").read_text().split()) if (marks / "wait").exists() else 0
        wait_until(lambda: (marks / "wait").exists() and len((marks / "wait").read_text().split()) > count, process)
        return process

    def left():
        return len(list(temporary.iterdir())), sorted(path.name.split(".")[1] for path in outs.iterdir())

    killed, living = begin("killed"), begin("living")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left() == (2, ["killed", "living"])
    assert run(FRAGILE, "-r", runner, tmp_path / "m", **settings).code == 0
    assert left() == (1, ["killed", "living"])
    assert run(FRAGILE, "-r", runner, "--output-dir", outs / "a.b", tmp_path / "m", **settings).code == 0
    assert left() == (1, ["b", "living"])
    assert sorted(path.name for path in (outs / "a.b").iterdir() if not path.name.startswith("part")) == [
        "_SUCCESS",
        "_ledger.jsonl",
        "_run.json",
    ]
    living.terminate()
    try:
        living.communicate(timeout=HANG_S)
    except subprocess.TimeoutExpired:
        living.kill()
        raise
    assert not list(temporary.iterdir())
