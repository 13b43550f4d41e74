"""Which process gets which tests: with processes that take any time for a test, and run none."""

from __future__ import annotations

import random
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.daemons import ENGINES, engine_in

scheduling = pytest.importorskip("tests.scheduling", reason="pytest-xdist is not installed")

HADOOP = [f"tests/engines/test_hadoop.py::test_job[@hadoop-{number}]" for number in range(9)]
SPARK = [f"tests/engines/test_spark.py::test_job_{number}[@spark]" for number in range(3)]
PAGES = [f"tests/docs/test_shown_commands.py::test_page[{page}.md]" for page in "abc"]
FILES = [[f"tests/{name}.py::test_it[{number}]" for number in range(1 + name)] for name in range(30)]
IDS = [*HADOOP, *SPARK, *PAGES, *(test for file in FILES for test in file)]


class Process:
    """A process of pytest-xdist: it begins a test when it knows the next one, or that there is none."""

    def __init__(self) -> None:
        self.given, self.ended, self.shutting_down = [], [], False
        self.gateway = SimpleNamespace(id=id(self))

    def send_runtest_some(self, places):
        self.given += places

    def shutdown(self):
        self.shutting_down = True

    @property
    def runs(self):
        return len(self.given) > len(self.ended) + (not self.shutting_down)


def scheduled(count, seed, ids):
    """Processes after a run; the tests of each in their order, and all in the order in which they ended."""
    config = SimpleNamespace(getvalue=lambda _: ["popen"] * count, option=SimpleNamespace(loadscopereorder=True))
    scheduler = scheduling.EngineScheduling(config, SimpleNamespace(loadscopesched=lambda *_: None))
    processes, order, rng = [Process() for _ in range(count)], [], random.Random(seed)
    for process in processes:
        scheduler.add_node(process)
        scheduler.add_node_collection(process, ids)
    scheduler.schedule()
    while running := [process for process in processes if process.runs]:
        process = rng.choice(running)
        place = process.given[len(process.ended)]
        process.ended.append(ids[place])
        order.append(ids[place])
        scheduler.mark_test_complete(process, place)
    assert scheduler.tests_finished
    assert not scheduler.has_pending
    return [process.ended for process in processes], order


@pytest.mark.parametrize("count", [1, 2, 3, 4, 50])
@pytest.mark.parametrize("seed", range(5))
def test_every_test_is_run_once_and_few_processes_have_daemons(count, seed):
    runs, order = scheduled(count, seed, IDS)
    assert sorted(order) == sorted(IDS)
    assert sum(any(test in HADOOP for test in run) for run in runs) <= 2
    assert sum(any(test in SPARK for test in run) for run in runs) == 1
    for file in FILES:
        assert sum(not set(file).isdisjoint(run) for run in runs) == 1, "a file was cut"


def test_tests_of_engines_are_begun_first_and_shared_out():
    runs, _ = scheduled(4, 0, IDS)
    begun = [engine_in(run[0]) for run in runs]
    assert begun[:3] == ["hadoop", "hadoop", "spark"]
    assert runs[3][0] == PAGES[0]
    assert all(len([test for test in run if test in HADOOP]) > 1 for run in runs[:2])


def test_cases_of_a_test_stay_together_where_there_are_few_files():
    runs, _ = scheduled(
        2, 0, ["tests/a.py::test_a[1]", "tests/a.py::test_a[2]", "tests/a.py::test_b", "tests/a.py::test_c"]
    )
    assert [sorted(run) for run in runs] == [
        ["tests/a.py::test_a[1]", "tests/a.py::test_a[2]"],
        ["tests/a.py::test_b", "tests/a.py::test_c"],
    ]


def test_work_of_a_process_that_crashed_is_done_by_the_others():
    config = SimpleNamespace(getvalue=lambda _: ["popen"] * 2, option=SimpleNamespace(loadscopereorder=True))
    scheduler = scheduling.EngineScheduling(config, SimpleNamespace(loadscopesched=lambda *_: None))
    crashed, other = Process(), Process()
    for process in (crashed, other):
        scheduler.add_node(process)
        scheduler.add_node_collection(process, HADOOP)
    scheduler.schedule()
    assert scheduler.remove_node(crashed) == HADOOP[crashed.given[0]]
    while other.runs:
        place = other.given[len(other.ended)]
        other.ended.append(place)
        scheduler.mark_test_complete(other, place)
    assert sorted(other.ended) == list(range(len(HADOOP)))


def test_what_takes_longest_is_begun_first():
    ids = [
        "tests/engines/test_b.py::test_c[@hadoop]",
        "tests/engines/test_b.py::test_b[@spark-x]",
        "tests/engines/test_a.py::test_a",
        "tests/docs/test_shown_commands.py::test_a[x]",
        "tests/api/test_a.py::test_a[a@hadoop-]",
    ]
    items = [SimpleNamespace(nodeid=nodeid) for nodeid in reversed(ids)]
    scheduling.order(items)
    assert [each.nodeid for each in items] == ids


def test_tests_with_the_marker_of_an_engine_have_its_name_in_their_ids():
    marked = " or ".join(ENGINES)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=--import-mode=importlib",
        "--collect-only",
        "-q",
        "-m",
        marked,
        "tests/engines",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.partition("\n\n")[0]
    assert {engine_in(nodeid) for nodeid in listed.splitlines()} == set(ENGINES)
