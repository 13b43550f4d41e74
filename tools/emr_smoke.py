"""A first real run on EMR: three jobs, one that is cancelled and one that is collected, on a cluster of two machines.

It costs well below a dollar, and says what it cost. It needs what docs/first-emr-run.md sets up:

    make emr-smoke BUCKET=YOUR-BUCKET

Each line of the report is `ok` or `failed`; the exit code is 1 if one has failed. The cluster is ended in any case. The
outputs stay in s3://BUCKET/crawlmill-smoke/, each run in a folder of its own: remove them when you have seen them.
"""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from emr_cluster import runner_of, start

from crawlmill.errors import CrawlmillError
from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.storage import Storage

PROJECT: Final = Path(__file__).resolve().parent.parent
JOBS: Final = {"word_count": "wet", "server_count": "wat", "tag_count": "warc"}
MACHINE: Final = "m6i.xlarge"
MACHINES: Final = 2
IDLE_S: Final = 900
LIMIT_S: Final = 3600.0


class Smoke:
    """The parts of the run, and their outcomes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = f"s3://{options.bucket}/crawlmill-smoke/{secrets.token_hex(4)}"
        self.tmp = f"{self.folder}/files/"
        self.runner: EmrRunner = runner_of(options.conf_paths, {"cloud_tmp_dir": self.tmp, "region": options.region})
        self.aws: Aws = self.runner.aws
        self.cluster = ""
        self.began_s = 0.0
        self.results: list[tuple[str, str, float]] = []

    def run(self, lists: Path) -> None:
        """Run all parts; ends the cluster in any case."""
        self.began_s = time.time()
        self.cluster = start(self.runner, self.request)
        say(f"cluster {self.cluster}: two machines of {MACHINE}; it is ready in five to ten minutes")
        try:
            for job, kind in JOBS.items():
                self.part(job, lambda job=job, kind=kind: self.job(job, lists / f"{kind}.paths"))  # type: ignore[misc]
            self.part("cancelled", lambda: self.cancelled(lists / "warc.paths"))
            self.part("collected", lambda: self.collected(lists / "wet.paths"))
        finally:
            self.end()

    def request(self) -> dict[str, Any]:
        """The request for a cluster with one master and one core node, on demand."""
        request = self.runner.waiting_cluster(IDLE_S)
        instances = request["Instances"]
        for name in ("InstanceFleets", "InstanceGroups"):
            instances.pop(name, None)
        disks = [{"VolumeSpecification": {"VolumeType": "gp3", "SizeInGB": 64}, "VolumesPerInstance": 1}]
        instances["InstanceGroups"] = [
            {"InstanceRole": "MASTER", "InstanceType": MACHINE, "InstanceCount": 1},
            {
                "InstanceRole": "CORE",
                "InstanceType": MACHINE,
                "InstanceCount": 1,
                "EbsConfiguration": {"EbsBlockDeviceConfigs": disks},
            },
        ]
        return {**request, "Name": "crawlmill smoke"}

    def part(self, name: str, do: Callable[[], str]) -> None:
        """Run one part, and record its time; a failure does not stop the others."""
        began = time.monotonic()
        say(f"{name} …")
        try:
            said = do()
        except (CrawlmillError, AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as error:
            said = f"failed: {' '.join(str(error).split()) or type(error).__name__}"
        self.results.append((name, said, time.monotonic() - began))
        say(f"{name}: {said}")

    def command(self, job: str, lst: Path, output: str) -> list[str]:
        """The command for a job on the cluster."""
        paths = [word for path in self.options.conf_paths or () for word in ("-c", path)]
        where = ["--region", self.options.region] if self.options.region else []
        every = ["--check-cluster-every", str(self.options.every)]
        script = str(PROJECT / "jobs" / f"{job}.py")
        return [
            sys.executable,
            script,
            "-r",
            "emr",
            *paths,
            *where,
            *every,
            "--cluster-id",
            self.cluster,
            "--cloud-tmp-dir",
            self.tmp,
            "--output-dir",
            output,
            str(lst),
        ]

    def job(self, job: str, lst: Path) -> str:
        """A job that runs to its end."""
        output = f"{self.folder}/{job}"
        done = subprocess.run(
            self.command(job, lst, output), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        check(done.returncode == 0, f"exit code {done.returncode}: {last_line(done.stderr)}")
        with Storage(self.runner.storage_options) as storage:
            report = json.loads(storage.read_all(f"{output}/_run.json", limit=1 << 20))
            check(storage.exists(f"{output}/_SUCCESS"), "there is no _SUCCESS")
        check(report["inputs"].get("ok") == inputs_in(lst), f"inputs: {report['inputs']}")
        cores = " and ".join(report["core_of_tasks"])
        return f"ok: {report['records']:,} records, {report['bytes']:,} bytes, {cores} core"

    def cancelled(self, lst: Path) -> str:
        """A job that is stopped while it runs: its step and its job in YARN end."""
        process = self.started("tag_count", lst, "cancelled")
        try:
            self.wait_for_step("RUNNING", process)
            time.sleep(self.options.settle)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=600)
        finally:
            process.kill()
        check(process.returncode == 130, f"exit code {process.returncode}: {last_line(err)}")
        states = [step["Status"]["State"] for step in self.steps()[:2]]
        check(states == ["COMPLETED", "CANCELLED"], f"the last steps are {', '.join(states)}")
        return "ok: exit code 130, its step is cancelled and its job ended"

    def collected(self, lst: Path) -> str:
        """A job whose launcher is killed, and which is collected."""
        process = self.started("word_count", lst, "collected")
        try:
            self.wait_for_step("RUNNING", process)
        finally:
            process.kill()
            process.communicate()
        done = subprocess.run(
            [sys.executable, "-m", "crawlmill", "ledger", "--collect", "--wait", f"{self.folder}/collected"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        check(done.returncode == 0, f"exit code {done.returncode}: {last_line(done.stderr)}")
        counted = (line for line in done.stderr.splitlines() if " inputs: " in line)
        return f"ok: {next(counted, last_line(done.stderr))}"

    def started(self, job: str, lst: Path, name: str) -> subprocess.Popen[str]:
        """Start a job."""
        command = self.command(job, lst, f"{self.folder}/{name}")
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def steps(self) -> list[dict[str, Any]]:
        """The steps of the cluster, the newest first."""
        found = self.aws.pages("emr", "list_steps", "Steps", ClusterId=self.cluster)
        return sorted(found, key=lambda step: step["Status"]["Timeline"]["CreationDateTime"], reverse=True)

    def wait_for_step(self, state: str, process: subprocess.Popen[str]) -> None:
        """Wait until the newest step is in a state."""
        before = {step["Id"] for step in self.steps() if step["Status"]["State"] not in ("PENDING", "RUNNING")}
        until = time.monotonic() + LIMIT_S
        while not any(step["Id"] not in before and step["Status"]["State"] == state for step in self.steps()):
            check(process.poll() is None, "it ended before its time")
            check(time.monotonic() < until, f"no step was {state.lower()} within an hour")
            time.sleep(self.options.every)

    def end(self) -> None:
        """End the cluster; say so loudly if that does not work, since it costs."""
        try:
            self.aws.ask("emr", "terminate_job_flows", JobFlowIds=[self.cluster])
        except AwsError as error:
            say(f"END CLUSTER {self.cluster} YOURSELF, it costs money: {error}")

    def report(self) -> int:
        """Print the results and the cost; returns the exit code."""
        print()
        for name, said, seconds in self.results:
            print(f"{name:14} {seconds:7.0f} s  {said}")
        hours = (time.time() - self.began_s) / 3600
        dollars = hours * MACHINES * (self.options.price + self.options.emr_price)
        cost = f"{MACHINES} machines: {dollars:.2f} dollars, and cents for disks and requests"
        print(f"{'cost':14} {hours * 3600:7.0f} s  {cost}")
        print(f"outputs and logs: {self.folder}")
        return int(len(self.results) < len(JOBS) + 2 or any(not said.startswith("ok") for _, said, _ in self.results))


def check(well: bool, what: str) -> None:
    """Raises: ValueError: The check failed."""
    if not well:
        raise ValueError(what)


def last_line(text: str) -> str:
    """The last line of a program's output."""
    return text.rstrip("\n").rpartition("\n")[2]


