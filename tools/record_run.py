"""Records a run of the demo's job in a terminal, and writes it as the picture of README.md, docs/run.svg.

    python tools/record_run.py

What is shown is what the commands printed; only the folder they ran in is called `/home/you/crawlmill`.
`sample-crawl/` must exist: `make demo` makes it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

PROJECT = Path(__file__).resolve().parent.parent
PICTURE = PROJECT / "docs" / "run.svg"

# README.md shows these commands too, in this order.
COMMANDS = (
    "python jobs/tag_count.py --top 5 input_lists/sample.paths",
    "head -c 200000 sample-crawl/crawl-data/*/segments/*.0/warc/*.gz > cut.warc.gz",
    "printf 'cut.warc.gz\\nmissing.warc.gz\\n' > mixed.paths",
    "python jobs/tag_count.py --output-dir results mixed.paths",
    "echo $?",
)
SHOWN_FOLDER = "/home/you/crawlmill"

COLUMNS = 100
_CELL, _ROW, _EDGE, _BAR = 8.0, 19, 16, 30
_STEP_S = 0.25

_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>A run of Crawlmill in a terminal</title>
<style>
text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6dae0;
  white-space: pre; animation: appear 0.2s backwards }}
.command {{ fill: #8fd18a; font-weight: 600 }}
@keyframes appear {{ from {{ opacity: 0 }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ animation: none }} }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#1d2127"/>
<circle cx="20" cy="18" r="5" fill="#e0645c"/><circle cx="38" cy="18" r="5" fill="#dfae45"/>
<circle cx="56" cy="18" r="5" fill="#5fb35b"/>
"""


def run(commands: Sequence[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """What a terminal shows when these commands are typed in a folder: each after `$ `, then what it prints."""
    shown = (
        f"printf '%s\\n' {shlex.quote(f'$ {command}')}; (exit $__code)\n{command}\n__code=$?\n" for command in commands
    )
    script = "".join(("__code=0\n", *shown))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.replace(str(folder.resolve()), SHOWN_FOLDER).splitlines()


def svg(lines: Sequence[str]) -> str:
    """The picture of a terminal with these lines: a `text` element each, which wraps after `COLUMNS` characters.

    Lines appear one after another where animations are shown; elsewhere all are there at once.
    """
    texts: list[str] = []
    row, begins_s = 0, 0.0
    for line in lines:
        is_command = line.startswith("$ ")
        begins_s += 4 * _STEP_S if is_command and texts else _STEP_S
        pieces = [line[at : at + COLUMNS] for at in range(0, max(len(line), 1), COLUMNS)]
        spans = "".join(
            f'<tspan x="{_EDGE}" y="{_BAR + _EDGE + (row + at) * _ROW}">{escape(piece)}</tspan>'
            for at, piece in enumerate(pieces)
        )
        kind = ' class="command"' if is_command else ""
        texts.append(f'<text{kind} style="animation-delay: {begins_s:.2f}s">{spans}</text>\n')
        row += len(pieces)
    width, height = int(COLUMNS * _CELL) + 2 * _EDGE, _BAR + _EDGE + row * _ROW
    return _HEAD.format(width=width, height=height) + "".join(texts) + "</svg>\n"


def record(sample: Path) -> str:
    """The picture of the README's run on this sample crawl, made in a folder that looks like the project."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Unbuffered, stdout and stderr come in the order in which a terminal shows them.
    environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("jobs", "lib", "mrjob.conf"):
            (folder / part).symlink_to(PROJECT / part)
        shutil.copytree(PROJECT / "input_lists", folder / "input_lists")
        (folder / "sample-crawl").symlink_to(sample)
        return svg(run(COMMANDS, folder, environment))


def main() -> None:
    """Records the run and writes the picture."""
    sample = PROJECT / "sample-crawl"
    if not (sample / "answers.json").exists():
        sys.exit("record_run: there is no sample crawl yet: run `make demo` first")
    PICTURE.write_text(record(sample), encoding="utf-8")
    sys.stdout.write(f"wrote {PICTURE.relative_to(PROJECT)}\n")


if __name__ == "__main__":
    main()
