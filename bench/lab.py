"""What sections of the benchmark use: inputs, contenders by name, and `compare`.

A section is a module in bench/sections with a function `measure(lab)` that yields comparisons. Contenders of Crawlmill
are run once per installed core: `crawlmill` is pure Python, `crawlmill-native` has the native core; both use the same
decompression libraries.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.corpus import Corpus, Workload
from bench.harness import Answer, Comparison, Contender, Goal, compare, json_answer
from bench.machine import java_version
from bench.peers import environment, go_program, spark_job

__all__ = ["CORES", "LIMIT", "LOOPS", "NATIVE", "SPARK", "Lab", "local_job", "ours"]

LIMIT = "inflate, libdeflate"
SPARK = "cc-pyspark"
NATIVE = "crawlmill-native"

_GOWARC = "github.com/nlnwa/gowarc/v3"
_BENCH = Path(__file__).parent
_ROOT = _BENCH.parent
LOOPS = _BENCH / "loops"
CORES = ("python", "native") if importlib.util.find_spec("crawlmill_native") else ("python",)


def ours(suffix: str = "") -> list[str]:
    """The names of Crawlmill's rows, one per installed core."""
    return [("crawlmill" if core == "python" else f"crawlmill-{core}") + suffix for core in CORES]


def local_job(script: str, *arguments: str) -> list[str]:
    """The command of a job of Crawlmill on the local runner with two cores."""
    runner = ["-r", "local", "--num-cores", "2", "--no-progress"]
    return [sys.executable, str(_ROOT / "jobs" / script), *runner, *arguments]


@dataclass(frozen=True)
class Lab:
    """Settings of a run.

    `cc_pyspark`, `cc_crawl_statistics` and `cdx_index_client` are folders of these projects, None to leave them out;
    `gowarc` is one too, None to get it from Go's proxy. `venvs` is the folder for the peers' environments.
    """

    corpus: Corpus
    repeat: int
    venvs: Path
    cc_pyspark: Path | None
    tell: Callable[[str], None]
    cc_crawl_statistics: Path | None = None
    gowarc: Path | None = None
    cdx_index_client: Path | None = None

    @cached_property
    def readers(self) -> Path:
        """The interpreter for the loops of warcio and FastWARC."""
        return environment(self.venvs, "readers")

    @cached_property
    def spark(self) -> Path | None:
        """The interpreter for cc-pyspark; None if it is left out, or cannot run."""
        if self.cc_pyspark is None:
            return None
        if java_version() is None:
            self.tell("no Java found: cc-pyspark is left out")
            return None
        return environment(self.venvs, "cc-pyspark")

    def interpreters(self) -> dict[str, Path]:
        """All interpreters of contenders, by name."""
        found = {"crawlmill": Path(sys.executable), "readers": self.readers, "cc-pyspark": self.spark}
        return {name: python for name, python in found.items() if python is not None}

    def folder(self, name: str, what: str, make: Callable[[Path], None]) -> Path:
        """A folder of the data, which `make` fills once; where it was interrupted, it begins anew."""
        folder = self.corpus.data / name
        done = folder / "done"
        if not done.exists():
            self.tell(f"making {what} in {folder}, once")
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
        return folder

    def compare(
        self,
        section: str,
        title: str,
        contenders: Sequence[Contender],
        workload: Workload | None,
        *,
        goals: Sequence[Goal] = (),
        limit: str | None = None,
    ) -> Comparison:
        """Measure the contenders."""
        self.tell(f"{section}: {title}: {workload or ''}")
        rows = compare(contenders, workload, repeat=self.repeat, tell=lambda text: self.tell(f"  {text}"))
        return Comparison(section, title, workload, rows, tuple(goals), limit)

    def loops(self, work: str, workload: Workload, suffix: str = "") -> list[Contender]:
        """Crawlmill's bare loop, on each core."""
        command = [sys.executable, str(_BENCH / "loops/crawlmill_loop.py"), work, *workload.paths]
        return [
            Contender(name, command, {"CRAWLMILL_CORE": core}, json_answer)
            for name, core in zip(ours(suffix), CORES, strict=True)
        ]

    def each_core(self, command: Sequence[str], answer: Callable[[Path], Answer] | None = None) -> list[Contender]:
        """A command of Crawlmill, on each core."""
        return [
            Contender(name, command, {"CRAWLMILL_CORE": core}, answer) for name, core in zip(ours(), CORES, strict=True)
        ]

    def reader_loop(self, reader: str, work: str, workload: Workload) -> Contender:
        """The bare loop of a peer (`warcio`, `fastwarc`)."""
        command = [str(self.readers), str(_BENCH / f"loops/{reader}_loop.py"), work, *workload.paths]
        return Contender(reader, command, answer=json_answer)

    def gowarc_loop(self, work: str, workload: Workload) -> list[Contender]:
        """The bare loop of gowarc, if it can be built."""
        checkout = (_GOWARC, self.gowarc) if self.gowarc else None
        program = go_program(self.venvs, "gowarc", checkout, self.tell)
        return [Contender("gowarc", [str(program), work, *workload.paths], answer=json_answer)] if program else []

    def inflating(self, library: str, workload: Workload) -> Contender:
        """A loop that only inflates every member once."""
        command = [str(self.readers), str(_BENCH / "loops/inflate_loop.py"), library, *workload.paths]
        return Contender(f"inflate, {library}", command, answer=json_answer)

    def jobs(self, script: str, workload: Workload, *options: str, suffix: str = "") -> list[Contender]:
        """A job of Crawlmill on the local runner with two cores, on each core."""
        command = local_job(script, *options, workload.input_list)
        return [
            Contender(name, command, {"CRAWLMILL_CORE": core}, _pairs_answer)
            for name, core in zip(ours(suffix), CORES, strict=True)
        ]

    def inline_jobs(
        self,
        script: str,
        input_list: str,
        *options: str,
        suffix: str = "",
        env: Mapping[str, str],
        answer: Callable[[Path], Answer] | None = None,
    ) -> list[Contender]:
        """A job of Crawlmill in one process, on each core."""
        command = [sys.executable, str(_ROOT / "jobs" / script), "-r", "inline", "--no-progress", *options, input_list]
        return [
            Contender(name, command, {**env, "CRAWLMILL_CORE": core}, answer or _pairs_answer)
            for name, core in zip(ours(suffix), CORES, strict=True)
        ]

    def network_loop(self, kind: str, locations: Sequence[str], env: Mapping[str, str]) -> Contender:
        """warcio's loop over the network: `http` by requests, `s3` by boto3 and a temporary file."""
        command = [str(self.readers), str(_BENCH / "loops/warcio_network_loop.py"), kind, *locations]
        return Contender(f"warcio, {kind}", command, env, json_answer)

    def spark_jobs(self, script: str, workload: Workload) -> list[Contender]:
        """A job of cc-pyspark, if it can be run."""
        if self.spark is None or self.cc_pyspark is None:
            return []
        return [spark_job(SPARK, self.cc_pyspark, self.spark, script, workload)]


def _pairs_answer(scratch: Path) -> Answer:
    """The answer of a job's output: lines of `key TAB count`, or of `key TAB [count,…]`."""
    keys = total = 0
    with (scratch / "stdout").open("rb") as lines:
        for line in lines:
            count = line.rpartition(b"\t")[2].lstrip(b"[")
            keys += 1
            total += int(count.partition(b",")[0])
    return Answer(keys, total)
