"""How far a run was at which time."""

from __future__ import annotations

import io
import json
from itertools import pairwise

from crawlmill.ledger.run_json import run_report
from crawlmill.ledger.summary import Summary
from crawlmill.ledger.timeline import MAX_POINTS, Timeline
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.task.monitor import Totals


def test_a_short_run_has_a_point_for_each_report_and_ends_with_its_totals():
    timeline = Timeline()
    timeline.add(0.5, 1, 10, 1000)
    timeline.add(1.0, 2, 30, 2000)
    assert timeline.series(1.25, 3, 40, 2500) == [
        (0, 0, 0, 0),
        (0.5, 1, 10, 1000),
        (1, 2, 30, 2000),
        (1.25, 3, 40, 2500),
    ]


def test_a_run_of_which_nothing_is_known_has_two_points():
    assert Timeline().series(7.0, 3, 40, 2500) == [(0, 0, 0, 0), (7, 3, 40, 2500)]


def test_a_long_run_keeps_few_points_all_over_its_time():
    timeline = Timeline()
    for second in range(1, 100_001):
        timeline.add(second, second // 10, second * 2, second * 3)
    series = timeline.series(100_001, 10_000, 200_000, 300_000)
    assert 80 <= len(series) <= MAX_POINTS
    assert all(point == (point[0], point[0] // 10, point[0] * 2, point[0] * 3) for point in series[1:-1])
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(series)]
    assert max(gaps[2:-1]) <= 2 * min(gaps[2:-1])


def test_no_column_falls_where_a_task_is_lost_or_counted_twice():
    timeline = Timeline()
    for at, point in enumerate([(1, 100, 9000), (0, 50, 100), (5, 500, 20_000), (3, 300, 9500)], 1):
        timeline.add(at, *point)
    series = timeline.series(3.5, 4, 400, 10_000)
    assert series == [(0, 0, 0, 0), (1, 1, 100, 9000), (2, 1, 100, 9000), (3, 4, 400, 10_000), (3.5, 4, 400, 10_000)]


def test_progress_keeps_its_timeline_also_where_it_is_not_shown(monkeypatch):
    now = [50.0]
    monkeypatch.setattr("crawlmill.mr.run.progress.time.monotonic", lambda: now[0])
    progress = Progress(Console(io.BytesIO()), lambda totals: None, shown=False)
    now[0] += 2
    progress.progress("map-00001", Totals(1, 20, 300, 0))
    assert progress.timeline.series(4, 2, 30, 400) == [(0, 0, 0, 0), (2, 1, 20, 300), (4, 2, 30, 400)]


def test_run_json_has_a_point_a_line():
    timeline = Timeline()
    timeline.add(0.25, 0, 7, 70)
    text = run_report(
        name="x",
        runner="inline",
        arguments=[],
        began_s=10.0,
        ended_s=11.0,
        summary=Summary(),
        mrjob="0",
        timeline=timeline,
    ).decode()
    assert json.loads(text)["progress"] == [[0.0, 0, 0, 0], [0.25, 0, 0, 0], [1.0, 0, 0, 0]]
    assert text.endswith('  "progress": [\n    [0.0, 0, 0, 0],\n    [0.25, 0, 0, 0],\n    [1.0, 0, 0, 0]\n  ]\n}\n')
