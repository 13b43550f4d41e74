"""Build the docs as a site into build/site, to be opened from the file system as well as from a server: `make site`.

    python tools/site/build.py [FOLDER]

The pages are those that GitHub shows: docs/*.md, CONTRIBUTING.md and CHANGELOG.md. Two things are made of them here,
in a copy: the navigation, from the sections of docs/index.md and the pages that each links to; and pictures drawn by
Mermaid, which would have to be fetched, become lists. A link that leads nowhere, or any other warning, is a failure.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ABOVE = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages that are not in docs/."""

_LINK = re.compile(r"^- \[[^\]]+\]\((?:\.\./)?([\w-]+)\.md\)", re.MULTILINE)
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def stage(folder: Path) -> None:
    """Copy the pages into one folder, as Sphinx reads them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT / "docs", folder, ignore=shutil.ignore_patterns("*.1"))
    for name in (*ABOVE, "LICENSE"):
        shutil.copy(PROJECT / name, folder / name)
    for page in folder.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        text = text.replace("](docs/", "](").replace("](README.md", "](index.md")
        for name in ABOVE:
            text = text.replace(f"](../{name}", f"]({name}")
        page.write_text(_MERMAID.sub(as_list, text), encoding="utf-8")
    index = folder / "index.md"
    pages = {page.stem for page in folder.glob("*.md")}
    index.write_text(index.read_text(encoding="utf-8") + navigation(index.read_text(encoding="utf-8"), pages))


def navigation(index: str, pages: set[str]) -> str:
    """The tables of contents: a section of the index each, and one of the pages that it does not name."""
    sections = [(part.partition("\n")[0], _LINK.findall(part)) for part in index.split("\n## ")[1:]]
    left = sorted(pages - {"index"} - {name for _, names in sections for name in names})
    return "".join(
        "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(names) + "\n```\n"
        for caption, names in [*sections, ("More", left)]
        if names
    )


def as_list(picture: re.Match[str]) -> str:
    """A flowchart of names and arrows as text: a line for each name that arrows begin at."""
    labels = dict(re.findall(r"^\s*(\w+)\[([^\]]+)\]", picture[1], re.MULTILINE))
    arrows: dict[str, list[str]] = {}
    for start, end in re.findall(r"^\s*(\w+) --> (\w+)", picture[1], re.MULTILINE):
        arrows.setdefault(labels[start], []).append(labels[end])
    width = max(map(len, arrows))
    lines = (f"{start:{width}}  →  {', '.join(ends)}" for start, ends in arrows.items())
    return "```text\n" + "\n".join(lines) + "\n```"


def build(target: Path) -> int:
    """Build the site; Sphinx's exit code."""
    source = target.parent / f"{target.name}-source"
    stage(source)
    shutil.rmtree(target, ignore_errors=True)
    options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(Path(__file__).parent), "-d", f"{source}/.doctrees"]
    return subprocess.run([sys.executable, "-m", "sphinx", *options, str(source), str(target)], check=False).returncode


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "build" / "site"
    code = build(place.absolute())
    if code == 0:
        sys.stdout.write(f"open {place.absolute() / 'index.html'}\n")
    sys.exit(code)
