"""A stand-in for Amazon EMR: moto answers its API (and S3, IAM, EC2, STS), and clusters really do something.

moto keeps clusters and steps, but nothing ever happens to them: `node.py` makes it happen, on the Hadoop of
`tools/hadoop`. A node has a folder, credentials that come from an instance metadata service, and a PATH that begins
with programs that only write down how they were called (`sudo`, `dnf`, pip) or stand for a node's own (`python3.11`,
`aws`, `yarn`). S3 refuses requests that are not signed.

What is mirrored, since this Hadoop knows no S3: files of `-files` and `-archives` come to the node first, `-input` and
`-output` are HDFS instead, and output goes to S3 in the end.
"""

from __future__ import annotations

import shlex
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from moto.core.responses import ActionResult
from moto.emr.exceptions import ValidationException
from moto.emr.models import Cluster, InstanceGroup, Step, emr_backends
from moto.emr.responses import ElasticMapReduceResponse
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import ThreadedMotoServer
from tests.aws import boto3
from tests.engines.emr.metadata import MetadataService
from tests.engines.emr.node import STATES, Node

REGION = "us-east-1"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cr3t"}

_SHIMS = {
    "sudo": 'exec "$@"',
    "dnf": "exit 0",
    "python3.11": 'case "$*" in "-m pip "*) exit 0;; esac\nexec $(cat "$HERE/../python") "$@"',
    # As on a node: a Python of its own, which a PYTHONPATH for another one would break.
    "aws": '[ -z "$PYTHONPATH$PYTHONHOME" ] || exit 9\nexec {python} "$HERE/../aws.py" "$@"',
    "yarn": "{yarn}",
}
# aws s3 cp [OPTIONS] FROM TO, either of which may be "-"
_AWS = """
import sys, boto3
source, target = sys.argv[-2:]
given = dict(arg.split("=", 1) for arg in sys.argv if "=" in arg)
sse = {"ServerSideEncryption": given.get("--sse"), "SSEKMSKeyId": given.get("--sse-kms-key-id")}
s3 = boto3.client("s3", region_name="us-east-1")
cut = lambda uri: uri.removeprefix("s3://").partition("/")[::2]
data = sys.stdin.buffer.read() if source == "-" else None
if source.startswith("s3://"):
    data = s3.get_object(Bucket=cut(source)[0], Key=cut(source)[1])["Body"].read()
if target.startswith("s3://"):
    sse = {name: value for name, value in sse.items() if value}
    s3.put_object(Bucket=cut(target)[0], Key=cut(target)[1], Body=data, **sse)
else:
    open(target, "wb").write(data)
"""


