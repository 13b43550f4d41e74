"""The cases of the matrix: jobs, kinds of lists, their inputs; and what is compared of a run."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests import builders
from tests.indexes.captures import make_cluster, make_lines
from tests.mr.helpers import PROJECT, Ended

from crawlmill.sample import write_sample

__all__ = ["COMBINED", "JOBS", "LISTS", "Case", "Outcome", "Run", "cases", "code_of", "measure", "write_inputs"]

JOBS: Final = {
    "find_captures": "patterns",
    "extract_records": "records",
    "tag_count": "warc",
    "server_count": "wat",
    "word_count": "wet",
    "text_data": "textData",
    "crawl_metadata": "metadata",
    "metadata_statistics": "metadata",
    "near_duplicates": "pairs",
    "url_index": "warc",
    "url_table": "warc",
    "host_index": "warc",
    "sibling_index": "warc",
    "crawl_statistics": "warc",
    "host_statistics": "wat",
    "prefix_tree": "metadata",
    "server_addresses": "warc",
    "sitemaps": "robots",
    "page_links": "wat",
    "host_graph": "wat",
    "structured_data": "warc",
}
"""The jobs, and what each of them reads."""

LISTS: Final = {
    "good": "three whole files",
    "damaged": "a whole file, one that is cut, one with a flipped bit, one that is not there",
    "small": "200 files of one page each, twenty to a task",
    "ranges": "records of one file, three to a line, eight lines to a task; of SequenceFiles, splits",
    "gz": "three whole files; the list is gzip, in two members, with comments",
    "top": "three whole files, `--top 5`",
}
COMBINED: Final = "combined"
"""A list that has something of all of these."""

_OPTIONS: Final = {
    "small": ("--inputs-per-task", "20"),
    "ranges": ("--inputs-per-task", "8"),
    COMBINED: ("--inputs-per-task", "24"),
    "top": ("--top", "5"),
}
_NOT_OK: Final = ("damaged", COMBINED)
_CUT_BY_THEMSELVES: Final = ("find_captures", "extract_records")
"""Jobs that say themselves what a task is."""
_COUNTING: Final = (
    "tag_count",
    "server_count",
    "word_count",
    "metadata_statistics",
    "server_addresses",
    "crawl_statistics",
    "host_statistics",
)
_FEW_REDUCERS: Final = ("-D", "mapreduce.job.reduces=3")  # instead of 16: each is a Java machine of its own
_MORE: Final = {
    "extract_records": ("--max-size", "100KB", "--prefix", "r"),
    "word_count": ("--document-frequency",),
    "near_duplicates": ("--hash", "package"),
    "url_index": ("--shards", "3", "--lines", "20", *_FEW_REDUCERS),
    "url_table": ("--parts", "2", "--rows", "50", *_FEW_REDUCERS),
    "host_index": ("--parts", "3", *_FEW_REDUCERS),
    "sibling_index": ("--parts", "3", "--siblings=", *_FEW_REDUCERS),
    "crawl_statistics": _FEW_REDUCERS,
    "host_statistics": _FEW_REDUCERS,
    "host_graph": _FEW_REDUCERS,
    "prefix_tree": ("--block-size", "512"),
    "structured_data": ("--parts", "3", *_FEW_REDUCERS),
}
_FILES: Final = {
    "url_index": "c*",
    "url_table": "crawl=*/*/*.parquet",
    "host_index": "crawl=*/*.parquet",
    "sibling_index": "crawl=*/*.parquet",
    "prefix_tree": "url-index.pbtree",
    "host_graph": "*/part-*",
    "structured_data": "[cp]*",
}
"""Jobs whose results are files: those by which they are compared."""
_OVER_EVERY_LIST: Final = ("tag_count", "near_duplicates", "url_index", "extract_records")
"""One job of each shape: a sum, several steps, files that a survey cuts, files of tasks. Other jobs share with these
what they would show on other lists than `damaged` and, if they count, `top`."""
_SPLIT: Final = 30_000

Run = Callable[..., Ended]
"""Runs a job: its script and arguments, without `-r`."""


@dataclass(frozen=True)
class Case:
    """A job over a list."""

    job: str
    kind: str
    path: Path

    @property
    def name(self) -> str:
        """`job/kind`."""
        return f"{self.job}/{self.kind}"

    @property
    def script(self) -> Path:
        """The job's file."""
        return PROJECT / "jobs" / f"{self.job}.py"

    @property
    def options(self) -> tuple[str, ...]:
        """Its options, besides the list."""
        given = () if self.job in _CUT_BY_THEMSELVES else _OPTIONS.get(self.kind, ())
        index = ("--index", str(self.path.parent / "index")) if self.job == "find_captures" else ()
        return (*_MORE.get(self.job, ()), *index, *given)


