"""What the README and the docs show is true: each `console` block is run, and prints what stands there.

In the expected output `…` stands for anything within a line, and a line of `…` alone for any lines. A block that follows
the comment `<!-- not run: REASON -->` is left out, and the reason is one of a short list.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = sorted([PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").glob("*.md")])
REASONS = {"needs the network", "needs AWS", "needs a cluster", "sets up", "runs the tests", "takes long"}

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(kind):
    for page in PAGES:
        for match in _BLOCK.finditer(page.read_text()):
            if match["kind"] == kind:
                line = page.read_text()[: match.start()].count("\n") + 1
                yield pytest.param(match["reason"], match["text"], id=f"{page.name}:{line}")


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A folder that looks like the project after its set-up, with the sample crawl in it."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("jobs", "lib", "input_lists", "docs", "tests", "mrjob.conf", "setup.cfg", "README.md"):
        (folder / name).symlink_to(PROJECT / name)
    subprocess.run(
        [sys.executable, "-m", "crawlmill", "sample", "sample-crawl"], cwd=folder, check=True, capture_output=True
    )
    # The bundled list names the sample by its place beside the list's folder, so the folder must be a real one.
    (folder / "input_lists").unlink()
    shutil.copytree(PROJECT / "input_lists", folder / "input_lists")
    return folder


def commands(text):
    """[(command, expected output)] of a block; a command goes on over lines that end with a backslash."""
    found = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append((command, []))
        elif found:
            found[-1][1].append(line)
    return found


def pattern(expected):
    parts = []
    for line in expected:
        parts.append(r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n")
    return "".join(parts)


@pytest.mark.parametrize(("reason", "text"), blocks("console"))
def test_shown_command_prints_what_is_shown(reason, text, project):
    if reason is not None:
        assert reason in REASONS, f"no reason to leave out a command: {reason}"
        return
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command, expected in commands(text):
        done = subprocess.run(
            ["bash", "-c", f"{command}\n"], cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
        if expected:
            assert re.fullmatch(pattern(expected), done.stdout), (
                f"{command}\nprints\n{done.stdout}\nexpected\n{chr(10).join(expected)}"
            )
        else:
            assert done.returncode == 0, f"{command}\n{done.stdout}"


@pytest.mark.parametrize(("reason", "text"), blocks("python"))
def test_shown_python_runs(reason, text, project, tmp_path):
    if reason is not None:
        return
    script = tmp_path / "shown.py"
    script.write_text(text)
    arguments = (
        ["-r", "inline", "--no-progress", "input_lists/sample.paths"]
        if "CountJob" in text or "CrawlJob" in text
        else []
    )
    done = subprocess.run(
        [sys.executable, script, *arguments], cwd=project, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    if arguments:
        assert done.stdout.count("\t") > 1


def test_every_page_is_linked_from_the_readme():
    readme = (PROJECT / "README.md").read_text()
    for page in PAGES:
        if page.parent.name == "docs":
            assert f"docs/{page.name}" in readme, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_of_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
