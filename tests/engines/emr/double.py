"""A stand-in for Amazon EMR: moto answers its API (and S3, IAM, EC2, STS), and clusters really do something.

moto keeps clusters and steps, but nothing ever happens to them. Here a thread for each cluster is its node: it runs
the bootstrap actions, then the steps on the Hadoop of `tools/hadoop`, writes logs where EMR does, and advances the
states. A node has a folder, and a PATH that begins with programs that only write down how they were called (`sudo`,
`dnf`, pip) or stand for a node's own (`python3.11`, `aws`).

What is mirrored, since this Hadoop knows no S3: files of `-files` and `-archives` come to the node first, `-input` and
`-output` are HDFS instead, and output goes to S3 in the end.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
from botocore.exceptions import ClientError
from moto.core.responses import ActionResult
from moto.emr.models import Cluster, Step, emr_backends
from moto.emr.responses import ElasticMapReduceResponse
from moto.server import ThreadedMotoServer

REGION = "us-east-1"
MASTER = "i-0a1b2c3d4e5f60718"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t"}

_SHIMS = {
    "sudo": 'exec "$@"',
    "dnf": "exit 0",
    "python3.11": 'case "$*" in "-m pip "*) exit 0;; esac\nexec $(cat "$HERE/../python") "$@"',
    "aws": 'exec {python} "$HERE/../aws.py" "$@"',
}
# aws s3 cp FROM TO, either of which may be "-"
_AWS = """
import sys, boto3
source, target = sys.argv[-2:]
s3 = boto3.client("s3", region_name="us-east-1")
cut = lambda uri: uri.removeprefix("s3://").partition("/")[::2]
data = sys.stdin.buffer.read() if source == "-" else None
if source.startswith("s3://"):
    data = s3.get_object(Bucket=cut(source)[0], Key=cut(source)[1])["Body"].read()
if target.startswith("s3://"):
    s3.put_object(Bucket=cut(target)[0], Key=cut(target)[1], Body=data)
else:
    open(target, "wb").write(data)
"""


class EmrDouble:
    """The service. `hadoop` None: clusters start, and their steps wait for ever."""

    def __init__(self, home: Path, hadoop: Any = None) -> None:
        self.home, self.hadoop = home, hadoop
        self.dies_after_steps: int | None = None
        self._over = threading.Event()
        self._nodes: dict[str, Node] = {}
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self.calls = home / "calls"
        (home / "bin").mkdir(parents=True)
        (home / "tmp").mkdir()  # launchers that are killed leave something there
        (home / "aws.py").write_text(_AWS)
        for name, what in _SHIMS.items():
            shim = home / "bin" / name
            log = f'echo {name} "$*" >> {shlex.quote(str(self.calls))}\nHERE={shlex.quote(str(home / "bin"))}\n'
            shim.write_text(f"#!/bin/sh\n{log}{what.replace('{python}', sys.executable)}\n")
            shim.chmod(0o755)
        self.python = sys.executable

    @property
    def python(self) -> str:
        """The Python of the nodes."""
        return (self.home / "python").read_text()

    @python.setter
    def python(self, command: str) -> None:
        (self.home / "python").write_text(command)

    @property
    def url(self) -> str:
        host, port = self._server.get_host_and_port()
        return f"http://{host}:{port}"

    @property
    def environment(self) -> dict[str, str]:
        """That of a user of this AWS. Nodes have it too, as theirs come from the instance profile."""
        return {
            **KEYS, "AWS_ENDPOINT_URL": self.url, "AWS_CONFIG_FILE": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "TMPDIR": str(self.home / "tmp"),
        }  # fmt: skip

    def client(self, service: str) -> Any:
        return boto3.client(
            service, region_name=REGION, endpoint_url=self.url, aws_access_key_id="x", aws_secret_access_key="x"
        )

    def put(self, location: str, data: bytes) -> str:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=data)
        return location

    def get(self, location: str) -> bytes:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        return self.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()

    def keys(self, location: str) -> list[str]:
        """The locations below this one."""
        bucket, _, prefix = location.removeprefix("s3://").partition("/")
        found = self.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", ())
        return [f"s3://{bucket}/{item['Key']}" for item in found]

    @property
    def clusters(self) -> list[Cluster]:
        return list(emr_backends["123456789012"][REGION].clusters.values())

    def waiting_cluster(self, **more: Any) -> str:
        """A cluster of the user's own, as `aws emr create-cluster` makes it; gives its id."""
        instances = {"InstanceCount": 1, "MasterInstanceType": "m5.xlarge", "KeepJobFlowAliveWhenNoSteps": True}
        return self.client("emr").run_job_flow(
            Name="mine", Instances=instances, ReleaseLabel="emr-7.10.0", LogUri="s3n://tmp/mine/", **more
        )["JobFlowId"]  # fmt: skip

    def start(self) -> None:
        self._server.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        self._over.set()
        for node in self._nodes.values():
            node.thread.join(30)
        self._server.stop()

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            for cluster in self.clusters:
                if cluster.id not in self._nodes:
                    self._nodes[cluster.id] = Node(self, cluster)


