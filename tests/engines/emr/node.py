"""What a cluster of the EMR double does: a thread runs the bootstrap actions, then the steps, as many at a time as the
cluster allows, writes logs where EMR does (and as late), and advances the states.

As on EMR: who cancels a running step kills its process, and nothing else, so a job that the process has given to YARN
goes on; `CANCEL_AND_WAIT` cancels all pending steps of a cluster when a step fails, whosever they are, and `CONTINUE`
none; a cluster that ends by itself says why in `ErrorDetails`.

Spec: Amazon EMR API, StepConfig and CancelSteps; Management Guide, "Cancel steps", "View log files archived to S3",
"Bootstrap failure error codes in Amazon EMR" (what `ErrorData` holds).
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from moto.emr.models import Cluster, Step

if TYPE_CHECKING:
    from tests.engines.emr.double import EmrDouble

MASTER = "i-0a1b2c3d4e5f60718"

_STREAM = Path(__file__).with_name("stream.py")
STATES = threading.Lock()
"""Held by whoever changes the state of a cluster or a step: requests end and cancel them while they go on."""

ACTIVE = ("PENDING", "RUNNING", "CANCEL_PENDING")


def _encryption(args: list[str]) -> dict[str, str]:
    """How Hadoop has S3A encrypt what a step writes."""
    given = dict(each.split("=", 1) for option, each in pairwise(args) if option == "-D")
    algorithm = {"SSE-S3": "AES256", "SSE-KMS": "aws:kms"}.get(given.get("fs.s3a.encryption.algorithm"))
    found = {"ServerSideEncryption": algorithm, "SSEKMSKeyId": given.get("fs.s3a.encryption.key")}
    return {name: value for name, value in found.items() if value}


class Node:
    """The one node of a cluster."""

    def __init__(self, double: EmrDouble, cluster: Cluster) -> None:
        self._double, self._cluster = double, cluster
        self._home = double.home / cluster.id
        self._home.mkdir()
        self._environment = {
            **double.metadata.environment,
            "AWS_ENDPOINT_URL": double.url,
            "HOME": str(self._home),
            "PATH": f"{double.home}/bin:/usr/bin:/bin",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        self._steps: list[threading.Thread] = []
        self._logs: list[threading.Thread] = []
        self.thread = threading.Thread(target=self._be, daemon=True)
        self.thread.start()

    @property
    def _ending(self) -> bool:
        return self._double.over or self._cluster.state in ("TERMINATING", "TERMINATED_WITH_ERRORS")

    def _be(self) -> None:
        try:
            self._live()
        except ClientError as error:  # the files of its run are gone
            ended = self._cluster.state == "TERMINATING"  # on request, and then the files were removed
            self._die("TERMINATED" if ended else "TERMINATED_WITH_ERRORS", str(error))
        for thread in (*self._steps, *self._logs):
            thread.join()

    def _live(self) -> None:
        cluster = self._cluster
        self._move_on("BOOTSTRAPPING")
        for number, action in enumerate(cluster.bootstrap_actions, 1):
            if not self._bootstrap(number, action):
                why = f"On the master instance ({MASTER}), bootstrap action {number} returned a non-zero return code"
                data = [{"primary-instance-id": MASTER, "bootstrap-action": str(number), "return-code": "1"}]
                code = "BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE"
                self._double.error_details[cluster.id] = [
                    {"ErrorCode": code, "ErrorData": data, "ErrorMessage": "The bootstrap action failed."}
                ]
                return self._die("TERMINATED_WITH_ERRORS", why)
        while not self._ending:
            self._begin_steps()
            if not any(step.state in ACTIVE for step in cluster.steps):
                if not cluster.keep_job_flow_alive_when_no_steps:
                    return self._die("TERMINATED", "Steps completed")
                self._move_on("WAITING")
            time.sleep(0.02)
        return self._die(
            "TERMINATED_WITH_ERRORS" if "ERRORS" in cluster.state else "TERMINATED",
            getattr(cluster, "last_state_change_reason", None) or "Terminated by user request",
        )

    def _move_on(self, state: str) -> None:
        """Change the cluster's state, unless it is being ended."""
        with STATES:
            if not self._ending:
                self._cluster.state = state

    def _begin_steps(self) -> None:
        running = [step for step in self._cluster.steps if step.state in ("RUNNING", "CANCEL_PENDING")]
        waiting = [step for step in self._cluster.steps if step.state == "PENDING"]
        for step in waiting[: max(0, self._cluster.step_concurrency_level - len(running))]:
            with STATES:
                if step.state != "PENDING":
                    continue
                step.start()
                step.state = "RUNNING"
            self._move_on("RUNNING")  # last: whoever waits for it may do something to the step
            thread = threading.Thread(target=self._do, args=(step,), daemon=True)
            self._steps.append(thread)
            thread.start()

    def _die(self, state: str, why: str) -> None:
        if not self._ending:
            self._cluster.state = "TERMINATING"
        for step in self._cluster.steps:
            if step.state in ACTIVE:
                step.state = "CANCELLED"
        self._cluster.last_state_change_reason = why  # type: ignore[attr-defined]
        self._cluster.state = state
        if self._double.hadoop is not None:  # its machines are gone
            for application, end in self._double.hadoop.applications().items():
                if end == "UNDEFINED":
                    self._double.hadoop.shell("job", "-kill", application.replace("application", "job"))

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

    def _do(self, step: Step) -> None:
        try:
            self._run(step)
        except ClientError as error:  # a file of the step is gone
            self._end(step, str(error).encode(), failed=True)

    def _run(self, step: Step) -> None:
        command, hadoop = step.args[0], self._double.hadoop
        if command != "hadoop-streaming":
            process = self._process(list(step.args), self._environment)
        elif hadoop is None and self._double.streams:
            return self._stream(step)
        elif hadoop is None:
            while not self._ending and step.state == "RUNNING":
                time.sleep(0.02)
            return self._end(step, None, failed=step.state == "FAILED")
        else:
            output = f"/emr/{step.id}"
            jar = next(Path(hadoop.home, "lib").resolve().glob("hadoop-streaming-*.jar"))
            args, target = self._mirrored(list(step.args[1:]), output)
            process = self._process(
                [f"{hadoop.home}/bin/hadoop", "jar", str(jar), *args],
                {**os.environ, **hadoop.environment, "HADOOP_USER_NAME": "hadoop"},
            )
        said = self._follow(process, step)
        if process.returncode == 0 and command == "hadoop-streaming":
            self._fetch_output(target, output, _encryption(step.args))
        return self._end(step, said, failed=process.returncode != 0)

    def _stream(self, step: Step) -> None:
        """Run the job of a step without Hadoop."""
        home = self._home / step.id
        args, target = list(step.args[1:]), ""
        for place, option in enumerate(args[:-1]):
            value = args[place + 1]
            if option in ("-files", "-archives"):
                args[place + 1] = ",".join(self._here(each) for each in value.split(","))
            elif option == "-input":
                args[place + 1] = self._here(value)
            elif option == "-output":
                target, args[place + 1] = value.rstrip("/"), str(home / "output")
        process = self._process([sys.executable, str(_STREAM), str(home), *args], self._environment)
        said = self._follow(process, step)
        if process.returncode == 0:
            for part in sorted((home / "output").iterdir()):
                self._double.put(f"{target}/{part.name}", part.read_bytes(), **_encryption(step.args))
        return self._end(step, said, failed=process.returncode != 0)

    def _follow(self, process: subprocess.Popen[bytes], step: Step) -> bytes:
        """Wait for the process of a step, or kill it with the step; what it has said."""
        with process, process.stdout as log:
            said: list[bytes] = []
            reader = threading.Thread(target=lambda: said.append(log.read()))
            reader.start()
            while process.poll() is None and not self._ending and step.state == "RUNNING":
                time.sleep(0.02)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            reader.join()
        return b"".join(said)

    def _process(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _end(self, step: Step, said: bytes | None, *, failed: bool) -> None:
        if said is not None:
            self._log(f"steps/{step.id}/syslog", said)
            self._log(f"steps/{step.id}/stderr", b"")
        step.end_date_time = datetime.now(UTC).replace(tzinfo=None)  # type: ignore[assignment]
        with STATES:
            if step.state == "CANCEL_PENDING" or (step.state == "RUNNING" and self._ending):
                step.state = "CANCELLED"
            elif step.state in ("RUNNING", "FAILED"):
                step.state = "FAILED" if failed else "COMPLETED"
            if step.state == "FAILED":
                self._act_on_failure(step)
        if step.state == "COMPLETED" and self._double.dies_after_steps == self._cluster.steps.index(step) + 1:
            self._cluster.last_state_change_reason = (  # type: ignore[attr-defined]
                f"The master failed: instance {MASTER} was terminated"
            )
            self._cluster.state = "TERMINATED_WITH_ERRORS"

    def _act_on_failure(self, step: Step) -> None:
        if step.action_on_failure == "TERMINATE_CLUSTER":
            self._cluster.last_state_change_reason = "Shut down as step failed"  # type: ignore[attr-defined]
            self._cluster.state = "TERMINATED_WITH_ERRORS"
        elif step.action_on_failure == "CANCEL_AND_WAIT":
            for other in self._cluster.steps:
                if other.state == "PENDING":
                    other.state = "CANCELLED"

    def _mirrored(self, args: list[str], output: str) -> tuple[list[str], str | None]:
        """The arguments for a Hadoop that knows no S3, and where the output is to go in the end."""
        target = None
        for place, option in enumerate(args[:-1]):
            value = args[place + 1]
            if option in ("-files", "-archives"):
                args[place + 1] = ",".join(self._here(each) for each in value.split(","))
            elif option == "-input" and value.startswith("s3://"):
                args[place + 1] = self._double.hadoop.put(f"{output}/in/{Path(value).name}", self._double.get(value))
            elif option == "-output" and value.startswith("s3://"):
                target, args[place + 1] = value.rstrip("/"), f"hdfs://{output}/out"
        node = ",".join(f"{name}={value}" for name, value in self._environment.items())
        args = ["-D", f"mapreduce.map.env={node}", "-D", f"mapreduce.reduce.env={node}", *args]
        return self._generic_first(args), target

    def _generic_first(self, args: list[str]) -> list[str]:
        """Hadoop takes -D, -files and -archives before all others only, as `hadoop-streaming` of EMR does."""
        first = next(n for n, arg in enumerate(args) if arg in ("-cmdenv", "-input", "-inputformat", "-mapper"))
        assert not {"-D", "-files", "-archives"} & set(args[first:])
        return args

    def _here(self, given: str) -> str:
        location, named, name = given.partition("#")
        path = self._home / "files" / Path(location).name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self._double.get(location))
        return f"{path}{named}{name}"

    def _fetch_output(self, target: str | None, output: str, encryption: dict[str, str]) -> None:
        storage = self._double.hadoop.storage
        if target is not None:
            for name in storage.list(f"hdfs://{output}/out"):
                data = storage.read_all(f"hdfs://{output}/out/{name}", limit=1 << 26)
                self._double.put(f"{target}/{name}", data, **encryption)
        storage.remove(f"hdfs://{output}")

    def _log(self, name: str, said: bytes) -> None:
        """EMR copies logs every five minutes, and as a cluster ends."""
        location = f"{self._cluster.log_uri.replace('s3n://', 's3://')}{self._cluster.id}/{name}.gz"
        key = self._double.log_keys[self._cluster.id]
        encryption = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key} if key else {}

        def copy() -> None:
            until = time.monotonic() + self._double.log_delay_s
            while time.monotonic() < until and not self._double.over:
                time.sleep(0.02)
            self._double.put(location, gzip.compress(said), **encryption)

        if self._double.log_delay_s:
            self._logs.append(threading.Thread(target=copy, daemon=True))
            self._logs[-1].start()
        else:
            copy()