class EmrDouble:
    """The service. `hadoop` None: steps wait for ever, or (`streams`) their jobs run without Hadoop."""

    def __init__(self, home: Path, hadoop: Any = None, *, streams: bool = False) -> None:
        self.home, self.hadoop, self.streams = home, hadoop, streams
        self.dies_after_steps: int | None = None
        self.log_delay_s = 0.0
        self.demanded: dict[str, str] = {}
        self.metadata = MetadataService()
        self.error_details: dict[str, list[dict[str, Any]]] = {}
        self.fleets: dict[str, list[dict[str, Any]]] = {}
        self.granted: dict[str, int] = {}
        self.end_idle: dict[str, dict[str, int]] = {}
        self.log_keys: dict[str, str | None] = {}
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
            what = what.replace("{python}", sys.executable).replace("{yarn}", _yarn(hadoop))
            shim.write_text(f"#!/bin/sh\n{log}{what}\n")
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
        """That of a user of this AWS."""
        return {
            **KEYS,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_CONFIG_FILE": "/nonexistent",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
            "TMPDIR": str(self.home / "tmp"),
        }

    def client(self, service: str) -> Any:
        return boto3.client(
            service, region_name=REGION, endpoint_url=self.url, aws_access_key_id="x", aws_secret_access_key="x"
        )

    def put(self, location: str, data: bytes, **more: str) -> str:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=data, **more)
        return location

    def demand_encryption(self, key: str) -> None:
        """From now on, refuse objects that are written without saying that this key of KMS is to encrypt them."""
        self.demanded = {
            "HTTP_X_AMZ_SERVER_SIDE_ENCRYPTION": "aws:kms",
            "HTTP_X_AMZ_SERVER_SIDE_ENCRYPTION_AWS_KMS_KEY_ID": key,
        }

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
        """Those that are whole: moto lists a cluster as soon as it begins to make it, and another thread serves it."""
        listed = list(emr_backends["123456789012"][REGION].clusters.values())
        return [cluster for cluster in listed if hasattr(cluster, "supported_products")]  # moto sets that last

    def waiting_cluster(self, **more: Any) -> str:
        """A cluster of the user's own, as `aws emr create-cluster` makes it; gives its id."""
        instances = {"InstanceCount": 1, "MasterInstanceType": "m5.xlarge", "KeepJobFlowAliveWhenNoSteps": True}
        asked = {"Name": "mine", "Instances": instances, "ReleaseLabel": "emr-7.14.0", "LogUri": "s3n://tmp/mine/"}
        return self.client("emr").run_job_flow(**{**asked, **more})["JobFlowId"]

    def grant(self, cluster: str, workers: int) -> None:
        """Start so many task nodes of a cluster, whatever was asked for."""
        self.granted[cluster] = workers

    def start(self) -> None:
        self._server.start()
        urllib.request.urlopen(f"{self.url}/moto-api/reset", data=b"").close()  # of what an earlier one held
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


def _yarn(hadoop: Any) -> str:
    """What `yarn application` is where there is no distribution of Hadoop."""
    if hadoop is None:
        return "exit 0"
    path = f"{hadoop.home}/etc/hadoop:{hadoop.home}/lib/*"
    return f"HADOOP_USER_NAME=hadoop exec java -cp '{path}' org.apache.hadoop.yarn.client.cli.ApplicationCLI \"$@\""


def _add_steps(self: Cluster, steps: list[dict[str, Any]]) -> list[Step]:
    added = [Step(state="PENDING", **step) for step in steps]
    self.steps += added
    return added


def _terminate(self: Cluster) -> None:
    with STATES:
        if not self.state.startswith("TERMINAT"):
            self.state = "TERMINATING"


def _cancel_steps(self: ElasticMapReduceResponse) -> ActionResult:
    """What moto does not know. What is cancelled while it runs is so only after a while."""
    cluster = self.backend.clusters[self._get_param("ClusterId")]
    told = []
    with STATES:
        for step in cluster.steps:
            if step.id in self._get_param("StepIds") and step.state in ("PENDING", "RUNNING"):
                step.state = "CANCELLED" if step.state == "PENDING" else "CANCEL_PENDING"
                told.append({"StepId": step.id, "Status": "SUBMITTED"})
    return ActionResult({"CancelStepsInfoList": told})


_moto_adds_steps = ElasticMapReduceResponse.add_job_flow_steps
_moto_runs = ElasticMapReduceResponse.run_job_flow
_moto_status = Cluster.status.fget  # type: ignore[attr-defined]
_moto_dispatches = DomainDispatcherApplication.__call__


def _add_job_flow_steps(self: ElasticMapReduceResponse) -> ActionResult:
    """moto takes what EMR refuses."""
    cluster = self.backend.clusters.get(self._get_param("JobFlowId"))
    actions = {step.get("ActionOnFailure", "TERMINATE_CLUSTER") for step in self._get_param("Steps", [])}
    if cluster is not None and cluster.step_concurrency_level > 1 and actions - {"CONTINUE"}:
        raise ValidationException("ActionOnFailure is not valid: the cluster's step concurrency level is above 1")
    return _moto_adds_steps(self)


