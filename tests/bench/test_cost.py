"""Which results the table of costs is made of."""

from __future__ import annotations

import json

from tools import cost


def test_benchmark_of_other_sections_is_passed_over(tmp_path, monkeypatch):
    runs = [{"cpu_s": 30}, {"cpu_s": 10}, {"cpu_s": 20}]
    rows = [{"name": "crawlmill", "runs": runs, "failure": None}, {"name": "warcio", "runs": runs, "failure": None}]
    workload = {"kind": "wat", "compressed": 1000}
    whole = [{"section": "servers", "title": "whole jobs, local", "workload": workload, "rows": rows}]
    for name, comparisons in (("2026-01-01-a", whole), ("2026-01-02-b", [])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps({"comparisons": comparisons}))
    monkeypatch.setattr(cost, "RUNS", tmp_path)
    assert cost.latest() == [("servers", "wat", "Python", 0.02)]
