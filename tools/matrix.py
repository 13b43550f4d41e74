"""Every job over every kind of list on every engine: the same results, ledger and exit code, or this fails.

    python tools/matrix.py                                      # all engines that are there; writes docs/matrix.md
    python tools/matrix.py --engines hadoop --jobs tag_count --lists gz,top --output -
    python tools/matrix.py --keep --engines spark-4             # beside what an earlier call has found

Inputs are sample crawls, which are the same bytes every time. What was found, and each run's output, is kept in
build/matrix. The engines are those of the tests; one that is missing is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

PROJECT: Final = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[0] = str(PROJECT)  # the packages `tests` and `tools` are imported by their names

from tools.matrix_cases import JOBS, LISTS, Outcome, cases, code_of, measure, write_inputs  # noqa: E402
from tools.matrix_engines import ENGINES, REQUIRED, MissingError, Place  # noqa: E402

__all__ = ["page"]

BUILD: Final = PROJECT / "build" / "matrix"
PAGE: Final = PROJECT / "docs" / "matrix.md"

_INTRODUCTION: Final = """\
Made by `make matrix`: every job over every kind of list on every engine.

The digests are of the sorted results (under `--top` in their order), and of the ledger: of each input the line, \
format, outcome, records, bytes, what was lost, and reason and offset of each problem. They are those of all engines \
that have a time in the row; `make matrix` fails where one is not.

Times are of whole runs over a small crawl, on two cores that did other work too: they say what a run costs before it \
does much. `emr` is the double of the tests, whose steps run on the Hadoop of `hadoop`, as `spark-yarn` does; the \
other columns of Spark are `local[N]`."""


def main() -> int:
    """Run what the command line asks for; 1 if engines differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, known in (("engines", ENGINES), ("jobs", JOBS), ("lists", LISTS)):
        parser.add_argument(f"--{name}", default=",".join(known), help=f"some of {', '.join(known)} (default: all)")
    parser.add_argument("--keep", action="store_true", help="keep what earlier calls have found")
    parser.add_argument("--output", default=str(PAGE), help="the page; - is stdout (default: docs/matrix.md)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # engines end with their blocks
    kept = BUILD / "results.json"
    found = json.loads(kept.read_text()) if options.keep and kept.exists() else {}
    wanted = [set(text.split(",")) for text in (options.jobs, options.lists)]
    missing = {}
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder, ExitStack() as stack:
        write_inputs(Path(folder, "inputs"))
        place = Place(stack, Path(folder))
        for engine in [each for each in ENGINES if each in options.engines.split(",")]:
            try:
                run_job = ENGINES[engine](place)
            except MissingError as error:
                missing[engine] = str(error)
                continue
            for case in cases(Path(folder, "inputs")):
                if case.job in wanted[0] and case.kind in wanted[1]:
                    outcome = measure(run_job, case, BUILD / case.job / case.kind / engine)
                    sys.stderr.write(f"{engine}, {case.job}, {case.kind}: exit {outcome.code}, {outcome.wall_s} s\n")
                    found.setdefault(f"{case.job}/{case.kind}", {})[engine] = asdict(outcome)
                    kept.write_text(json.dumps(found, indent=1))
    text, same = page(found)
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text)
    for engine, why in missing.items():
        sys.stderr.write(f"left out: {engine}: {why}\n")
    if not same:
        sys.stderr.write(f"engines differ: see {BUILD}\n")
    return int(not same or bool(missing and os.environ.get(REQUIRED) == "1"))


def page(found: dict[str, Any]) -> tuple[str, bool]:
    """The page, and whether all engines agree."""
    engines = [engine for engine in ENGINES if any(engine in outcomes for outcomes in found.values())]
    lines = [
        "# The matrix", "",
        _INTRODUCTION, "",
        "| list | what it names |", "|---|---|", *(f"| {name} | {what} |" for name, what in LISTS.items()), "",
        f"| job | list | exit | results | ledger | {' | '.join(engines)} |", "|---" * (5 + len(engines)) + "|",
    ]  # fmt: skip
    same = True
    for name, outcomes in found.items():
        job, _, kind = name.partition("/")
        all_of_them = {engine: Outcome(**outcome) for engine, outcome in outcomes.items()}
        first = next(iter(all_of_them.values()))
        cells = []
        for engine in engines:
            outcome = all_of_them.get(engine)
            agrees = outcome is None or (outcome.agrees(first) and outcome.code == code_of(kind))
            same = same and agrees
            cells.append("" if outcome is None else f"{outcome.wall_s:.1f} s" if agrees else "**differs**")
        cells = [f"`{job}`", kind, str(first.code), f"`{first.results}`", f"`{first.ledger}`", *cells]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n", same


if __name__ == "__main__":
    sys.exit(main())