def _makes_object(environ: dict[str, Any]) -> bool:
    """Whether this is PutObject, CopyObject or CreateMultipartUpload; parts of an upload are as that was begun."""
    query = environ.get("QUERY_STRING", "")
    if environ["REQUEST_METHOD"] == "PUT":
        return "/" in environ["PATH_INFO"].strip("/") and "partNumber" not in query
    return environ["REQUEST_METHOD"] == "POST" and query.startswith("uploads")


def _patches(double: EmrDouble) -> Iterator[Any]:
    def run_job_flow(self: ElasticMapReduceResponse) -> ActionResult:
        """moto forgets some of what it was asked for."""
        answer = _moto_runs(self)
        cluster = list(self.backend.clusters.values())[-1]
        asked = self._get_param("Instances", {}).get("InstanceFleets", [])
        double.fleets[cluster.id] = asked
        double.end_idle[cluster.id] = self._get_param("AutoTerminationPolicy", {})
        double.log_keys[cluster.id] = self._get_param("LogEncryptionKmsKeyId")
        kind = "INSTANCE_FLEET" if asked else "INSTANCE_GROUP"
        cluster.instance_collection_type = kind  # type: ignore[attr-defined]
        return answer

    def list_instance_fleets(self: ElasticMapReduceResponse) -> ActionResult:
        cluster = self._get_param("ClusterId")
        return ActionResult(
            {
                "InstanceFleets": [
                    {
                        **fleet,
                        "Id": f"if-{number}",
                        "ProvisionedOnDemandCapacity": fleet.get("TargetOnDemandCapacity", 0),
                        "ProvisionedSpotCapacity": double.granted.get(cluster, fleet.get("TargetSpotCapacity", 0)),
                    }
                    for number, fleet in enumerate(double.fleets[cluster])
                ]
            }
        )

    def get_auto_termination_policy(self: ElasticMapReduceResponse) -> ActionResult:
        return ActionResult({"AutoTerminationPolicy": double.end_idle[self._get_param("ClusterId")]})

    def running(self: InstanceGroup) -> int:
        return double.granted.get(self.cluster_id, self.num_instances) if self.role == "TASK" else self.num_instances

    def answer(self: DomainDispatcherApplication, environ: dict[str, Any], start_response: Any) -> Any:
        """No bucket here is public, and some refuse what is not to be encrypted as they want it."""
        signed = "HTTP_AUTHORIZATION" in environ or environ["PATH_INFO"].startswith("/moto-api/")
        lacking = any(environ.get(name) != value for name, value in double.demanded.items())
        if signed and not (lacking and _makes_object(environ)):
            return _moto_dispatches(self, environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "application/xml")])
        return [b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"]

    def status(self: Cluster) -> dict[str, Any]:
        return {**_moto_status(self), "ErrorDetails": double.error_details.get(self.id, [])}

    for owner, name, member in (
        (Cluster, "run_bootstrap_actions", lambda _: None),
        (Cluster, "terminate", _terminate),
        (Cluster, "add_steps", _add_steps),
        (Cluster, "status", property(status)),
        (InstanceGroup, "running_instance_count", property(running)),
        (ElasticMapReduceResponse, "cancel_steps", _cancel_steps),
        (ElasticMapReduceResponse, "add_job_flow_steps", _add_job_flow_steps),
        (ElasticMapReduceResponse, "run_job_flow", run_job_flow),
        (ElasticMapReduceResponse, "list_instance_fleets", list_instance_fleets),
        (ElasticMapReduceResponse, "get_auto_termination_policy", get_auto_termination_policy),
        (DomainDispatcherApplication, "__call__", answer),
    ):
        yield mock.patch.object(owner, name, member, create=True)


@contextmanager
def emr_double(home: Path, hadoop: Any = None, *, streams: bool = False) -> Iterator[EmrDouble]:
    """The service, within this block."""
    double = EmrDouble(home, hadoop, streams=streams)
    with ExitStack() as stack:
        for patch in _patches(double):
            stack.enter_context(patch)
        stack.enter_context(double.metadata)
        stack.callback(double.stop)
        double.start()
        for bucket in ("tmp", "mine"):
            double.client("s3").create_bucket(Bucket=bucket)
        yield double