class Node:
    """The one node of a cluster, a thread."""

    def __init__(self, double: EmrDouble, cluster: Cluster) -> None:
        self._double, self._cluster = double, cluster
        self._home = double.home / cluster.id
        self._home.mkdir()
        self._environment = {
            **double.environment, "PATH": f"{double.home}/bin:/usr/bin:/bin", "HOME": str(self._home),
        }  # fmt: skip
        del self._environment["TMPDIR"]  # YARN gives tasks one of their own
        self.thread = threading.Thread(target=self._be, daemon=True)
        self.thread.start()

    @property
    def _ending(self) -> bool:
        return self._double.over or self._cluster.state in ("TERMINATING", "TERMINATED_WITH_ERRORS")

    def _be(self) -> None:
        try:
            self._live()
        except ClientError as error:  # the files of its run are gone
            self._die("TERMINATED_WITH_ERRORS", str(error))

    def _live(self) -> None:
        cluster = self._cluster
        if not self._ending:
            cluster.state = "BOOTSTRAPPING"
        for number, action in enumerate(cluster.bootstrap_actions, 1):
            if not self._bootstrap(number, action):
                why = f"On the master instance ({MASTER}), bootstrap action {number} returned a non-zero return code"
                return self._die("TERMINATED_WITH_ERRORS", why)
        if not self._ending:
            cluster.state = "RUNNING"
        while not self._ending:
            step = next((step for step in cluster.steps if step.state == "PENDING"), None)
            if step is None:
                if not cluster.keep_job_flow_alive_when_no_steps:
                    return self._die("TERMINATED", "Steps completed")
                cluster.state = "WAITING"
                time.sleep(0.05)
            elif self._double.hadoop is None:
                step.state, cluster.state = "RUNNING", "RUNNING"
                while not self._ending and step.state == "RUNNING":
                    time.sleep(0.05)
            else:
                cluster.state = "RUNNING"
                self._run(step)
        return self._die(
            "TERMINATED_WITH_ERRORS" if "ERRORS" in cluster.state else "TERMINATED",
            getattr(cluster, "last_state_change_reason", None) or "Terminated by user request",
        )

    def _die(self, state: str, why: str) -> None:
        if not self._ending:
            self._cluster.state = "TERMINATING"
        for step in self._cluster.steps:
            if step.state in ("PENDING", "RUNNING"):
                step.state = "CANCELLED"
        self._cluster.last_state_change_reason = why
        self._cluster.state = state

    def _bootstrap(self, number: int, action: Any) -> bool:
        script = self._home / f"action-{number}"
        script.write_bytes(self._double.get(action.script_path))
        script.chmod(0o755)
        done = subprocess.run(
            [str(script), *action.args], cwd=self._home, env=self._environment, capture_output=True, check=False
        )
        for name, said in (("stdout", done.stdout), ("stderr", done.stderr)):
            self._log(f"node/{MASTER}/bootstrap-actions/{number}/{name}", said)
        return done.returncode == 0

    def _run(self, step: Step) -> None:
        step.state = "RUNNING"
        step.start()
        hadoop = self._double.hadoop
        output = f"/emr/{step.id}"
        jar = next(Path(hadoop.home, "lib").resolve().glob("hadoop-streaming-*.jar"))
        with (self._home / "driver.log").open("w+b") as log:
            process = subprocess.Popen(
                [f"{hadoop.home}/bin/hadoop", "jar", str(jar), *self._mirrored(list(step.args), output)],
                env={**os.environ, **hadoop.environment, "HADOOP_USER_NAME": "hadoop"}, cwd=self._home,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            while process.poll() is None and not self._ending and step.state == "RUNNING":
                time.sleep(0.05)
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            log.seek(0)
            said = log.read()
        if process.returncode < 0:
            for job in set(re.findall(rb"Running job: (job_\w+)", said)):
                hadoop.shell("job", "-kill", job.decode())
        self._log(f"steps/{step.id}/syslog", said)
        self._log(f"steps/{step.id}/stderr", b"")
        if process.returncode == 0:
            self._fetch_output(step, output)
        if step.state == "RUNNING":
            step.end_date_time = datetime.now(UTC).replace(tzinfo=None)
            step.state = "FAILED" if process.returncode else "COMPLETED"
        hadoop.storage.remove(f"hdfs://{output}")
        if step.state == "FAILED":
            if step.action_on_failure == "TERMINATE_CLUSTER":
                self._cluster.last_state_change_reason = "Shut down as step failed"
                self._cluster.state = "TERMINATED_WITH_ERRORS"
            for other in self._cluster.steps:
                if other.state == "PENDING":
                    other.state = "CANCELLED"
        elif self._double.dies_after_steps == self._cluster.steps.index(step) + 1:
            self._cluster.last_state_change_reason = f"The master failed: instance {MASTER} was terminated"
            self._cluster.state = "TERMINATED_WITH_ERRORS"

    def _mirrored(self, args: list[str], output: str) -> list[str]:
        assert args.pop(0) == "hadoop-streaming"
        self._output = None
        for place, option in enumerate(args[:-1]):
            value = args[place + 1]
            if option in ("-files", "-archives"):
                args[place + 1] = ",".join(self._here(each) for each in value.split(","))
            elif option == "-input" and value.startswith("s3://"):
                args[place + 1] = self._double.hadoop.put(f"{output}/in/{Path(value).name}", self._double.get(value))
            elif option == "-output" and value.startswith("s3://"):
                self._output, args[place + 1] = value.rstrip("/"), f"hdfs://{output}/out"
        node = ",".join(f"{name}={value}" for name, value in self._environment.items())
        return ["-D", f"mapreduce.map.env={node}", "-D", f"mapreduce.reduce.env={node}", *self._generic_first(args)]

    def _generic_first(self, args: list[str]) -> list[str]:
        """Hadoop takes -D, -files and -archives before all others only, as `hadoop-streaming` of EMR does."""
        first = next(n for n, arg in enumerate(args) if arg in ("-cmdenv", "-input", "-inputformat", "-mapper"))
        assert not {"-D", "-files", "-archives"} & set(args[first:])
        return args

    def _here(self, given: str) -> str:
        location, _, name = given.partition("#")
        path = self._home / "files" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self._double.get(location))
        return f"{path}#{name}"

    def _fetch_output(self, step: Step, output: str) -> None:
        if self._output is not None:
            storage = self._double.hadoop.storage
            for name in storage.list(f"hdfs://{output}/out"):
                data = storage.read_all(f"hdfs://{output}/out/{name}", limit=1 << 26)
                self._double.put(f"{self._output}/{name}", data)

    def _log(self, name: str, said: bytes) -> None:
        log_uri = self._cluster.log_uri.replace("s3n://", "s3://")
        self._double.put(f"{log_uri}{self._cluster.id}/{name}.gz", gzip.compress(said))


