"""Makes the pictures of reports in docs/pictures, each by the commands of the page that shows it: `make picture`.

    python tools/report_pictures.py [PAGE ...]

A page shows `pictures/NAME.png` behind a block that ends in `crawlmill report OUT`: the commands of the page up to
there are run in a folder of their own, and the first screen of OUT/_report.html is the picture. Needs Chromium, and
`sample-crawl/`, which `make demo` makes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PICTURES = PROJECT / "docs" / "pictures"
WIDTH, HEIGHT = 1100, 820  # pixels

_PICTURE = re.compile(r"^!\[[^\]]+\]\(pictures/([\w-]+)\.png\)$", re.MULTILINE)
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REPORT = re.compile(r"crawlmill report ([\w-]+)")


def pictures_of(page: Path) -> dict[str, list[str]]:
    """The pictures of a page, and the commands that stand before each; the last one makes the report."""
    text = page.read_text(encoding="utf-8")
    found = {}
    for picture in _PICTURE.finditer(text):
        blocks = _CONSOLE.findall(text[: picture.start()])
        commands = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
        while commands and not _REPORT.fullmatch(commands[-1]):
            commands.pop()
        found[picture[1]] = commands
    return found


def make(name: str, commands: list[str]) -> None:
    """Run the commands, and take the picture."""
    browser = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no Chromium to take pictures with")
    report = _REPORT.fullmatch(commands[-1]) if commands else None
    if report is None:
        sys.exit(f"{name}: no `crawlmill report OUT` before the picture")
    with tempfile.TemporaryDirectory() as folder:
        for each in ("jobs", "lib", "input_lists", "sample-crawl", "mrjob.conf"):
            (Path(folder) / each).symlink_to(PROJECT / each)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        script = "\n".join(commands)
        subprocess.run(["bash", "-ec", script], cwd=folder, env={**os.environ, "PATH": path}, check=True)
        PICTURES.mkdir(exist_ok=True)
        place = (Path(folder) / report[1] / "_report.html").as_uri()
        size = f"--window-size={WIDTH},{HEIGHT}"
        shot = f"--screenshot={PICTURES / name}.png"
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size, shot)
        subprocess.run([browser, *options, place], check=True, capture_output=True)


def main() -> None:
    """Make the pictures of the pages that are named, or of all."""
    pages = [Path(name) for name in sys.argv[1:]] or sorted((PROJECT / "docs").glob("*.md"))
    for page in pages:
        for name, commands in pictures_of(page).items():
            make(name, commands)


if __name__ == "__main__":
    main()
