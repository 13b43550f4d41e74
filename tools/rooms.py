"""Draw the rooms of the package from its imports into docs/architecture.md: `make rooms`.

An arrow means "imports". Left out are arrows that others imply: where A imports B and B imports C, none goes from A to
C. The pictures are Mermaid (https://mermaid.js.org), which GitHub draws.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PACKAGE = PROJECT / "lib" / "crawlmill"
PAGE = PROJECT / "docs" / "architecture.md"

Graph = dict[str, set[str]]


def imports_of_modules(package: Path = PACKAGE) -> Graph:
    """Which of its own modules each module of a package imports, also inside functions."""
    names = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    return {own: set(_targets(path, set(names))) - {own} for own, path in names.items()}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The nodes of a module's syntax tree, the module itself first."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _targets(path: Path, names: set[str]) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from package import module` needs the module, `from package import name` the package itself
            yield from inner & names
            if not inner <= names:
                yield node.module
        elif (module := imported_later(node)) in names:
            yield module


def imported_later(node: ast.AST) -> str:
    """The module of a call like `later("MODULE:NAME")` (`crawlmill.later`); empty for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in ("later", "named"):
        return ""
    place = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
    return str(place).partition(":")[0]


def gathered(modules: Graph, room_of: Callable[[str], str | None]) -> Graph:
    """The graph of rooms: which room imports which other; modules without a room do not count."""
    rooms: Graph = {}
    for module, targets in modules.items():
        if (room := room_of(module)) is not None:
            found = rooms.setdefault(room, set())
            found |= {other for target in targets if (other := room_of(target)) not in (None, room)}
    return rooms


def reduced(graph: Graph) -> Graph:
    """The graph without edges that are implied by others. It must have no cycles."""

    def reached(name: str) -> set[str]:
        return graph[name].union(*map(reached, graph[name]))

    return {name: targets - set().union(*map(reached, targets)) for name, targets in graph.items()}


def mermaid(graph: Graph) -> str:
    """The picture of a graph without circles, in a fenced block."""
    lines = [f"    {name.replace('.', '_')}[{name}]" for name in sorted(graph)]
    lines += [
        f"    {name.replace('.', '_')} --> {target.replace('.', '_')}"
        for name, targets in sorted(reduced(graph).items())
        for target in sorted(targets)
    ]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def package_of(module: str) -> str | None:
    """The package (or module) right below `crawlmill`; None for `crawlmill` itself, which imports when it is asked."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") and parts[1] != "api" else None


def room_of_mr(module: str) -> str | None:
    """The room within `crawlmill.mr`, of which each engine is one."""
    parts = module.split(".")
    if parts[:2] != ["crawlmill", "mr"] or len(parts) < 3:
        return None
    if module == "crawlmill.mr.engines.doctor":
        return None  # what it examines Spark with is a job
    return ".".join(parts[2:4]) if parts[2] == "engines" and module.count(".") > 3 else parts[2]


def pictures() -> dict[str, str]:
    """The pictures of the page, by name."""
    modules = imports_of_modules()
    return {"packages": mermaid(gathered(modules, package_of)), "mr": mermaid(gathered(modules, room_of_mr))}


def _between(picture: str, marks: re.Match[str]) -> str:
    return f"{marks[1]}{picture}{marks[2]}"


def drawn(page: str) -> str:
    """The page with its pictures as they are now, each between the lines that name it."""
    for name, picture in pictures().items():
        marks = re.compile(rf"(<!-- picture {name}: make rooms -->\n).*?(\n<!-- end -->)", re.DOTALL)
        if not marks.search(page):
            raise SystemExit(f"{PAGE}: no place for the picture of {name}")
        page = marks.sub(partial(_between, picture), page)
    return page


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8")
    after = drawn(before)
    PAGE.write_text(after, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(PROJECT)}: {'drawn again' if after != before else 'as it was'}\n")
