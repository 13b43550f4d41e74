"""The matrix in small: every job with `-r local`, over one list that has something of everything.

On the other engines it is one job of each shape. The reference is `-r inline`.
`make matrix` runs all jobs on all engines, over more lists.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tools.matrix import kept_of, page
from tools.matrix_cases import COMBINED, JOBS, Case, Outcome, measure, write_inputs
from tools.matrix_engines import ENGINES, REQUIRED, MissingError, Place

# What differs between jobs for an engine: several steps, shards that a survey cuts, files of each task, lines that have
# no value. Sums are what the other tests of engines compare.
SHAPES = ("near_duplicates", "url_index", "extract_records", "find_captures")
# The index has several steps, too.
SHAPES_ON_HADOOP = ("url_index", "extract_records", "find_captures")
SHAPE_ON_EMR = "url_index"


class Matrix:
    """Runs cases; engines stay up until the end of the module."""

    def __init__(self, folder: Path, place: Place) -> None:
        self._folder, self._place = folder, place
        self._runs: dict[str, Callable] = {}
        self._expected: dict[tuple[str, str], Outcome] = {}
        write_inputs(folder / "inputs")

    def run(self, engine: str, job: str, kind: str) -> tuple[Outcome, str]:
        """How a case ended, and what it said on stderr."""
        if engine not in self._runs:
            try:
                self._runs[engine] = ENGINES[engine](self._place)
            except MissingError as error:
                if os.environ.get(REQUIRED) == "1":
                    raise
                pytest.skip(f"{engine}: {error}")
        folder = self._folder / engine / job / kind
        case = Case(job, kind, self._folder / "inputs" / JOBS[job] / f"{kind}.paths")
        return measure(self._runs[engine], case, folder), (folder / "stderr").read_text()

    def check(self, engine: str, job: str, kind: str) -> None:
        """The case ends on this engine as it does in one process."""
        if (job, kind) not in self._expected:
            expected, said = self.run("inline", job, kind)
            assert expected.is_as_expected(kind), said
            self._expected[job, kind] = expected
        found, said = self.run(engine, job, kind)
        assert found.agrees(self._expected[job, kind]), said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with ExitStack() as stack:
        yield Place(stack, tmp_path_factory.mktemp("engines"))


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory, place: Place) -> Matrix:
    return Matrix(tmp_path_factory.mktemp("matrix"), place)


@pytest.fixture
def clustered(matrix: Matrix, place: Place, hadoop) -> Matrix:
    """With the Hadoop of this test run."""
    place.hadoop = place.hadoop_of_emr = hadoop
    return matrix


def test_combined_list_has_something_of_everything(matrix):
    outcome, said = matrix.run("inline", "tag_count", COMBINED)
    assert outcome.code == 2
    assert "1 repeated line left out" in said
    for word in ("cut: truncated", "flipped: bad-", "missing: not-found"):
        assert word in said


GOOD = {"code": 0, "lines": 3, "results": "r", "ledger": "l", "wall_s": 1.0}


@pytest.mark.parametrize(
    ("outcomes", "cells"),
    [
        ({"inline": GOOD, "hadoop": {**GOOD, "wall_s": 9.0}}, "`r` | `l` | 1.0 s | 9.0 s"),
        ({"inline": GOOD, "hadoop": {**GOOD, "results": "other"}}, "`r` | `l` | 1.0 s | **differs**"),
        ({"hadoop": {**GOOD, "ledger": "other"}, "inline": GOOD}, "`r` | `l` | 1.0 s | **differs**"),
        ({"inline": {**GOOD, "lines": 0}, "hadoop": {**GOOD, "lines": 0}}, "`r` | `l` | **wrong** | 1.0 s"),
        ({"inline": {**GOOD, "code": 2}, "hadoop": {**GOOD, "code": 2}}, "`r` | `l` | **wrong** | 1.0 s"),
    ],
)
def test_page_tells_which_engine_differs_from_inline(outcomes, cells):
    text, same = page({"tag_count/good": outcomes})
    assert text.splitlines()[-1].endswith(f"| {cells} |")
    assert same == ("**" not in cells)


def test_what_other_code_has_given_is_not_kept(tmp_path):
    kept = tmp_path / "results.json"
    assert kept_of(kept, "a") == {}
    kept.write_text(json.dumps({"code": "a", "found": {"tag_count/good": {"inline": GOOD}}}))
    assert kept_of(kept, "a") == {"tag_count/good": {"inline": GOOD}}
    assert kept_of(kept, "b") == {}


@pytest.mark.parametrize("job", JOBS)
def test_job_on_the_local_runner(matrix, job):
    matrix.check("local", job, COMBINED)


@pytest.mark.hadoop
@pytest.mark.parametrize("job", SHAPES_ON_HADOOP)
def test_job_on_hadoop(clustered, job):
    clustered.check("hadoop", job, COMBINED)


@pytest.mark.hadoop
def test_job_on_emr(clustered):
    clustered.check("emr", SHAPE_ON_EMR, COMBINED)


@pytest.mark.spark
@pytest.mark.parametrize("job", SHAPES)
def test_job_on_spark(matrix, job):
    matrix.check("spark-4", job, COMBINED)
