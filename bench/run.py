"""Benchmarks beside the peers: the same generated files, the same machine, one run; medians, printed as ratios.

    python bench/run.py [SECTION…] [--scale small|full] [--repeat N] [--data DIR]
                        [--cc-pyspark FOLDER] [--cc-crawl-statistics FOLDER] [--gowarc FOLDER]
                        [--cdx-index-client FOLDER]
    python bench/run.py --profile tags

Inputs are made once below bench/.data, environments of the peers below bench/.venvs; results go to
bench/runs/DATE-HOST. Without --cc-pyspark (a checkout of github.com/commoncrawl/cc-pyspark), that peer is left out, and
so are github.com/commoncrawl/cc-crawl-statistics and github.com/ikreymer/cdx-index-client without their options.
github.com/nlnwa/gowarc is built if there is a `go`; --gowarc names a checkout of it, if Go's proxy cannot be reached.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

_BENCH = Path(__file__).resolve().parent
sys.path[0] = str(_BENCH.parent)  # the package `bench` is imported by its name, not its modules by theirs

from bench.corpus import SCALES, Corpus  # noqa: E402
from bench.harness import Comparison  # noqa: E402
from bench.lab import Lab  # noqa: E402
from bench.machine import describe  # noqa: E402
from bench.profiler import JOBS, profile  # noqa: E402
from bench.report import as_text, results_folder, save  # noqa: E402
from bench.sections import (  # noqa: E402
    extraction,
    fixed,
    links,
    network,
    records,
    servers,
    shuffle,
    sorting,
    statistics,
    structured,
    tags,
    words,
)
from bench.sections.indexes import api, clusters, index, siblings, tables, trees  # noqa: E402

SECTIONS: dict[str, Callable[[Lab], Iterator[Comparison]]] = {
    "records": records.measure,
    "tags": tags.measure,
    "servers": servers.measure,
    "words": words.measure,
    "links": links.measure,
    "structured": structured.measure,
    "shuffle": shuffle.measure,
    "sorting": sorting.measure,
    "index": index.measure,
    "clusters": clusters.measure,
    "extraction": extraction.measure,
    "tables": tables.measure,
    "trees": trees.measure,
    "siblings": siblings.measure,
    "api": api.measure,
    "statistics": statistics.measure,
    "fixed": fixed.measure,
    "network": network.measure,
}


def main() -> int:
    """Measure what the command line asks for; 1 if a contender failed."""
    parser = _parser()
    arguments = parser.parse_args()
    for section in arguments.sections:
        if section not in SECTIONS:
            parser.error(f"unknown section {section}: expected some of {', '.join(SECTIONS)}")
    if arguments.repeat < 1:
        parser.error("--repeat: expected 1 or more")
    corpus = Corpus(arguments.data.resolve(), SCALES[arguments.scale])
    cc_pyspark = arguments.cc_pyspark.resolve() if arguments.cc_pyspark else None
    statistics_peer = arguments.cc_crawl_statistics.resolve() if arguments.cc_crawl_statistics else None
    gowarc = arguments.gowarc.resolve() if arguments.gowarc else None
    client = arguments.cdx_index_client.resolve() if arguments.cdx_index_client else None
    lab = Lab(corpus, arguments.repeat, _BENCH / ".venvs", cc_pyspark, tell, statistics_peer, gowarc, client)
    if arguments.profile:
        print(profile(lab, arguments.profile))
        return 0
    facts = {
        "date": date.today().isoformat(),
        "scale": arguments.scale,
        "repeat": arguments.repeat,
        "machine": describe(_BENCH.parent, lab.interpreters()),
    }
    folder = results_folder(arguments.runs, facts["machine"], arguments.scale)
    comparisons: list[Comparison] = []
    for section in arguments.sections or SECTIONS:
        for comparison in SECTIONS[section](lab):
            comparisons.append(comparison)
            save(folder, facts, comparisons)
            print(as_text(comparison), flush=True)
    tell(f"results: {folder}")
    return int(any(row.failure for comparison in comparisons for row in comparison.rows))


def tell(text: str) -> None:
    """Say what is being done."""
    sys.stderr.write(f"{text}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"what to measure (default: all of {', '.join(SECTIONS)})"
    )
    parser.add_argument(
        "--scale", choices=SCALES, default="full", help="size of the input; the goals are about `full` (default: full)"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each contender (default: 3)")
    parser.add_argument("--cc-pyspark", type=Path, metavar="FOLDER", help="a checkout of cc-pyspark, to run beside")
    parser.add_argument(
        "--cc-crawl-statistics", type=Path, metavar="FOLDER", help="a checkout of cc-crawl-statistics, to run beside"
    )
    parser.add_argument(
        "--gowarc", type=Path, metavar="FOLDER", help="a checkout of gowarc, to build instead of what Go's proxy has"
    )
    parser.add_argument(
        "--cdx-index-client", type=Path, metavar="FOLDER", help="a checkout of cdx-index-client, to run beside"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=_BENCH / ".data",
        metavar="DIR",
        help="where the input is made and kept (default: bench/.data)",
    )
    parser.add_argument(
        "--runs", type=Path, default=_BENCH / "runs", metavar="DIR", help="where results are kept (default: bench/runs)"
    )
    parser.add_argument(
        "--profile", choices=JOBS, metavar="JOB", help=f"instead: where the CPU of a job goes ({', '.join(JOBS)})"
    )
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