def code_of(kind: str) -> int:
    """The expected exit code for a list of this kind."""
    return 2 if kind in _NOT_OK else 0


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run, with the lines of its results, and digests of those and of its ledger."""

    code: int
    lines: int
    results: str
    ledger: str
    wall_s: float

    def agrees(self, other: Outcome) -> bool:
        """Whether both are the same, except for the time they took."""
        return replace(self, wall_s=0) == replace(other, wall_s=0)

    def is_as_expected(self, kind: str) -> bool:
        """Whether it is as expected for a list of this kind; every job must have results."""
        return self.code == code_of(kind) and self.lines > 0


def write_inputs(folder: Path) -> None:
    """Write crawl files and lists: `folder/KIND/LIST.paths` for each kind of input."""
    formats = ("warc", "wat", "wet", "metadata", "text")
    for name, pages, files in (("whole", 60, 3), ("small", 200, 200)):
        write_sample(folder / name, pages=pages, files=files, formats=formats)
        _write_pairs(folder / name / "pairs", pages, files)
        _write_robots(folder / name / "robots", pages, files)
    for kind in sorted(set(JOBS.values()) - {"records", "patterns"}):
        home = folder / kind
        home.mkdir()
        found = {name: _gather(folder / name, home, kind) for name in ("whole", "small")}
        for name, lines in _lists(home, found["whole"], found["small"]).items():
            text = "".join(f"{line}\n" for line in lines).encode()
            half = len(text) // 2
            packed = gzip.compress(text[:half], mtime=0) + gzip.compress(text[half:], mtime=0)
            (home / f"{name}.paths").write_bytes(packed if name in ("gz", COMBINED) else text)
    _write_record_lists(folder / "warc", folder / "records")
    _write_patterns(folder / "patterns")


def _write_patterns(home: Path) -> None:
    """A cluster with a damaged member, and lists of patterns: only those of the lists with damage mean its captures."""
    lines = make_lines(1200, seed=7)
    bounds = make_cluster(home / "index", lines)
    first, name, offset, _ = bounds[len(bounds) // 2]
    data = bytearray((home / "index" / name).read_bytes())
    data[offset + 40] ^= 16
    (home / "index" / name).write_bytes(data)
    at = lines.index(first)
    urls = [json.loads(line.split(" ", 2)[2])["url"] for line in lines]
    near = {line.split(" ")[0] for line in lines[at - 1 : at + 51]}  # a key may reach into the damaged member
    good = list(dict.fromkeys(url for url, line in zip(urls, lines, strict=True) if line.split(" ")[0] not in near))
    damaged = [urls[at + 25], *good[:20]]
    lists = {
        "good": good,
        "damaged": damaged,
        "small": good[:200],
        "ranges": [f"{url}\texact" for url in good[:100]],
        "gz": ["# URLs", *good[:50], "", *good[50:]],
        COMBINED: ["# all in one", *damaged, "", *good[:99], good[0]],
    }
    for kind, patterns in lists.items():
        text = "".join(f"{pattern}\n" for pattern in patterns).encode()
        (home / f"{kind}.paths").write_bytes(gzip.compress(text, mtime=0) if kind in ("gz", COMBINED) else text)


def _write_record_lists(warc: Path, home: Path) -> None:
    """The lists of WARC files once more, as ranges of three records: of damaged files as they were before."""
    home.mkdir()
    intact = {"cut": "whole-001", "flipped": "whole-001", "missing": "whole-001"}
    for path in sorted(warc.glob("*.paths")):
        data, lines = path.read_bytes(), []
        for line in (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode().splitlines():
            if not line or line.startswith("#"):
                lines.append(line)
                continue
            name, *span = line.split("\t")
            bounds = [] if span else _bounds((warc / intact.get(name, name)).read_bytes())
            spans = [span] if span else [[str(start), str(end - start)] for start, end in pairwise(bounds)]
            lines += ["\t".join((f"../warc/{name}", *each)) for each in spans]
        text = "".join(f"{line}\n" for line in lines).encode()
        (home / path.name).write_bytes(gzip.compress(text, mtime=0) if path.stem in ("gz", COMBINED) else text)


def cases(folder: Path) -> Iterator[Case]:
    """All cases over the inputs in this folder, except the combined list."""
    for job, kind in JOBS.items():
        for name in LISTS:
            if job in _COUNTING if name == "top" else name == "damaged" or job in _OVER_EVERY_LIST:
                yield Case(job, name, folder / kind / f"{name}.paths")


def measure(run_job: Run, case: Case, folder: Path) -> Outcome:
    """Run a case; its output is kept in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    ledger = folder / "ledger"
    ledger.unlink(missing_ok=True)
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    files = "r*.cdxj" if case.job == "extract_records" else _FILES.get(case.job)
    more = ("--output-dir", output) if files else ()
    began = time.monotonic()
    ended = run_job(case.script, *case.options, *more, "--ledger", ledger, case.path)
    wall_s = time.monotonic() - began
    if files:
        ended = replace(ended, out=_listed(output, files))
    (folder / "results").write_text(ended.out)
    (folder / "stderr").write_text(ended.err)
    rows = [_essence(json.loads(line)) for line in ledger.read_bytes().splitlines()] if ledger.exists() else None
    results = ended.out if case.kind == "top" else "\n".join(sorted(ended.out.split("\n")))
    lines = ended.out.count("\n")
    return Outcome(ended.code, lines, _digest(results), _digest(json.dumps(rows)), round(wall_s, 1))


