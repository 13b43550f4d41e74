"""The arithmetic of the benchmarks and their measuring of processes. No test here is about how long anything takes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import PIPE
from threading import Thread

import pytest
import zstandard
from bench.corpus import SCALES, Corpus, Workload, member_lengths, whole_files
from bench.harness import (
    Answer,
    AtLeast,
    AtMost,
    AtMostBeyond,
    Comparison,
    Contender,
    PairsASecond,
    Row,
    Run,
    compare,
    json_answer,
)
from bench.lab import Lab
from bench.measure import ProcessTree
from bench.peers import go_program, spark_job
from bench.replaying import replaying
from bench.report import as_text, results_folder, save

BENCH = Path(__file__).parent.parent.parent / "bench"
MIB = 1 << 20

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="process trees are read from /proc")


def row(name: str, cpu: list[float], wall: list[float] | None = None, memory: int | None = 10_000_000) -> Row:
    return Row(name, tuple(Run(w, c, memory, None, 0.5) for c, w in zip(cpu, wall or cpu, strict=True)))


def measured(tmp_path: Path, *command: str) -> dict[str, float]:
    result = tmp_path / "result.json"
    subprocess.run([sys.executable, str(BENCH / "measure.py"), str(result), *command], check=True)
    found: dict[str, float] = json.loads(result.read_text())
    return found


def quiet(_text: str) -> None:
    """Where progress would be told."""


class TestArithmetic:
    def test_row_of_three_runs_gives_the_median_of_each_quantity(self) -> None:
        found = row("a", [3.0, 1.0, 2.0], [5.0, 9.0, 7.0])
        assert (found.value("cpu"), found.value("wall"), found.value("memory")) == (2.0, 7.0, 10_000_000)

    def test_row_of_two_runs_gives_their_mean(self) -> None:
        assert row("a", [1.0, 2.0]).value("cpu") == 1.5

    def test_row_that_failed_later_has_no_value(self) -> None:
        failed = Row("a", row("a", [1.0]).runs, failure="exit code 1")
        assert failed.value("cpu") is None

    def test_row_without_memory_has_none(self) -> None:
        assert row("a", [1.0], memory=None).value("memory") is None

    def test_pairs_a_second_are_those_of_the_time_beyond_the_base(self) -> None:
        ours = Row("us", row("us", [3.0]).runs, Answer(5, 4_000_000))
        rows = {"us": ours, "base": row("base", [1.0]), "peer": row("peer", [8.0])}
        verdict = PairsASecond("us", "base", "peer", 2).judge(rows)
        assert verdict.text == "million pairs a second of CPU: us = 2.00 (peer: 0.50), goal 2"
        assert verdict.met is True
        assert PairsASecond("us", "base", "peer", 2.1).judge(rows).met is False
        assert PairsASecond("us", "none", "peer", 2).judge(rows).met is None

    def test_ratio_reached_exactly_is_met(self) -> None:
        verdict = AtLeast("us", "peer", "cpu", 1.5).judge({"us": row("us", [2.0]), "peer": row("peer", [3.0])})
        assert verdict.met is True
        assert verdict.text == "cpu: peer / us = 1.50, goal 1.5"

    def test_ratio_below_the_goal_is_missed(self) -> None:
        rows = {"us": row("us", [2.0]), "peer": row("peer", [2.9])}
        assert AtLeast("us", "peer", "cpu", 1.5).judge(rows).met is False

    def test_ratio_of_a_peer_that_was_not_run_is_open(self) -> None:
        assert AtLeast("us", "peer", "wall", 5).judge({"us": row("us", [2.0])}).met is None

    def test_difference_is_held_against_its_limit(self) -> None:
        rows = {"us": row("us", [1.0], [1.25]), "start": row("start", [0.1], [0.25])}
        assert AtMost("us", "start", "wall", 1.2).judge(rows).met is True
        assert AtMost("us", "start", "wall", 0.9).judge(rows).met is False
        assert AtMost("us", "none", "wall", 0.9).judge(rows).met is None

    def test_ratio_beyond_the_starts_leaves_them_out(self) -> None:
        walls = {"us": 3.0, "us, one": 1.0, "peer": 1.5, "peer, one": 0.5}
        rows = {name: row(name, [9.0], [wall]) for name, wall in walls.items()}
        verdict = AtMostBeyond("us", "peer", ", one", "wall", 2).judge(rows)
        assert verdict.text == "wall beyond the start: us / peer = 2.00, goal at most 2"
        assert verdict.met is True
        assert AtMostBeyond("us", "peer", ", one", "wall", 1.9).judge(rows).met is False
        assert AtMostBeyond("us", "none", ", one", "wall", 2).judge(rows).met is None


class TestCorpus:
    @pytest.mark.parametrize(
        ("sizes", "wanted", "number"),
        [
            ([10] * 8, 40, 4),
            ([10] * 8, 49, 4),
            ([10] * 8, 51, 6),
            ([10] * 8, 1000, 8),
            ([10] * 8, 0, 2),
            ([10, 10], 5, 2),
        ],
    )
    def test_whole_files_are_an_even_number_nearest_to_the_size(
        self, sizes: list[int], wanted: int, number: int
    ) -> None:
        assert whole_files(sizes, wanted) == number

    def test_a_crawl_is_whole_files_with_those_made_of_them(self, tmp_path: Path) -> None:
        corpus = Corpus(tmp_path, SCALES["small"])
        made = {
            f"s/{kind}/{number}.warc{suffix}.gz": {"compressed": 1_000_000, "inflated": 7, "members": 2}
            for kind, suffix in (("warc", ""), ("wat", ".wat"), ("wet", ".wet"))
            for number in range(4)
        }
        corpus._sizes = made
        found = corpus.of_all_kinds(7)
        names = [Path(path).name for path in found.paths]
        assert names == [f"{number}.warc{suffix}.gz" for number in (0, 1) for suffix in ("", ".wat", ".wet")]
        assert (found.compressed, found.inflated, found.records) == (6_000_000, 42, 12)
        assert Path(found.input_list).read_text().splitlines() == list(found.paths[::3])

    def test_frames_hold_the_records_of_the_members(self, tmp_path: Path) -> None:
        contents = [b"one", bytes(300_000)]
        (tmp_path / "x.warc.gz").write_bytes(b"".join(gzip.compress(content, mtime=0) for content in contents))
        corpus = Corpus(tmp_path, SCALES["small"])
        found = corpus.as_zstd(corpus.of_file(tmp_path / "x.warc.gz", "x"))
        (path,) = map(Path, found.paths)
        assert (path.name, found.records, found.compressed) == ("x.warc.zst", 2, path.stat().st_size)
        with path.open("rb") as stream:
            data = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True).read()
        assert data == b"".join(contents)
        assert path.read_bytes().count(b"\x28\xb5\x2f\xfd") == 2

    def test_member_lengths_of_a_file_are_those_of_the_members_it_was_joined_from(self, tmp_path: Path) -> None:
        contents = [b"", b"one", bytes(300_000), b"two" * 1000]
        members = [gzip.compress(content, mtime=0) for content in contents]
        path = tmp_path / "x.gz"
        path.write_bytes(b"".join(members))
        lengths, inflated = member_lengths(path)
        assert list(lengths) == [len(member) for member in members]
        assert inflated == sum(map(len, contents))


class TestMeasuring:
    def test_exit_code_is_that_of_the_command(self, tmp_path: Path) -> None:
        assert measured(tmp_path, sys.executable, "-c", "raise SystemExit(3)")["exit_code"] == 3

    @on_linux
    def test_memory_of_a_child_that_takes_50_mib_is_seen(self, tmp_path: Path) -> None:
        plain = measured(tmp_path, sys.executable, "-c", "pass")["rss_bytes"]
        taken = measured(tmp_path, sys.executable, "-c", "x = bytearray(b'x') * (50 << 20)")["rss_bytes"]
        assert 45 * MIB < taken - plain < 60 * MIB

    @on_linux
    def test_memory_of_a_tree_is_the_sum_over_its_processes(self) -> None:
        take = "import os, sys; x = bytearray(b'x') * (30 << 20); os.write(1, b'ready\\n'); sys.stdin.read()"
        both = (
            f"import subprocess as s, sys; [s.Popen([sys.executable, '-c', {take!r}]) for _ in '12']; sys.stdin.read()"
        )
        with subprocess.Popen([sys.executable, "-c", both], stdin=PIPE, stdout=PIPE) as parent:
            assert parent.stdout is not None
            assert [parent.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
            tree = ProcessTree(parent.pid)
            assert len(tree.members()) == 2
            assert 60 * MIB < tree.resident() < 120 * MIB
            assert 60 * MIB < tree.proportional() < 120 * MIB
            assert parent.stdin is not None
            parent.stdin.close()

    @on_linux
    def test_cpu_of_a_process_that_outlives_the_command_is_counted(self, tmp_path: Path) -> None:
        burn = "import time\nwhile time.process_time() < 0.3: pass"
        leave = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}])"
        assert measured(tmp_path, sys.executable, "-c", leave)["cpu_s"] >= 0.3

    def test_sampler_finds_the_function_that_uses_the_time(self, tmp_path: Path) -> None:
        script, result = tmp_path / "script.py", tmp_path / "samples.json"
        script.write_text("import time\ndef burn():\n    while time.process_time() < 0.5: pass\nburn()\n")
        subprocess.run([sys.executable, str(BENCH / "sampler.py"), str(result), str(script)], check=True)
        module, function, seconds = json.loads(result.read_text())[0]
        assert (module, function) == ("__main__", "burn")
        assert 0 < seconds <= 0.6


class TestComparing:
    def test_contenders_run_in_turn_and_their_answers_are_kept(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        script = "import sys; open(sys.argv[1], 'a').write(sys.argv[2]); print('{\"keys\": 2, \"total\": 7}')"
        contenders = [
            Contender(name, [sys.executable, "-c", script, str(log), name], answer=json_answer) for name in "ab"
        ]
        rows = compare(contenders, None, repeat=3, tell=quiet)
        assert log.read_text() == "ababab"
        assert [(each.name, len(each.runs), each.answer) for each in rows] == [
            ("a", 3, Answer(2, 7)),
            ("b", 3, Answer(2, 7)),
        ]

    def test_contender_that_fails_is_not_run_again_and_says_why(self) -> None:
        command = [sys.executable, "-c", "raise SystemExit('no such thing')"]
        (failed,) = compare([Contender("a", command)], None, repeat=3, tell=quiet)
        assert (failed.runs, failed.failure) == ((), "exit code 1: no such thing")

    def test_contender_that_answers_differently_the_second_time_has_failed(self, tmp_path: Path) -> None:
        script = "import os, sys; open(sys.argv[1], 'a').write('x'); print('{\"keys\": 1, \"total\": %d}' % os.stat(sys.argv[1]).st_size)"
        contender = Contender("a", [sys.executable, "-c", script, str(tmp_path / "log")], answer=json_answer)
        (row,) = compare([contender], None, repeat=3, tell=quiet)
        assert row.failure == "found Answer(keys=1, total=1), then Answer(keys=1, total=2)"

    def test_settings_of_the_shell_do_not_reach_a_contender(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
        monkeypatch.setenv("CRAWLMILL_DECODER", "zlib")
        script = "import os; print('{\"keys\": %d, \"total\": 0}' % sum(n.startswith(('PYTHON', 'CRAWLMILL_')) for n in os.environ))"
        (row,) = compare(
            [Contender("a", [sys.executable, "-c", script], answer=json_answer)], None, repeat=1, tell=quiet
        )
        assert row.answer == Answer(0, 0)


class TestAnswers:
    WORKLOAD = Workload("wet", ("/x/a.gz", "/x/b.gz"), "", 1, 1, 1)

    def test_answer_of_a_job_sums_counts_and_term_frequencies(self, tmp_path: Path) -> None:
        (tmp_path / "stdout").write_bytes(b'"a\\tb"\t2\nnull\t3\n"c"\t[4,1]\n')
        lab = Lab(None, 1, tmp_path, None, quiet)
        (contender, *_) = lab.jobs("word_count.py", self.WORKLOAD)
        assert contender.answer is not None
        assert contender.answer(tmp_path) == Answer(3, 9)

    def test_folder_is_made_once_and_anew_where_it_was_interrupted(self, tmp_path: Path) -> None:
        said: list[str] = []
        lab = Lab(Corpus(tmp_path, SCALES["small"]), 1, tmp_path, None, said.append)

        def interrupted(folder: Path) -> None:
            folder.mkdir()
            (folder / "half").touch()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            lab.folder("x", "things", interrupted)
        folder = lab.folder("x", "things", Path.mkdir)
        assert not (folder / "half").exists()
        assert lab.folder("x", "things", interrupted) == folder == tmp_path / "x"
        assert said == [f"making things in {folder}, once"] * 2

    def test_answer_of_spark_is_read_from_its_table(self, tmp_path: Path) -> None:
        workload = Workload("wet", ("/x/a.gz", "/x/b.gz"), str(tmp_path / "wet-2.paths"), 1, 1, 1)
        contender = spark_job("spark", Path("/peers"), Path("/venv/bin/python"), "word_count.py", workload)
        assert (tmp_path / "wet-2.spark").read_text() == "file:/x/a.gz\nfile:/x/b.gz\n"
        assert contender.command[contender.command.index("--num_input_partitions") + 1] == "2"
        table = tmp_path / "work/spark-warehouse/answer"
        table.mkdir(parents=True)
        with gzip.open(table / "part-00000-x.json.gz", "wb") as part:
            part.write(b'{"key":"a","val":2}\n{"key":"b","val":{"tf":5,"df":1}}\n')
        assert contender.answer is not None
        assert contender.answer(tmp_path) == Answer(2, 7)


class TestPeers:
    def test_program_in_go_is_left_out_where_there_is_no_go(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        told: list[str] = []
        assert go_program(tmp_path, "gowarc", None, told.append) is None
        assert told == ["no go found: gowarc is left out"]

    def test_program_in_go_that_cannot_be_built_is_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go = tmp_path / "go"
        go.write_text("#!/bin/sh\n[ $1 = version ] || { echo no module >&2; exit 1; }\n")
        go.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        told: list[str] = []
        assert go_program(tmp_path / "venvs", "gowarc", None, told.append) is None
        assert told[-1] == "gowarc is left out: no module"


class TestReplaying:
    def test_answers_are_asked_for_once_and_given_again_as_they_came(self) -> None:
        asked: list[str] = []

        class Upstream(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(b"2\r\na\n\r\n3\r\nbc\n\r\n0\r\n\r\n")

        with ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as upstream:
            Thread(target=upstream.serve_forever, daemon=True).start()
            with replaying(upstream.server_port, "/crawl/cdx") as address:
                connection = HTTPConnection(address.removeprefix("http://"))
                answers = []
                for path in ("/recorded/cdx?page=1", "/recorded/cdx?page=1", "/recorded/collinfo.json"):
                    connection.request("GET", path)
                    answers.append(connection.getresponse().read())
                connection.close()
            upstream.shutdown()
        assert asked == ["/crawl/cdx?page=1"]
        assert answers[:2] == [b"a\nbc\n"] * 2
        assert json.loads(answers[2])[0]["cdx-api"] == f"{address}/recorded/cdx"


class TestReport:
    WORKLOAD = Workload("warc", ("/data/a.gz", "/data/b.gz"), "/data/list", 20_000_000, 80_000_000, 6000)
    COMPARISON = Comparison(
        "tags",
        "bare",
        WORKLOAD,
        (row("crawlmill", [2.0, 2.0]), Row("warcio", row("warcio", [5.0]).runs, Answer(3, 12)), row("inflate", [0.5])),
        (AtLeast("crawlmill", "warcio", "cpu", 1.7), AtLeast("crawlmill", "cc-pyspark", "wall", 5)),
        "inflate",
    )

    def test_table_shows_medians_ratios_to_the_first_row_and_to_the_limit(self) -> None:
        lines = as_text(self.COMPARISON).splitlines()
        cells = [cell.strip() for cell in next(line for line in lines if "| warcio" in line).strip("|").split("|")]
        assert cells == ["warcio", "5.00 (2.50)", "5.00 (2.50)", "10 (1.00)", "4.0", "10.00", "3", "12"]
        assert "WARC, 2 files, 20.0 MB compressed, 80.0 MB inflated, 6,000 records." in lines
        assert "- met: cpu: warcio / crawlmill = 2.50, goal 1.7" in lines
        assert "- open: wall: cc-pyspark / crawlmill: not measured, goal 5" in lines

    def test_saved_results_hold_every_run_and_no_path_of_the_machine(self, tmp_path: Path) -> None:
        machine = {
            "host": "h",
            "commit": "c",
            "cpu": "x",
            "cores": 2,
            "memory_bytes": 8e9,
            "system": "s",
            "java": None,
            "environments": {"crawlmill": {"python": "3.11.7", "packages": {"warcio": "1.8.1", "six": "1"}}},
        }
        folder = results_folder(tmp_path, machine, "small")
        save(folder, {"date": "2026-01-01", "scale": "small", "repeat": 2, "machine": machine}, [self.COMPARISON])
        table = json.loads((folder / "results.json").read_text())["comparisons"][0]
        assert [run["cpu_s"] for run in table["rows"][0]["runs"]] == [2.0, 2.0]
        assert table["workload"]["files"] == 2
        assert [goal["met"] for goal in table["goals"]] == [True, None]
        assert "/data" not in (folder / "results.json").read_text() + (folder / "results.md").read_text()
        assert "warcio 1.8.1" in (folder / "results.md").read_text()
        assert results_folder(tmp_path, machine, "small").name.endswith("-h-small-2")
