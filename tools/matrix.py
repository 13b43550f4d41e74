"""Every job on every engine, and jobs of each shape over every kind of list: the same outcome, or this fails.

    python tools/matrix.py                                      # all engines that are there; writes docs/matrix.md
    python tools/matrix.py --engines hadoop --jobs tag_count --lists gz,top --output -
    python tools/matrix.py --keep --engines spark-4             # beside what earlier calls of this code have found

Inputs are sample crawls, which are the same bytes every time. What was found, and each run's output, is kept in
build/matrix. The engines are those of the tests; one that is missing is left out and named. `inline`, which the others
are compared with, always runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

PROJECT: Final = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[0] = str(PROJECT)  # the packages `tests` and `tools` are imported by their names

from tools.matrix_cases import JOBS, LISTS, Case, Outcome, cases, measure, write_inputs  # noqa: E402
from tools.matrix_engines import ENGINES, LANES, REQUIRED, MissingError, Place  # noqa: E402

__all__ = ["kept_of", "page"]

BUILD: Final = PROJECT / "build" / "matrix"
CODE: Final = ("lib/**/*.py", "jobs/*.py", "tools/matrix_cases.py")
REFERENCE: Final = "inline"
PAGE: Final = PROJECT / "docs" / "matrix.md"

_INTRODUCTION: Final = """\
Made by `make matrix`: every job on every engine, over a list with damage, and, if it counts, with `--top`; and one \
job of each shape over every kind of list.

The digests are of the sorted results (under `--top` in their order), and of the ledger: of each input the line, \
format, outcome, records, bytes, what was lost, and reason and offset of each problem. They are those of all engines \
that have a time in the row; `make matrix` fails where one is not.

Times are of whole runs over a small crawl, several engines at a time, on two cores that did other work too: they say \
what a run costs before it does much. `spark-yarn` runs on the Hadoop of `hadoop`; `emr` is the double of the tests, \
whose steps run on another one; the \
other columns of Spark are `local[N]`."""


def main() -> int:
    """Run what the command line asks for; 1 if engines differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, known in (("engines", ENGINES), ("jobs", JOBS), ("lists", LISTS)):
        parser.add_argument(f"--{name}", default=",".join(known), help=f"some of {', '.join(known)} (default: all)")
    parser.add_argument("--keep", action="store_true", help="keep what earlier calls of the same code have found")
    parser.add_argument("--output", default=str(PAGE), help="the page; - is stdout (default: docs/matrix.md)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # engines end with their blocks
    kept, code = BUILD / "results.json", code_digest()
    earlier = kept_of(kept, code) if options.keep else {}
    wanted = [set(text.split(",")) for text in (options.jobs, options.lists)]
    missing = {}
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder, ExitStack() as stack:
        inputs = BUILD / "inputs"  # names of inputs are in results, and must be the same in the next call
        shutil.rmtree(inputs, ignore_errors=True)
        write_inputs(inputs)
        found = {case.name: earlier.get(case.name, {}) for case in cases(inputs)}
        chosen = [case for case in cases(inputs) if case.job in wanted[0] and case.kind in wanted[1]]
        # What is entered last is left first: no other case begins, engines end, and cases that run end with them.
        lanes = {lane: stack.enter_context(ThreadPoolExecutor(1)) for lane in LANES}
        place, ready = Place(stack, Path(folder)), {}
        engines = {REFERENCE, *options.engines.split(",")}
        for engine in [each for each in ENGINES if each in engines]:
            try:
                ready[engine] = ENGINES[engine](place)
            except MissingError as error:
                missing[engine] = str(error)
        runs: dict[Future[Outcome], tuple[str, Case]] = {}
        stack.callback(lambda: [run.cancel() for run in runs])
        for engine, run_job in ready.items():
            lane = next(pool for lane, pool in lanes.items() if engine in lane)
            for case in chosen:
                runs[lane.submit(measure, run_job, case, BUILD / case.job / case.kind / engine)] = engine, case
        for run in as_completed(runs):
            (engine, case), outcome = runs[run], run.result()
            sys.stderr.write(f"{engine}, {case.job}, {case.kind}: exit {outcome.code}, {outcome.wall_s} s\n")
            found[case.name][engine] = asdict(outcome)
            kept.write_text(json.dumps({"code": code, "found": found}, indent=1))
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


def code_digest() -> str:
    """A digest of the code that results come from."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in CODE for path in PROJECT.glob(pattern)):
        digest.update(f"{path.relative_to(PROJECT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def kept_of(kept: Path, code: str) -> dict[str, Any]:
    """What this code has found in earlier calls."""
    content = json.loads(kept.read_text()) if kept.exists() else {}
    return content["found"] if content.get("code") == code else {}


def page(found: dict[str, Any]) -> tuple[str, bool]:
    """The page, and whether all engines agree with the reference, and that is as it should be."""
    engines = [engine for engine in ENGINES if any(engine in outcomes for outcomes in found.values())]
    lines = [
        "# The matrix",
        "",
        _INTRODUCTION,
        "",
        "| list | what it names |",
        "|---|---|",
        *(f"| {name} | {what} |" for name, what in LISTS.items()),
        "",
        f"| job | list | exit | results | ledger | {' | '.join(engines)} |",
        "|---" * (5 + len(engines)) + "|",
    ]
    same = True
    for name, outcomes in found.items():
        job, _, kind = name.partition("/")
        if REFERENCE not in outcomes:  # nobody has asked for it yet
            continue
        all_of_them = {engine: Outcome(**outcome) for engine, outcome in outcomes.items()}
        first = all_of_them[REFERENCE]
        cells = []
        for engine in engines:
            outcome = all_of_them.get(engine)
            if outcome is None:
                cells.append("")
            elif not outcome.agrees(first):
                cells.append("**differs**")
            else:
                cells.append(f"{outcome.wall_s:.1f} s")
        if not first.is_as_expected(kind):
            cells[engines.index(REFERENCE)] = "**wrong**"
        same = same and not any(cell.startswith("*") for cell in cells)
        cells = [f"`{job}`", kind, str(first.code), f"`{first.results}`", f"`{first.ledger}`", *cells]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n", same


if __name__ == "__main__":
    sys.exit(main())
