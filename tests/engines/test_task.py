"""What a task on a cluster does for the launcher: signs of life, counters, and a report of why it fails."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, environment
from tests.storage.webhdfs import WebHdfs

import crawlmill.mr.task.monitor as monitor_module
from crawlmill.inputs.lists import Input
from crawlmill.ledger.row import LedgerRow
from crawlmill.mr.task import failure_report
from crawlmill.mr.task.monitor import EngineMonitor
from crawlmill.mr.task.task_list import encode_task

ATTEMPT = "attempt_1_0001_m_000000_0"


def row(records: int, size: int, outcome: str) -> LedgerRow:
    made = LedgerRow.of(Input("x", "/x", None, None))
    made.records, made.bytes = records, size
    if outcome != "ok":
        made.lost = Counter(truncated=1)
    return made


def test_counters_add_up_to_what_was_read(monkeypatch):
    monkeypatch.setattr(monitor_module, "_STATUS_EVERY_S", 0.0)
    counted = {}
    statuses = []
    monitor = EngineMonitor(
        statuses.append, lambda group, name, n: counted.update({(group, name): counted.get((group, name), 0) + n})
    )
    monitor.beat(5, 500)
    monitor.account(0, row(7, 700, "ok"))
    monitor.beat(1, 10)
    monitor.account(1, row(3, 300, "partial"))
    assert counted == {
        ("crawlmill", "inputs"): 2,
        ("crawlmill", "records"): 10,
        ("crawlmill", "bytes"): 1000,
        ("crawlmill", "bad"): 1,
    }
    assert statuses == ["5 records, 500 bytes of the present input", "1 records, 10 bytes of the present input"]


def test_bytes_that_come_in_are_signs_of_life_and_silence_is_none(monkeypatch):
    monkeypatch.setattr(monitor_module, "_ALIVE_EVERY_S", 0.01)
    heard = threading.Event()
    statuses = []

    def status(text: str) -> None:
        statuses.append(text)
        heard.set()

    reached = [0]
    monitor = EngineMonitor(status, lambda *_: None)
    before = threading.active_count()  # another tells how far the tests are
    with monitor.alive(lambda: reached[0]):
        assert not heard.wait(0.1)
        reached[0] = 4096
        assert heard.wait(240)
    assert statuses == ["4,096 bytes of the present input"]
    assert threading.active_count() == before


@pytest.fixture
def cluster(monkeypatch):
    with WebHdfs() as server:
        monkeypatch.setenv("crawlmill_reports", f"{server.url}/webhdfs/v1/run/reports?user.name=researcher")
        monkeypatch.setenv("mapreduce_task_attempt_id", ATTEMPT)
        yield server


def test_report_is_a_file_called_as_the_attempt_is(cluster):
    cluster.user = "researcher"
    failure_report.report("ValueError: ä\n \ud800", "Traceback\n…")
    assert cluster.files == {f"/run/reports/{ATTEMPT}": b"ValueError: \xc3\xa4 \\ud800\nTraceback\n\xe2\x80\xa6"}


def test_report_goes_to_the_namenode_that_takes_it(cluster, monkeypatch):
    with WebHdfs(standby=True) as standby:
        folders = [
            f"{server}/webhdfs/v1/run?user.name=x" for server in ("http://127.0.0.1:9", standby.url, cluster.url)
        ]
        monkeypatch.setenv("crawlmill_reports", ",".join(folders))
        failure_report.report("why")
    assert cluster.files == {f"/run/{ATTEMPT}": b"why\n"}


def test_report_that_cannot_be_sent_is_said_on_stderr(cluster, capsys):
    cluster.refusals = [(403, "AccessControlException")]
    failure_report.report("why")
    assert capsys.readouterr().err == "could not tell the launcher why this task fails: HTTP 403\n"


def test_nothing_is_reported_outside_of_a_cluster(monkeypatch, capsys):
    monkeypatch.delenv("crawlmill_reports", raising=False)
    before = sys.excepthook
    failure_report.listen()
    failure_report.report("why")
    assert sys.excepthook is before
    assert capsys.readouterr() == ("", "")


def task(
    *python: str, inputs: tuple[Path, ...] = (), script: str = "tag_count", **more: str
) -> subprocess.CompletedProcess[bytes]:
    """A map task; without inputs, its line is none."""
    line = encode_task([(rank, Input(str(path), str(path))) for rank, path in enumerate(inputs)])
    command = [sys.executable, *python, str(PROJECT / "jobs" / f"{script}.py"), "--mapper", "--step-num=0"]
    return subprocess.run(
        command,
        input=line if inputs else b'{"v": 1, "inputs": 7}\n',
        capture_output=True,
        env=environment(**more),
        check=False,
    )


def test_task_reports_an_error_of_ours_in_one_line(cluster):
    variables = {"crawlmill_reports": f"{cluster.url}/webhdfs/v1/r?user.name=x", "mapreduce_task_attempt_id": ATTEMPT}
    assert task(**variables).returncode == 1
    assert cluster.files[f"/r/{ATTEMPT}"].startswith(b"not a line of a task list: ")


def test_task_reports_the_package_that_is_missing(cluster):
    variables = {
        "crawlmill_reports": f"{cluster.url}/webhdfs/v1/r?user.name=x",
        "mapreduce_task_attempt_id": ATTEMPT,
        "PYTHONPATH": str(PROJECT / "lib"),
    }
    done = task("-S", **variables)
    assert done.returncode == 1
    assert cluster.files[f"/r/{ATTEMPT}"] == b"ModuleNotFoundError: No module named 'mrjob'\n"
    assert b"the package mrjob is not installed here" in done.stderr


def test_task_that_is_told_to_use_the_native_core_and_has_none_fails_with_one_line(cluster, tmp_path):
    (tmp_path / "crawlmill_native.py").write_text("raise ImportError('none is installed')")
    archive = tmp_path / "a.warc.gz"
    archive.write_bytes(builders.pack(builders.pages(1)))
    variables = {
        "crawlmill_reports": f"{cluster.url}/webhdfs/v1/r?user.name=x",
        "mapreduce_task_attempt_id": ATTEMPT,
        "PYTHONPATH": str(tmp_path),
        "CRAWLMILL_CORE": "native",
    }
    done = task(inputs=(archive,), **variables)
    line = b"CRAWLMILL_CORE=native: none is installed; install it with `pip install ./native`\n"
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"tag_count: " + line
    assert cluster.files[f"/r/{ATTEMPT}"] == line


def test_task_reports_its_traceback_after_a_line_that_says_what_was_wrong(cluster):
    code = "from crawlmill.mr import failure_report; failure_report.listen()\nraise ValueError('a\\nb')"
    variables = {
        "crawlmill_reports": f"{cluster.url}/webhdfs/v1/r?user.name=x",
        "mapreduce_task_attempt_id": ATTEMPT,
        "PYTHONPATH": str(PROJECT / "lib"),
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(**variables), check=False)
    what, _, trace = cluster.files[f"/r/{ATTEMPT}"].partition(b"\n")
    assert what == b"ValueError: a b"
    assert trace.startswith(b"Traceback")
    assert trace == done.stderr
