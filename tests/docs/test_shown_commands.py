"""What the README and the docs show is true: commands print what stands below them, Python runs.

The blocks of a page are run in their order, as a reader would, in a folder that looks like the project after
`make demo`, with `.venv` activated:

* a `console` block is one shell; a command must print what is shown below it, on stdout and stderr together, and
  nothing where nothing is shown, but for the line about progress of a run that takes more than ten seconds; one that
  fails must be followed by `$ echo $?`;
* a `python` block whose first line is `# NAME.py` is saved under that name, and a later command must use it; any other
  is run, and must not fail;
* a block behind `<!-- not run: REASON -->` is left out; the reasons are a closed list.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.docs.pages import KINDS, PAGES, PROJECT, REASONS, blocks, matches, vague
from tests.sharing import made_once

# The set-up is what the running tests stand on already.
_INSTEAD = {"make demo": "bash tools/demo.sh"}
_MARK = "\x1e"
_SLOW = {"columnar.md", "indexes.md", "legacy-crawls.md", "sample-crawl.md", "structured-data.md", "writing-a-job.md"}
_PROGRESS = re.compile(r"^\d[\d,]*/\d[\d,]* inputs, .*\n", re.MULTILINE)


def compresses_as_usual():
    """Whether this zlib gives the bytes that zlib gives; its relatives (zlib-ng and others) give other ones."""
    text = b"".join(b"%d %d\n" % (n * n % 977, n % 89) for n in range(20_000))
    return zlib.crc32(zlib.compress(text, 6)) == 0x6880EC30


usual_zlib = pytest.mark.skipif(
    not compresses_as_usual(), reason="the pages show offsets in files that zlib wrote, and this zlib writes others"
)


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    def make(folder):
        subprocess.run([sys.executable, "-m", "crawlmill", "sample", str(folder)], check=True, capture_output=True)

    return made_once(tmp_path_factory, "sample-crawl", make)


@pytest.fixture
def project(sample, tmp_path):
    """A folder that looks like the project after its set-up, with the sample crawl in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("jobs", "lib", "docs", "tests", "bench", "mrjob.conf", "setup.cfg", "README.md"):
        (folder / name).symlink_to(PROJECT / name)
    # Lists and the demo find the sample from where they lie, so these folders must be real ones.
    for name in ("input_lists", "tools"):
        shutil.copytree(PROJECT / name, folder / name)
    (folder / "sample-crawl").symlink_to(sample)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture
def environment(tmp_path):
    """That of a user who has activated the virtual environment and set nothing else."""
    (tmp_path / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MRJOB", "CRAWLMILL"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Unbuffered, stdout and stderr come in the order in which a terminal shows them.
    return {**kept, "PATH": path, "HOME": str(tmp_path / "home"), "COLUMNS": "100", "PYTHONUNBUFFERED": "1"}


def run(command, project, environment):
    return subprocess.run(
        command,
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def run_console(block, where, project, environment):
    shown = list(block.commands())
    script = "".join(
        f"{_INSTEAD.get(command, command)}\n__code=$?; printf '{_MARK}%s{_MARK}' $__code; (exit $__code)\n"
        for command, _ in shown
    )
    done = run(["bash", "-c", script], project, environment)
    parts = done.stdout.split(_MARK)
    assert len(parts) == 2 * len(shown) + 1, f"{where}: the shell ended early ({done.returncode}):\n{parts[-1]}"
    after = [command for command, _ in shown[1:]] + [""]
    for (command, expected), printed, code, following in zip(shown, parts[::2], parts[1::2], after, strict=False):
        assert (too_vague := vague(expected)) is None, f"{where}: matches too much: {too_vague}"
        assert matches(expected, _PROGRESS.sub("", printed)), (
            f"{where}: {command}\nprints\n{printed}\nshown is\n" + "\n".join(expected)
        )
        assert code == "0" or following == "echo $?", f"{where}: {command} exits with {code}, which is not shown"


def as_cases(pages):
    return [pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in _SLOW else []) for page in pages]


@usual_zlib
@pytest.mark.parametrize("page", as_cases(PAGES))
def test_page_shows_what_happens(page, project, environment):
    saved = {}
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        assert block.kind in KINDS, f"{where}: a block of kind {block.kind!r}"
        if block.reason is not None:
            assert block.reason in REASONS, f"{where}: no reason to leave out a block: {block.reason}"
        elif block.kind == "console":
            saved = {name: line for name, line in saved.items() if name not in block.text}
            run_console(block, where, project, environment)
        elif block.file_name is not None:
            (project / block.file_name).write_text(block.text, encoding="utf-8")
            saved[block.file_name] = where
        elif block.kind == "python":
            done = run([sys.executable, "-W", "error", "-c", block.text], project, environment)
            assert done.returncode == 0, f"{where}:\n{done.stdout}"
    assert not saved, f"no command uses {saved}"


def test_commands_of_the_docs_are_run():
    """Guards the test above: a change of the fences must not make it run nothing."""
    run, left_out = 0, 0
    for page in PAGES:
        for block in blocks(page):
            run += block.reason is None and block.kind == "console"
            left_out += block.reason is not None
    assert run > 20
    assert left_out < run


def test_every_page_is_linked_from_the_readme():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f"]({page.relative_to(PROJECT)})" in readme, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_of_the_project_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{page.name} links to #{anchor} of {file.name}"