def _listed(folder: Path, pattern: str) -> str:
    """The names of files in a folder and the digests of their content, a line each."""
    found = sorted(folder.glob(pattern))
    return "".join(f"{path.relative_to(folder)}\t{hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in found)


def _write_pairs(folder: Path, pages: int, files: int) -> None:
    """WET files whose pages come in families of five, in which each differs from the others by a word."""
    folder.mkdir()
    records = []
    for number in range(pages):
        words = [_digest(f"{number // 5} {place}") for place in range(400)]
        words[number % 5 * 50] = "other"
        records.append(builders.conversion(f"http://{number % 7}.example/{number}", " ".join(words)))
    for number in range(files):
        data = builders.pack([builders.warcinfo(), *records[number::files]])
        (folder / f"{number:03}.gz").write_bytes(data)


def _write_robots(folder: Path, pages: int, files: int) -> None:
    """WARC files of robots.txt files, in which seven hosts name sitemaps of their own and one of all."""
    folder.mkdir()
    records = []
    for number in range(pages):
        body = f"Sitemap: /{number}.xml\nSitemap: http://all.example/{number % 50}.xml\n".encode()
        records.append(builders.response(f"http://{number % 7}.example/robots.txt", body, []))
    for number in range(files):
        data = builders.pack([builders.warcinfo(), *records[number::files]])
        (folder / f"{number:03}.gz").write_bytes(data)


def _gather(crawl: Path, home: Path, kind: str) -> list[str]:
    """Move a crawl's files of a kind into one folder; gives their new names."""
    pattern = f"{kind}-*" if kind in ("metadata", "textData") else f"{kind}/*.gz"
    names = []
    for number, path in enumerate(sorted(crawl.rglob(pattern))):
        names.append(f"{crawl.name}-{number:03}")
        path.rename(home / names[-1])
    return names


def _lists(home: Path, whole: list[str], small: list[str]) -> dict[str, list[str]]:
    data = (home / whole[1]).read_bytes()
    (home / "cut").write_bytes(data[: len(data) * 2 // 3])
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 16
    (home / "flipped").write_bytes(flipped)
    bounds = _bounds((home / whole[2]).read_bytes())
    ranges = [f"{whole[2]}\t{start}\t{end - start}" for start, end in pairwise(bounds)]
    damaged = [whole[0], "cut", "flipped", "missing"]
    marked = ["# whole files", *whole[:2], "", whole[2], "# that was all"]
    return {
        "good": whole,
        "damaged": damaged,
        "small": small,
        "ranges": ranges,
        "gz": marked,
        "top": whole,
        COMBINED: ["# all in one", *damaged, "", *small[:20], *ranges, whole[0]],
    }


def _bounds(data: bytes) -> list[int]:
    """Where every third gzip member begins, and the end; splits of a SequenceFile are of one size."""
    if data.startswith(b"SEQ"):
        return [*range(0, len(data), _SPLIT), len(data)]
    starts, left = [0], data
    while left:
        inflater = zlib.decompressobj(31)
        inflater.decompress(left)
        left = inflater.unused_data
        starts.append(len(data) - len(left))
    return [*starts[:-1:3], len(data)]


def _essence(row: dict[str, Any]) -> list[Any]:
    """The part of a row that must be the same on every engine: locations may differ."""
    problems = [[problem["reason"], problem["offset"]] for problem in row["problems"]]
    return [row[name] for name in ("input", "format", "outcome", "records", "bytes", "lost")] + problems


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
