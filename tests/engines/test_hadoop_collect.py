"""`ledger --collect` of a run on Hadoop, and asking YARN for its applications. HDFS, YARN and `yarn` are doubles."""

from __future__ import annotations

import io
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.storage.faults import FaultServer
from tests.storage.webhdfs import WebHdfs

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.mr.engines.collect import collect
from crawlmill.mr.engines.hadoop.collect import in_order
from crawlmill.mr.engines.hadoop.record import HadoopRun
from crawlmill.mr.engines.hadoop.yarn import Application, Yarn, resource_managers
from crawlmill.mr.engines.record import marker_of
from crawlmill.mr.run.ending import RunInfo
from crawlmill.mr.task.task_list import encode_task
from crawlmill.storage import Storage, StorageOptions

HOME, OUT = "hdfs:///user/me/.crawlmill/TAG.1", "hdfs:///out"
APPLICATION = "application_1700000000000_0007"
RUNNING = {"id": APPLICATION, "state": "RUNNING", "finalStatus": "UNDEFINED", "diagnostics": ""}
DONE = {**RUNNING, "state": "FINISHED", "finalStatus": "SUCCEEDED"}
FAILED = {**RUNNING, "state": "FINISHED", "finalStatus": "FAILED", "diagnostics": "Task failed\ntask_1"}


class Manager(FaultServer):
    """A ResourceManager that knows these applications; `tags` holds what it was asked for."""

    def __init__(self, *applications: dict, status: int = 200) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handle = self.found
        self.known, self.code = list(applications), status

    def found(self, http: Any, _: bytes) -> bool:
        parts = urlsplit(http.path)
        assert parts.path == "/ws/v1/cluster/apps"
        self.tags.append(parse_qs(parts.query)["applicationTags"][0])
        body = json.dumps({"apps": {"app": self.known} if self.known else None}).encode()
        http.send_response(self.code)
        http.send_header("Content-Length", str(len(body)))
        http.end_headers()
        http.wfile.write(body)
        return True


class Run:
    """A run whose launcher is dead, on a double of HDFS."""

    def __init__(self, cluster: WebHdfs, yarn: str, folder: Path, *, steps: int = 1, host: str | None = None) -> None:
        self.cluster, self.folder = cluster, folder
        self.storage = Storage(StorageOptions(webhdfs=cluster.url, retries=0))
        work = "hdfs:///.out.0a/work"
        outputs = (*(f"{HOME}/step-output/{n:04}" for n in range(steps - 1)), work)
        self.run = HadoopRun(
            RunInfo("tag_count", "hadoop", [], 0.0, OUT),
            "TAG.1",
            HOME,
            f"{HOME}/files/tasks.jsonl",
            outputs,
            work,
            str(folder / "gone"),
            host or socket.gethostname(),
            (yarn,),
            inputs=1,
        )
        self.put(self.run.tasks, encode_task([(0, Input("a", "file:///a"))]) + b"\n")
        self.run.save(self.storage, marker_of(OUT))

    def put(self, place: str, data: bytes = b"") -> None:
        with self.storage.write(place) as file:
            file.write(data)

    def end_step(self, number: int, *parts: bytes) -> None:
        for part, data in enumerate(parts):
            self.put(f"{self.run.outputs[number]}/part-{part:05}", data)
        self.put(f"{self.run.outputs[number]}/_SUCCESS")

    def collect(self, place: str = OUT) -> tuple[int, str]:
        err = io.BytesIO()
        code = collect(place, self.storage, err, io.BytesIO(), wait=False)
        return code, err.getvalue().decode()

    @property
    def left(self) -> list[str]:
        return sorted(self.cluster.files)


@pytest.fixture
def hdfs(monkeypatch, tmp_path):
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "MRJOB_CONF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HADOOP_USER_NAME", "me")
    monkeypatch.setenv("HOME", str(tmp_path))
    with WebHdfs() as cluster:
        yield cluster


def test_run_that_has_ended_is_published_and_leaves_nothing(hdfs, tmp_path):
    with Manager(DONE) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        run.end_step(0, b"a\n", b"b\n")
        code, said = run.collect()
        assert set(yarn.tags) == {"tag.1"}
    assert (code, said.splitlines()[0].partition(";")[0]) == (
        2,
        "1 input: 1 failed (1 unaccounted)",
    )  # no task has left a row
    assert run.left == [
        f"/out/{name}" for name in ("_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000", "part-00001")
    ]
    assert (hdfs.files["/out/part-00000"], hdfs.files["/out/part-00001"]) == (b"a\n", b"b\n")
    with pytest.raises(UsageError, match=r"^nothing to collect: hdfs:///out is finished$"):
        run.collect()


