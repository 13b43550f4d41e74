"""The links of pages, in WAT and in WARC files: whole jobs in one process, compared with bare loops of the peers.

cc-pyspark finds links only in WAT files. In WARC files, the peers find what a regular expression takes for an attribute
and resolve it with `urljoin`: fewer kinds of links, and also text in scripts and comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.harness import Answer, AtLeast, Comparison, Contender, Goal, json_answer
from bench.lab import LIMIT, NATIVE, SPARK, Lab

__all__ = ["measure"]

_LOOP = Path(__file__).resolve().parent.parent / "loops/cc_pyspark_links_loop.py"


def measure(lab: Lab) -> Iterator[Comparison]:
    """Both tables."""
    for kind in ("wat", "warc"):
        workload = lab.corpus.workload(kind)
        contenders = lab.inline_jobs("page_links.py", workload.input_list, env={}, answer=_lines_answer)
        goals: list[Goal] = []
        if kind == "warc":
            contenders += [lab.reader_loop(reader, "links", workload) for reader in ("warcio", "fastwarc")]
            goals += [AtLeast(NATIVE, "warcio", "cpu", 6)]
        elif (
            lab.spark is not None and lab.cc_pyspark is not None and (lab.cc_pyspark / "wat_extract_links.py").exists()
        ):
            command = [str(lab.spark), str(_LOOP), str(lab.cc_pyspark), *workload.paths]
            contenders.append(Contender(SPARK, command, answer=json_answer))
            goals += [AtLeast(NATIVE, SPARK, "cpu", 6)]
        contenders.append(lab.inflating("libdeflate", workload))
        yield lab.compare("links", f"in {kind.upper()}, one process", contenders, workload, goals=goals, limit=LIMIT)


def _lines_answer(scratch: Path) -> Answer:
    """The number of links printed."""
    with (scratch / "stdout").open("rb") as lines:
        return Answer(1, sum(1 for _ in lines))