def inputs_in(lst: Path) -> int:
    """The number of inputs in a list."""
    return len(lst.read_text("utf-8").split())


def say(what: str) -> None:
    """Print the progress."""
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr, flush=True)


def make_lists(folder: Path, crawl: str) -> None:
    """Three files of each kind."""
    for kind in JOBS.values():
        command = [sys.executable, "-m", "crawlmill", "paths", crawl, kind, "--head", "3"]
        with (folder / f"{kind}.paths").open("wb") as file:
            subprocess.run(command, stdout=file, check=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bucket", metavar="BUCKET", help="a bucket of yours in the cluster's region")
    parser.add_argument("-c", "--conf-path", action="append", dest="conf_paths", metavar="FILE")
    parser.add_argument("--region", metavar="REGION")
    parser.add_argument("--crawl", default="CC-MAIN-2024-22")
    parser.add_argument("--lists", type=Path, metavar="DIR", help="take wet.paths, wat.paths and warc.paths from here")
    parser.add_argument("--price", type=float, default=0.192, help=f"dollars an hour for {MACHINE} (default: 0.192)")
    parser.add_argument("--emr-price", type=float, default=0.048, help="EMR's surcharge on it (default: 0.048)")
    parser.add_argument("--every", type=float, default=15, metavar="S", help="seconds between looks (default: 15)")
    parser.add_argument(
        "--settle",
        type=float,
        default=30,
        metavar="S",
        help="seconds from the start of a step to its end by Ctrl-C (default: 30)",
    )
    options = parser.parse_args(arguments)
    # A background job of a shell ignores Ctrl-C, and so would the job that is to be stopped by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        smoke = Smoke(options)
        with tempfile.TemporaryDirectory(prefix="crawlmill-") as folder:
            if options.lists is None:
                make_lists(Path(folder), options.crawl)
            smoke.run(options.lists or Path(folder))
    except (CrawlmillError, subprocess.CalledProcessError) as error:
        print(f"emr-smoke: {error}", file=sys.stderr)
        return 1
    return smoke.report()


if __name__ == "__main__":
    sys.exit(main())
