"""What an output folder says."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.report.conftest import ROWS, RUN, row

from crawlmill.errors import UsageError
from crawlmill.report.data import gather
from crawlmill.report.tally import Tally
from crawlmill.storage import Storage


def data(folder, **more):
    return gather(str(folder), Storage(), **{"top": 50, **more})


def test_counts_are_added_up_and_ranked_as_top_ranks_them(folder):
    pairs = [["b", 5], ["a", 5], [None, 5], ["ä", 1], ["z", 9], [["x", 1], 5]]
    results = data(folder(pairs=pairs))["results"]
    assert (results["kind"], results["lines"], results["total"], results["singles"]) == ("counts", 6, 30, 1)
    assert results["top"] == [["z", 9], [None, 5], ["a", 5], ["b", 5], [["x", 1], 5], ["ä", 1]]
    assert results["rank_frequency"] == [[1, 9], [2, 5], [3, 5], [4, 5], [5, 5], [6, 1]]
    assert results["groups"] == {}


def test_a_value_of_two_numbers_counts_by_the_first(folder):
    results = data(folder(pairs=[["a", [3, 900]], ["b", [4, 1]]]), top=1)["results"]
    assert (results["kind"], results["total"], results["top"]) == ("counts", 7, [["b", 4]])


def test_results_of_every_format_are_read_alike(folder):
    run = {"columns": {"key": {"tag": "string"}, "value": {"count": "int64"}}}
    texts = {
        "jsonl": '{"tag": "a", "count": 7}\n{"tag": null, "count": 2}\n', "csv": "tag,count\r\na,7\r\n,2\r\n",
        "tsv": "tag\tcount\r\na\t7\r\n\t2\r\n",
    }  # fmt: skip
    for form, text in texts.items():
        out = folder(form, parts=[], run=run)
        (out / f"part-00000.{form}").write_bytes(text.encode())
        found = data(out)
        assert (found["problems"], found["results"]["top"]) == ([], [["a", 7], [None, 2]])
        (out / f"part-00001.{form}").write_bytes(b"nothing of it\n")
        assert [problem.partition(":")[0] for problem in data(out)["problems"]] == [f"part-00001.{form}"]


@pytest.mark.parametrize("value", ["text", {"a": 1}, None, True, 1.5, [], ["a", 1], [True, 1]])
def test_values_that_are_no_counts_are_not_ranked(folder, value):
    results = data(folder(pairs=[["a", 3], ["b", value]]))["results"]
    assert (results["kind"], results["total"], results["top"], results["rank_frequency"]) == ("other", None, [], [])
    assert results["lines"] == 2
    assert results["sample"] == [['"a"', "3"], ['"b"', json.dumps(value).replace(", ", ",").replace(": ", ":")]]


def test_of_many_ranks_at_most_a_thousand_are_points_and_all_are_true():
    tally = Tally(3, ranks=True)
    numbers = [1 + 2_000_000 // (n + 1) for n in range(150_000)]
    for n in sorted(range(150_000), key=lambda n: n * 7919 % 150_001):
        tally.add(f"word-{n}", numbers[n])
    points = tally.rank_frequency()
    assert 500 < len(points) <= 1000
    assert points[0] == [1, 2_000_001]
    assert points[-1] == [150_000, 14]
    assert all(numbers[rank - 1] == number for rank, number in points)
    assert [rank for rank, _ in points] == sorted({rank for rank, _ in points})


def test_keys_that_begin_with_a_string_are_groups(folder):
    pairs = [[["status", 200], 7], [["mime", "text/html"], 5], [["status", 404], 9], [["mime", "x", "y"], "no count"]]
    groups = data(folder(pairs=pairs), top=1)["results"]["groups"]
    assert groups == {
        "mime": {"lines": 2, "total": None, "top": []},
        "status": {"lines": 2, "total": 16, "top": [[["status", 404], 9]]},
    }


@pytest.mark.parametrize("key", ["text", [], [1, "a"], None])
def test_one_other_key_means_that_there_are_no_groups(folder, key):
    assert data(folder(pairs=[[["a", 1], 1], [key, 1]]))["results"]["groups"] == {}


def test_very_many_first_strings_are_no_groups(folder):
    assert data(folder(pairs=[[[f"host {n}", "1.2.3.4"], 1] for n in range(61)]))["results"]["groups"] == {}
    assert len(data(folder("few", [[[f"host {n}", 1], 1] for n in range(60)]))["results"]["groups"]) == 60


def test_the_ledger_is_added_up_and_the_worst_come_first(folder):
    found = data(folder())
    assert found["inputs"] == {"all": 3, "ok": 1, "partial": 1, "failed": 1}
    assert (found["records"], found["bytes"]) == (15, 3000)
    assert found["lost"] == {"bad-checksum": 2, "not-found": 1, "truncated": 1}
    assert [each["input"] for each in found["ledger"]["shown"]] == ["b.warc.gz", "c.warc.gz", "a.warc.gz"]
    assert found["ledger"]["shown"][0] == {
        "input": "b.warc.gz", "outcome": "failed", "format": None, "records": 0, "bytes": 0, "lost": {"not-found": 1},
        "problem": "gone",
    }  # fmt: skip


def test_of_a_large_ledger_the_first_five_hundred_rows_are_shown(folder):
    rows = [row(f"{n:05}", *(("partial", 3, 9, {"truncated": 1}) if n % 5 == 4 else ())) for n in range(3000)]
    found = data(folder(rows=rows))
    assert found["ledger"]["rows"] == 3000
    assert [each["input"] for each in found["ledger"]["shown"]] == [f"{n:05}" for n in range(4, 2500, 5)]


def test_what_cannot_be_read_is_named_and_the_rest_is_counted(folder):
    out = folder(parts=[[["a", 1]], [["b", 2]]])
    (out / "part-00000").write_bytes(b'"a"\t1\nthis is no result\n"x"\tNaN\n')
    (out / "part-00002.gz").write_bytes(gzip.compress(b'"c"\t3\n')[:-3])
    (out / "_run.json").write_text("{")
    (out / "_ledger.jsonl").write_text(f"{json.dumps(ROWS[0])}\n{{}}\n")
    found = data(out)
    assert found["results"]["lines"] in (2, 3)  # of a cut member, what came before the cut may count
    assert found["run"] is None
    assert found["inputs"]["all"] == 1
    ledger, run, first, last = found["problems"]
    assert ledger.startswith("_ledger.jsonl: line 2: not a row of a ledger")
    assert run.startswith("_run.json: cannot be read")
    assert first.startswith("part-00000: 2 lines are not results, the first is 2")
    assert last.startswith("part-00002.gz: damaged compressed data")


def test_a_folder_without_a_ledger_says_so(folder):
    found = data(folder(rows=None))
    assert (found["inputs"], found["records"], found["bytes"], found["lost"]) == (None, None, None, {})
    assert found["ledger"] == {"rows": 0, "shown": []}
    assert found["problems"] == [
        "_ledger.jsonl: not there, so what became of the inputs is not known; if it is elsewhere, give --ledger"
    ]


def test_a_run_without_success_is_not_finished(folder):
    assert data(folder())["finished"] is True
    assert data(folder("other", success=False))["finished"] is False


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_without_bounds_are_named_and_not_drawn(folder, number):
    out = folder(parts=[])
    (out / "_run.json").write_text(f'{{"job": "x", "seconds": {number}}}')
    (out / "part-00000").write_text(f'"a"\t{number}\n{number}\t1\n"b"\t[1,"1e999"]\n')
    found = data(out, other=str(out))
    run, _, part, _ = found["problems"]
    assert (found["run"], run.partition(":")[0], part.partition(":")[0]) == (None, "_run.json", "part-00000")
    assert found["results"]["top"] == [["b", 1]]


@pytest.mark.parametrize(
    ("name", "line"),
    [("part-00000.jsonl", '{"key": 1e999, "value": 3}\n'), ("part-00000.csv", "key,value\r\n1e999,3\r\n"),
     ("part-00000.tsv", "key\tvalue\r\nNaN\t3\r\n")],
)  # fmt: skip
def test_keys_without_bounds_are_a_problem_of_their_part(folder, name, line):
    out = folder(parts=[])
    (out / name).write_text(line)
    found = data(out)
    assert found["problems"][0].startswith(f"{name}")
    assert found["results"]["lines"] == 0


@pytest.mark.parametrize("progress", [None, 5, [[1, 2]], [[1, 2, 3, "4"]], [[1, 2, 3, True]]])
def test_progress_that_is_none_is_left_out(folder, progress):
    assert data(folder(run={"progress": progress}))["throughput"] == []


def test_two_runs_are_compared_key_by_key(folder):
    here = folder("here", parts=[[["a", 5], ["same", 3]], [["gone", 9], [None, 1]]])
    there = folder("there", [["same", 3], ["a", 8], ["came", 7], [["l", 1], 1]])
    found = data(here, other=str(there))["compare"]
    assert found == {
        "out": str(there), "only_here": 2, "only_there": 2, "equal": 1, "changed": 1,
        "rows": [["gone", 9, None], ["came", None, 7], ["a", 5, 8], [None, 1, None], [["l", 1], None, 1], ["same", 3, 3]],
    }  # fmt: skip
    assert data(here, other=str(there), top=2)["compare"]["rows"] == [["gone", 9, None], ["came", None, 7]]


def test_texts_are_compared_in_whatever_order_they_come(folder):
    here = folder("here", [["a", "x"], ["a", "y"], ["b", "x"], ["c", "x"]])
    there = folder("there", [["a", "y"], ["a", "x"], ["b", "z"], ["d", 1]])
    found = data(here, other=str(there))["compare"]
    counts = {name: found[name] for name in ("only_here", "only_there", "equal", "changed", "rows")}
    assert counts == {"only_here": 1, "only_there": 1, "equal": 1, "changed": 1, "rows": []}


def test_a_part_that_is_missing_is_a_problem(folder):
    out = folder(parts=[[["a", 1]], [["b", 2]], [["c", 3]]], run={**RUN, "parts": 3})
    assert data(out)["problems"] == []
    (out / "part-00001").unlink()
    assert data(out)["problems"] == ["results: 1 of 3 parts is missing"]


def test_problems_of_the_other_run_are_named_with_its_folder(folder):
    here, there = folder("here", [["a", 1]]), folder("there", [["a", 1]])
    (there / "part-00000").write_text("nothing\n")
    assert data(here, other=str(there))["problems"] == [
        f"{there}: part-00000: line 1 is not a result (expected key TAB value in JSON)"
    ]


def test_what_is_no_output_folder_is_a_usage_error(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for name in ("empty", "file", "missing"):
        with pytest.raises(UsageError, match=f"not the output folder of a run: .*{name}"):
            data(tmp_path / name)
        with pytest.raises(UsageError, match=name):
            data(folder(f"for {name}"), other=str(tmp_path / name))


def test_statistics_of_crawls_have_sizes_and_histograms(folder):
    old, new = "CC-MAIN-2025-51", "CC-MAIN-2026-04"
    pairs = [[["size", "page", old], 90], [["size", "page", new], 100], [["size", "host", new], 7], [["tld", "no", new], [5, 4]],
             [["histogram", "host", new, "page", 1], 6], [["histogram", "host", new, "page", 94], 1],
             [["histogram", "host", old, "page", 90], 1], [["size_estimate", "url", new], {"card": 1}]]  # fmt: skip
    found = data(folder(pairs=pairs))
    assert found["crawls"] == 2
    sizes, over_time, histogram = found["pictures"]
    assert (sizes["title"], sizes["rows"]) == (f"Size of {new}", [["pages", 100], ["hosts", 7]])
    assert [each[:2] for each in over_time["rows"]] == [[new, 100], [old, 90]]
    assert histogram["series"] == {"hosts": [[1, 6], [94, 1]]}
    assert found["results"]["groups"]["tld"]["top"] == [[["tld", "no", new], 5]]


def test_statistics_of_hosts_are_ranked_by_captures(folder):
    def about(captures, status):
        return {"captures": captures, "urls": 2, "digests": 1, "first": "2026-01-01", "last": "2026-01-02",
                "status": status, "mime": {"text/html": captures}, "bytes": 1000}  # fmt: skip

    pairs = [["a.example", about(3, {"200": 2, "404": 1})], ["b.example", about(8, {"200": 8})]]
    most, status, mime, ranks = data(folder(pairs=pairs), top=1)["pictures"]
    assert most["rows"] == [["b.example", 8, 2, 1, 1000, "2026-01-01", "2026-01-02"]]
    assert most["note"] == "11 captures of 2 keys in all."
    assert status["rows"] == [["200", 10]]
    assert mime["rows"] == [["text/html", 11]]
    assert ranks["series"] == {"hosts": [[1, 8], [2, 3]]}


@pytest.mark.parametrize("shape", ["files", "folders"])
def test_a_graph_has_its_degrees_drawn(folder, shape):
    out = folder(parts=[])
    names = ["com.a", "com.b", "org.c", "org.d.www"]
    vertices = [f"{n}\t{name}\n" for n, name in enumerate(names)]
    edges = ["0\t1\n", "0\t3\t12\n", "1\t3\n", "2\t3\n"]
    for kind, lines in (("vertices", vertices), ("edges", edges)):
        if shape == "files":
            (out / f"{kind}.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))
            continue
        (out / kind).mkdir()
        for number in (0, 1):
            some = "".join(lines[2 * number : 2 * number + 2]).encode()
            (out / kind / f"part-{number:05}.txt.gz").write_bytes(gzip.compress(some))
    found = data(out)
    most, degrees = found["pictures"]
    assert most["note"] == "4 hosts and 4 links between them; without links to others: 1, without links from others: 2."
    assert most["rows"] == [["www.d.org", 3], ["b.com", 1]]
    assert degrees["series"] == {"linked to by other hosts": [[1, 1], [3, 1]], "links to other hosts": [[1, 2], [2, 1]]}
    assert (found["results"]["kind"], found["results"]["lines"], found["problems"]) == ("other", 0, [])