def test_run_can_be_collected_when_yarn_has_forgotten_it(hdfs, tmp_path):
    with Manager() as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        run.end_step(0, b"a\n")
        assert run.collect()[0] == 2
    assert hdfs.files["/out/part-00000"] == b"a\n"


def test_run_that_goes_on_is_left_alone(hdfs, tmp_path):
    with Manager(RUNNING) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        before = run.left
        with pytest.raises(UsageError) as caught:
            run.collect()
    assert str(caught.value) == (
        f"the run goes on: {APPLICATION}, step 1 of 1 is running; try again later, or give --wait"
    )
    assert run.left == before


def test_job_that_failed_is_collected_as_failed_with_what_its_task_said(hdfs, tmp_path):
    with Manager(FAILED) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        run.put(f"{HOME}/reports/attempt_1700000000000_0007_m_000003_1", b"KeyError: 'x'\nTraceback\n")
        code, said = run.collect()
    assert code == 1
    told = "task map-00003 failed once: KeyError: 'x'"
    assert said.splitlines()[-2:] == ["Traceback", f"tag_count: {told}; logs: yarn logs -applicationId {APPLICATION}"]
    assert run.left == ["/out.failed.jsonl"]


def test_job_that_failed_without_a_word_of_a_task_is_told_in_yarns_words(hdfs, tmp_path):
    with Manager(FAILED) as yarn:
        code, said = Run(hdfs, yarn.url, tmp_path).collect()
    assert code == 1
    assert f"tag_count: the job failed: Task failed task_1; logs: yarn logs -applicationId {APPLICATION}" in said


def test_step_that_was_never_submitted_fails_the_run(hdfs, tmp_path):
    with Manager(DONE) as yarn:
        run = Run(hdfs, yarn.url, tmp_path, steps=2)
        run.end_step(0, b"x\n")
        code, said = run.collect()
    assert code == 1
    assert "step 2 of 2 was never submitted, because the launcher had died: run the job again" in said
    assert run.left == ["/out.failed.jsonl"]


def test_run_that_yarn_never_had_is_forgotten(hdfs, tmp_path):
    with Manager() as yarn:
        run = Run(hdfs, yarn.url, tmp_path, host="elsewhere")
        with pytest.raises(UsageError, match=r"^nothing to collect: YARN never had the job; run it again$"):
            run.collect()
    assert run.left == []


def test_publishing_that_was_cut_short_is_completed_with_parts_in_order(hdfs, tmp_path):
    """The launcher has renamed one of three parts, and a file of a task."""
    with Manager(DONE) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        run.end_step(0, b"a\n", b"b\n", b"c\n")
        run.put("hdfs:///.out.0a/work/_of-r-00000.names~later.txt", b"2")
        run.storage.rename("hdfs:///.out.0a/work/part-00001", "hdfs:///.out.0a/part-00001")
        run.put("hdfs:///.out.0a/names/first.txt", b"1")
        assert run.collect()[0] == 2
    names = [
        "_SUCCESS",
        "_ledger.jsonl",
        "_run.json",
        "names/first.txt",
        "names/later.txt",
        "part-00000",
        "part-00001",
        "part-00002",
    ]
    assert run.left == [f"/out/{name}" for name in names]
    assert [hdfs.files[f"/out/part-0000{n}"] for n in range(3)] == [b"a\n", b"b\n", b"c\n"]


def test_publishing_of_tables_that_was_cut_short_is_completed_with_every_part(hdfs, tmp_path):
    """The launcher has renamed one of two parts; tasks say that a cell of the other may be taken for a formula."""
    with Manager(DONE) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        columns = {"key": {"tag": "string"}, "value": {"count": "int64"}}
        run.run = replace(run.run, info=replace(run.run.info, output_format="csv", columns=columns))
        run.run.save(run.storage, marker_of(OUT))
        run.end_step(0, b"", b"")
        run.put("hdfs:///.out.0a/part-00000.csv", b"tag,count\r\na,1\r\n")
        run.put("hdfs:///.out.0a/work/_of-r-00001.part-00001.csv", b"tag,count\r\n=b,2\r\n")
        run.put("hdfs:///.out.0a/work/_of-r-00001.formulas-of-part-00001.csv", b"1")
        code, err = run.collect()
    assert (code, "1 text begins with =" in err) == (2, True)
    names = ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000.csv", "part-00001.csv"]
    assert run.left == [f"/out/{name}" for name in names]
    assert hdfs.files["/out/part-00001.csv"] == b"tag,count\r\n=b,2\r\n"
    assert json.loads(hdfs.files["/out/_run.json"])["columns"] == columns


