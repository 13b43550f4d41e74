"""The project's pages, cut into what can be run: fenced blocks, with their kind and place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").glob("*.md"))]
PAGES += [PROJECT / "CHANGELOG.md"]

# Why a block is not run. What can run on the sample crawl has none of these.
REASONS = {"needs the network", "needs AWS", "needs a cluster", "sets up", "runs the tests", "takes long"}

# `console` and `python` are run; the others hold no commands.
KINDS = {"console", "python", "json", "text", "ini", "yaml", "toml", "mermaid"}

_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]*) -->\n)?```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text, the line of the page it begins at, and why it is not run, or None."""

    kind: str
    text: str
    line: int
    reason: str | None

    @property
    def file_name(self) -> str | None:
        """The name that a Python block gives itself in its first line, as `# media_types.py`."""
        named = re.match(r"# (\w+\.py)\n", self.text)
        return named[1] if named and self.kind == "python" else None

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command of a console block, and the lines that it is said to print."""
        lines = self.text.splitlines()
        while lines:
            line = lines.pop(0)
            assert line.startswith("$ "), f"line {self.line}: output without a command: {line}"
            command = [line[2:]]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            expected = []
            while lines and not lines[0].startswith("$ "):
                expected.append(lines.pop(0))
            yield "\n".join(command), expected


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(match["kind"], match["text"], text.count("\n", 0, match.start("kind")) + 1, match["reason"])
        for match in _FENCE.finditer(text)
    ]
    assert len(re.findall("^```", text, re.MULTILINE)) == 2 * len(found), f"{page.name}: a fence without its other half"
    return found


def matches(expected: list[str], printed: str) -> bool:
    """Whether this was printed. `…` stands for anything within a line, a line of `…` alone for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, printed if printed.endswith("\n") or not printed else f"{printed}\n") is not None


def vague(expected: list[str]) -> str | None:
    """What of an expected output would match too much, or None."""
    whole = [line for line in expected if line.strip() != "…"]
    if expected and not whole:
        return "nothing but …"
    return next((line for line in whole if "…" in line and len(line.replace("…", "").strip()) < 8), None)
