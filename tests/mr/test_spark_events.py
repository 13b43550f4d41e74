"""What the launcher takes in of the file that Spark's driver writes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from crawlmill.mr.engines.spark.events import SparkEvents
from crawlmill.mr.run.progress import Console, Progress


def task(step: int, name: str, rows: str, count: int) -> dict:
    return {"task": {"task": name, "step": step, "totals": [1, 2, 3, 0], "counters": {"g: n": count}, "rows": rows}}


@pytest.fixture
def told(tmp_path: Path):
    """Events of a run of two steps, and what adds to their file."""
    path = tmp_path / "events.jsonl"
    path.touch()
    events = SparkEvents(path, 2, Progress(Console(io.BytesIO()), lambda _: None, shown=False))

    def tell(*lines: dict | str) -> SparkEvents:
        with path.open("a") as file:
            file.writelines(line if isinstance(line, str) else f"{json.dumps(line)}\n" for line in lines)
        events.hear()
        return events

    return tell


def rows(events: SparkEvents, tmp_path: Path) -> list[str]:
    events.write_rows(tmp_path / "rows")
    return sorted((tmp_path / "rows").read_text(encoding="utf-8").splitlines())


def test_rows_of_each_task_are_those_of_its_last_word(told, tmp_path):
    told(task(0, "map-00000", "0a\n0b ä\n", 5), task(0, "map-00001", "1a\n", 1))
    told(task(0, "map-00001", "1b\n", 2), task(1, "map-00001", "", 9))
    events = told()
    assert rows(events, tmp_path) == ["0a", "0b ä", "1b"]
    assert events.counters() == [{"g: n": 7}, {"g: n": 9}]


def test_task_that_is_run_again_is_one_of_the_totals(told):
    events = told(task(0, "map-00000", "a\n", 1), task(0, "map-00000", "a\n", 1))
    assert events._totals == (1, 2, 3, 0)


def test_line_that_is_not_whole_yet_is_read_again(told, tmp_path):
    line = json.dumps(task(0, "map-00000", "a\n", 1))
    assert rows(told({"application": "app-1"}, line[:9]), tmp_path) == []
    events = told(line[9:], "\n", {"parts": [[0, "part-00000-7"]]}, {"failed": "x"})
    assert rows(events, tmp_path) == ["a"]
    assert (events.application, events.parts, events.failed) == ("app-1", [[[0, "part-00000-7"]]], "x")


def test_stage_tells_its_kind(told):
    events = told({"stage": 4, "step": 1, "kind": "reduce", "tasks": 1000, "done": 3})
    assert events.kinds == {4: "reduce"}
    assert events._watch.phase == "step 2 of 2, reduce 3 of 1,000 tasks"


def test_rows_are_not_held_in_memory(told):
    events = told(*(task(0, f"map-{number:05}", "x" * 100_000, 1) for number in range(20)))
    assert all(not isinstance(value, str) for each in events._tasks.values() for value in (each.offset, each.length))
    assert "xxx" not in repr(vars(events))
