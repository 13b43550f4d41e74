"""What a job over a whole crawl costs on EMR, from the CPU seconds that a benchmark measured; a Markdown table.

    python tools/cost.py
    python tools/cost.py --instance c7g.xlarge=4,0.1450,0.0363 --spot 0.4 --bytes warc=28.94 --files 30374

A price is what you say: the built-in ones are examples of what on-demand machines cost in us-east-1, and change. Sizes
are by default those of CC-MAIN-2016-40, as it was announced: 30,374 files of each kind; crawls of later years are up
to three times as large. Reading from S3 costs nothing in the region where the crawl lies.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

RUNS = Path(__file__).resolve().parents[1] / "bench" / "runs"
JOBS = {"tags": "tag_count", "servers": "server_count", "words": "word_count --document-frequency"}
CORES = {"crawlmill": "Python", "crawlmill-native": "native"}
TIB = 1 << 40
SIZES = {"warc": 28.94, "wat": 10.35, "wet": 4.54}


Measured = tuple[str, str, str, float]
"""Section, kind of input, core, and CPU seconds for a compressed byte."""


@dataclass(frozen=True)
class Instance:
    """A type of machine: virtual processors, and dollars an hour for the machine and for EMR."""

    name: str
    processors: int
    machine: float
    emr: float

    @classmethod
    def parse(cls, text: str) -> Instance:
        """`m5.xlarge=4,0.192,0.048`; made for argparse."""
        try:
            name, _, rest = text.partition("=")
            processors, machine, emr = rest.split(",")
            return cls(name, int(processors), float(machine), float(emr))
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected NAME=PROCESSORS,MACHINE_PRICE,EMR_PRICE, got {text}") from None

    def dollars(self, cpu_s: float, spot: float) -> float:
        """What so many CPU seconds cost, all processors being busy."""
        return cpu_s / 3600 / self.processors * (self.machine * spot + self.emr)


EXAMPLES = (
    Instance("m5.xlarge", 4, 0.192, 0.048),
    Instance("c5.xlarge", 4, 0.17, 0.043),
    Instance("c7g.xlarge", 4, 0.145, 0.0363),
)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "--instance",
        type=Instance.parse,
        action="append",
        metavar="NAME=PROCESSORS,MACHINE,EMR",
        help="what a type of machine, and EMR on it, costs an hour",
    )
    add(
        "--spot",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="share of the machine's price that is paid (default: 1)",
    )
    add(
        "--busy",
        type=float,
        default=0.8,
        metavar="SHARE",
        help="share of the paid time in which processors work (default: 0.8)",
    )
    add("--files", type=int, default=30_374, metavar="N", help="files of each kind")
    add("--bytes", action="append", default=[], metavar="KIND=TIB", help="compressed size, as warc=28.94")
    add(
        "--results", type=Path, help="results.json of a benchmark (default: the latest of one that measured whole jobs)"
    )
    options = parser.parse_args()
    sizes = {**SIZES, **{kind: float(size) for kind, _, size in (each.partition("=") for each in options.bytes)}}
    rows = measured(options.results) if options.results else latest()
    instances = options.instance or EXAMPLES
    print(
        "| job | input | core | CPU seconds per GB | processor hours |",
        *(f"{each.name} |" for each in instances),
        f"one file, {instances[0].name} |",
    )
    print("|---" * (6 + len(instances)) + "|")
    for section, kind, core, per_byte in rows:
        cpu_s = per_byte * sizes[kind] * TIB / options.busy
        prices = [f"${each.dollars(cpu_s, options.spot):,.2f} |" for each in instances]
        one_file = instances[0].dollars(cpu_s, options.spot) / options.files
        print(
            f"| `{JOBS[section]}` | {sizes[kind]:g} TiB of {kind.upper()} | {core} | {per_byte * 1e9:.1f} "
            f"| {cpu_s / 3600:,.0f} |",
            *prices,
            f"${one_file:.5f} |",
        )
    return 0


def latest() -> list[Measured]:
    """What the latest benchmark says that measured whole jobs: others may have run a few sections only."""
    return next(filter(None, map(measured, sorted(RUNS.glob("*/results.json"), reverse=True))), [])


def measured(path: Path) -> list[Measured]:
    """The whole jobs among the results of a benchmark."""
    results: dict[str, Any] = json.loads(path.read_bytes())
    return [
        (
            table["section"],
            table["workload"]["kind"],
            CORES[row["name"]],
            median(run["cpu_s"] for run in row["runs"]) / table["workload"]["compressed"],
        )
        for table in results["comparisons"]
        if table["section"] in JOBS and table["title"].startswith("whole jobs")
        for row in table["rows"]
        if row["name"] in CORES and row["runs"] and not row["failure"]
    ]


if __name__ == "__main__":
    sys.exit(main())