@pytest.mark.parametrize("known", [(DONE,), ()])
def test_publishing_that_was_cut_short_before_its_last_rename_is_not_done_again(hdfs, tmp_path, known):
    with Manager(*known) as yarn:
        run = Run(hdfs, yarn.url, tmp_path)
        run.put("hdfs:///.out.0a/part-00000", b"a\n")
        run.put("hdfs:///.out.0a/_SUCCESS")
        with pytest.raises(UsageError, match=r"rename hdfs:///\.out\.0a to hdfs:///out, and remove "):
            run.collect()
    assert "/.out.0a/part-00000" in run.left


def test_place_of_no_run_is_told(hdfs):
    with Storage(StorageOptions(webhdfs=hdfs.url)) as storage, pytest.raises(UsageError) as caught:
        collect(OUT, storage, io.BytesIO(), io.BytesIO(), wait=False)
    assert str(caught.value).startswith("nothing to collect: there is no hdfs:///out.running.json")


@pytest.mark.parametrize(
    ("left", "moved", "wanted"),
    [("", {}, ""), ("abc", {}, "abc"), ("ac", {1: "b"}, "abc"), ("b", {0: "a", 2: "c"}, "abc"), ("", {0: "a"}, "a")],
)
def test_parts_that_were_moved_keep_their_number(left, moved, wanted):
    assert in_order(list(left), moved) == list(wanted)


def test_resource_manager_that_stands_by_is_passed_over():
    with Manager(status=503) as standby, Manager(DONE, RUNNING) as active:
        found = Yarn((standby.url, active.url), "me").applications("tag.1")
    assert found == [Application(APPLICATION, "SUCCEEDED"), Application(APPLICATION, "RUNNING")]


def test_resource_manager_that_does_not_answer_is_unavailable():
    with pytest.raises(SourceError, match=r"ResourceManager does not answer: .*HADOOP_CONF_DIR") as caught:
        Yarn((), "me").applications("x")
    assert caught.value.reason == "unavailable"


def test_program_yarn_is_asked_where_kerberos_is_wanted(tmp_path, monkeypatch):
    """Its answer as of Hadoop 3.4, "YARN Commands"."""
    rows = [
        f"      {APPLICATION}\tcrawlmill tag_count\t MAPREDUCE\t me\t default\t FINISHED\t SUCCEEDED\t 100%\t http://h",
        "application_1700000000000_0012\tcrawlmill tag_count\t MAPREDUCE\t me\t default\t RUNNING\t UNDEFINED\t 5%\t N/A",
    ]
    text = "\n".join(
        ["Total number of applications (states: ALL and tags: [tag.1]):2", "  Application-Id\tName", *rows]
    )
    program = tmp_path / "yarn"
    program.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\ncat <<'END'\n{text}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = Yarn((), "me", program=True).applications("tag.1")
    assert found == [Application(APPLICATION, "SUCCEEDED"), Application("application_1700000000000_0012", "RUNNING")]
    assert (tmp_path / "asked").read_text() == "application -list -appTags tag.1 -appStates ALL\n"


R = "yarn.resourcemanager."


@pytest.mark.parametrize(
    ("conf", "wanted"),
    [
        ({}, ()),
        ({f"{R}hostname": "rm"}, ("http://rm:8088",)),
        ({f"{R}hostname": "rm", f"{R}webapp.address": "0.0.0.0:99"}, ("http://rm:99",)),
        ({f"{R}webapp.https.address": "rm:1", "yarn.http.policy": "HTTPS_ONLY"}, ("https://rm:1",)),
        (
            {f"{R}ha.rm-ids": "a, b", f"{R}hostname.a": "one", f"{R}webapp.address.b": "two:88"},
            ("http://one:8088", "http://two:88"),
        ),
    ],
)
def test_addresses_of_resource_managers_are_found_in_the_configuration(conf, wanted):
    assert resource_managers(conf) == wanted