def _add_steps(self: Cluster, steps: list[dict[str, Any]]) -> list[Step]:
    added = [Step(state="PENDING", **step) for step in steps]
    self.steps += added
    return added


def _terminate(self: Cluster) -> None:
    if not self.state.startswith("TERMINAT"):
        self.state = "TERMINATING"


def _cancel_steps(self: ElasticMapReduceResponse) -> ActionResult:
    """What moto does not know."""
    cluster = self.backend.clusters[self._get_param("ClusterId")]
    told = []
    for step in cluster.steps:
        if step.id in self._get_param("StepIds") and step.state in ("PENDING", "RUNNING"):
            step.state = "CANCELLED"
            told.append({"StepId": step.id, "Status": "SUBMITTED"})
    return ActionResult({"CancelStepsInfoList": told})


@contextmanager
def emr_double(home: Path, hadoop: Any = None) -> Iterator[EmrDouble]:
    """The service, within this block."""
    patches = [
        mock.patch.object(Cluster, "run_bootstrap_actions", return_value=None),
        mock.patch.object(Cluster, "terminate", _terminate),
        mock.patch.object(Cluster, "add_steps", _add_steps),
        mock.patch.object(ElasticMapReduceResponse, "cancel_steps", _cancel_steps, create=True),
    ]
    double = EmrDouble(home, hadoop)
    for patch in patches:
        patch.start()
    double.start()
    urllib.request.urlopen(f"{double.url}/moto-api/reset", data=b"").close()  # of what an earlier one held
    try:
        double.client("s3").create_bucket(Bucket="tmp")
        double.client("s3").create_bucket(Bucket="mine")
        yield double
    finally:
        double.stop()
        for patch in patches:
            patch.stop()
