"""A real Hadoop for the tests that are marked `hadoop`: one per test run, started when the first of them runs.

It is `tools/hadoop/cluster.py run` in a folder of its own: it stops when its stdin ends, so that not even a test run
that is killed leaves daemons behind. Without Java and Maven the tests are skipped by name, or fail where
CRAWLMILL_REQUIRE_ENGINES is 1.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from tests.engines.jobs import started
from tests.mr.helpers import PROJECT, Ended, environment

from crawlmill.storage import Storage, StorageOptions

CLUSTER = PROJECT / "tools" / "hadoop" / "cluster.py"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "hadoop: needs a real Hadoop (Java, Maven)")


class Hadoop:
    """The cluster of this test run. Jobs run as a user called `researcher`, whom nobody has announced to it."""

    def __init__(self, home: Path, exports: dict[str, str]) -> None:
        self.home = home
        self.environment = {**exports, "HADOOP_USER_NAME": "researcher"}
        self.storage = Storage(StorageOptions(webhdfs=f"http://{self.state['web']['namenode']}"))

    @property
    def state(self) -> dict:
        return json.loads((self.home / "state.json").read_text())

    def started(self, script: Path, *args: object, **more: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """A job that runs on the cluster; nothing is left of its process after the block."""
        command = [sys.executable, str(script), "-r", "hadoop", *map(str, args)]
        return started(command, {**self.environment, **more})

    def run(self, script: Path, *args: object, **more: str) -> Ended:
        """Run a job on the cluster."""
        with self.started(script, *args, **more) as process:
            return ended(process)

    def crawlmill(self, *args: object) -> Ended:
        """Run a command."""
        command = [sys.executable, "-m", "crawlmill", *map(str, args)]
        with started(command, self.environment) as process:
            return ended(process)

    def shell(self, *args: str, **more: str) -> subprocess.CompletedProcess[str]:
        """What the program `hadoop` says; each call starts a Java machine."""
        command = [f"{self.home}/bin/hadoop", *args]
        variables = environment(**self.environment, **more)
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True)

    def nothing_is_left(self) -> bool:
        """Whether the folders of all runs on HDFS are gone."""
        url = f"http://{self.state['web']['namenode']}/webhdfs/v1/user/researcher/.crawlmill?op=LISTSTATUS"
        try:
            with urllib.request.urlopen(url) as answer:
                return not json.load(answer)["FileStatuses"]["FileStatus"]
        except urllib.error.HTTPError as error:
            return error.code == HTTPStatus.NOT_FOUND

    def put(self, path: str, data: bytes) -> str:
        """A file in HDFS; gives its location."""
        with self.storage.write(f"hdfs://{path}") as file:
            file.write(data)
        return f"hdfs://{path}"

    def set_space_quota(self, path: str, size: int) -> None:
        """Let a folder of HDFS hold no more than so many bytes."""
        query = f"op=SETQUOTA&storagespacequota={size}&namespacequota=1000000"
        url = f"http://{self.state['web']['namenode']}/webhdfs/v1{path}?{query}"
        urllib.request.urlopen(urllib.request.Request(url, method="PUT")).close()

    def applications(self) -> dict[str, str]:
        """{id: final status} of all that YARN has seen."""
        with urllib.request.urlopen(f"http://{self.state['web']['resourcemanager']}/ws/v1/cluster/apps") as answer:
            return {app["id"]: app["finalStatus"] for app in (json.load(answer)["apps"] or {"app": ()})["app"]}

    def kill(self, daemon: str) -> None:
        """Kill a daemon, without a chance to say goodbye."""
        os.kill(self.state["pids"][daemon], signal.SIGKILL)

    def restart(self) -> None:
        """Start the daemons that do not run."""
        subprocess.run(
            [sys.executable, str(CLUSTER), "start", "--home", str(self.home)], check=True, capture_output=True
        )


def ended(process: subprocess.Popen[bytes], timeout: float = 1800) -> Ended:
    """How a job ended."""
    out, err = process.communicate(timeout=timeout)
    return Ended(process.returncode, out.decode(), err.decode())


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    for program in ("java", "mvn"):
        if shutil.which(program) is None and os.environ.get("CRAWLMILL_REQUIRE_ENGINES") != "1":
            pytest.skip(f"no {program}: real Hadoop cannot be run")
    with hadoop_cluster(tmp_path_factory.mktemp("hadoop")) as cluster:
        yield cluster


@contextmanager
def hadoop_cluster(home: Path) -> Iterator[Hadoop]:
    """A cluster with its files in this folder; it ends with the block."""
    command = [sys.executable, str(CLUSTER), "run", "--home", str(home)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        exports = {}
        while "PATH" not in exports:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("Hadoop does not start: see stderr")
            name, _, value = line.removeprefix("export ").partition("=")
            exports[name] = shlex.split(value)[0]
        exports["PATH"] = f"{home}/bin:{os.environ['PATH']}"
        cluster = Hadoop(home, exports)
        yield cluster
        cluster.storage.close()
    finally:
        process.stdin.close()
        process.wait(300)
        process.stdout.close()


@pytest.fixture
def folder(hadoop: Hadoop, request: pytest.FixtureRequest) -> Iterator[str]:
    """The path of a folder in HDFS of the test's own."""
    path = f"/tests/{request.node.name.partition('[')[0]}"
    yield path
    hadoop.storage.remove(f"hdfs://{path}")


def wait_for(what: Callable[[], object], process: subprocess.Popen[bytes] | None = None, seconds: float = 600) -> None:
    """Wait until something is the case; in vain if the process that is to bring it about has ended.

    The limit is a hang guard: other engines may take nearly all of the machine.
    """
    until = time.monotonic() + seconds
    while not what():
        assert process is None or process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.1)
