"""A real Hadoop (HDFS and YARN) on this machine, for tests and for trying things: `cluster.py start|stop|status|run`.

    start     starts what does not run, waits until jobs can run, prints export lines for a shell; a second call
              starts nothing
    stop      stops what start started, and the tasks of its jobs; the files in its HDFS are gone then
    status    tells what runs; exit code 1 if that is not all of it
    run       start, then wait for the end of stdin, then stop: for whoever wants to be sure that nothing is left

The jars come from Maven Central (`pom.xml`), once; everything lies below the folder of `--home`, which is HADOOP_HOME
to clients. Only the standard library is used. Export lines go to stdout, all else to stderr.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from classes import ClassArchive
from settings import JAVA_OPTIONS, write_java_options, write_settings

PROJECT: Final = Path(__file__).resolve().parents[2]
POM: Final = Path(__file__).with_name("pom.xml")
CACHE: Final = (PROJECT / ".cache").resolve() / "hadoop"

_DAEMONS: Final = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}
_READY_WITHIN_S: Final = 300.0


class ClusterError(Exception):
    """The reason why there is no cluster, as one line."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("start", "stop", "status", "run"))
    parser.add_argument("--home", type=Path, default=CACHE / "cluster", help="where the cluster lies")
    options = parser.parse_args(arguments)
    cluster = Cluster(options.home.resolve())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.command == "run":
            return _run(cluster)
        with cluster.locked():
            if options.command == "stop":
                cluster.stop()
            elif options.command == "start":
                cluster.start()
                _print_exports(cluster)
            else:
                return cluster.status()
    except ClusterError as error:
        print(f"hadoop: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


class Cluster:
    """The cluster in one folder. Its running processes are recorded in `state.json` there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._state_file = home / "state.json"
        self._data = home / "data"
        self._classes = self._data / "classes"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within this block nobody else can start or stop the cluster."""
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def start(self) -> None:
        """Start what is not running, and wait until it is ready. Raises: ClusterError."""
        state = self._state()
        missing = [name for name in _DAEMONS if not self._runs(name, state)]
        if not missing:
            return
        try:
            if len(missing) == len(_DAEMONS):
                self._start_all()
            else:
                self._start_daemons(missing, state)
        except BaseException:
            self.stop()
            raise
        _say(f"ready; logs in {self.home / 'logs'}")

    def stop(self) -> None:
        """Kill the daemons and what is left of their tasks, and remove their data.

        With its data gone, a daemon has nothing to put in order; a NodeManager that is asked to end takes 17 s.
        """
        state = self._state()
        running = [name for name in _DAEMONS if self._runs(name, state)]
        if running:
            _say("stopping " + ", ".join(running))
        for name in running:
            with suppress(ProcessLookupError):
                os.kill(state["pids"][name], signal.SIGKILL)
        while any(self._runs(name, state) for name in running):
            time.sleep(0.05)
        self._reap_tasks()
        self._state_file.unlink(missing_ok=True)
        self._remove_data()

    def status(self) -> int:
        """Print what is running; returns the exit code."""
        state = self._state()
        for name in _DAEMONS:
            _say(f"{name}: " + (f"process {state['pids'][name]}" if self._runs(name, state) else "not running"))
        return int(not all(self._runs(name, state) for name in _DAEMONS))

    def exports(self) -> dict[str, str]:
        """The environment of a shell that uses the cluster."""
        return {
            "HADOOP_HOME": str(self.home),
            "HADOOP_CONF_DIR": str(self.home / "etc/hadoop"),
            "JAVA_HOME": str(Path(self._state()["java"]).parent.parent),
            "MRJOB_CONF": str(self.home / "mrjob.conf"),
        }

    def _start_all(self) -> None:
        """Start all daemons on new data; the first start of all also makes the archive of classes."""
        self._remove_data()
        java, version = find_java()
        jars = fetch_jars()
        archive = ClassArchive(jars, java, version)
        with nullcontext() if archive.exists else archive.locked():
            self._start_daemons(list(_DAEMONS), self._prepare(java, jars, archive))
            if not archive.exists:
                self._make(archive, jars)

    def _start_daemons(self, names: list[str], state: dict[str, Any]) -> None:
        for name in names:
            state["pids"][name] = self._spawn(name, state["java"])
            self._write(state)
        self._wait_until_ready(state)

    def _make(self, archive: ClassArchive, jars: Path) -> None:
        """Run a small job and make the archive of the classes that its processes have loaded."""
        _say("running a job, to archive the classes that Hadoop loads (once)")
        streaming = next(jars.glob("hadoop-streaming-*.jar"))
        trial = "/crawlmill-trial"
        job = ["jar", streaming, "-D", "mapreduce.input.lineinputformat.linespermap=100"]
        job += ["-inputformat", "org.apache.hadoop.mapred.lib.NLineInputFormat", "-mapper", "cat", "-reducer", "cat"]
        job += ["-input", f"file://{self.home}/{JAVA_OPTIONS}", "-output", trial]
        environment = os.environ | self.exports()
        with (self.home / "logs/trial.log").open("wb") as log:
            for command in (job, ["fs", "-rm", "-r", "-skipTrash", trial]):
                words = [self.home / "bin/hadoop", *command]
                done = subprocess.run(
                    words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
                )
                if done.returncode:
                    raise ClusterError(f"a first job failed: {self._complaint('trial')}")
        if archive.make(self._classes, self.home / "logs/archive.log"):
            write_java_options(self.home, archive.option(self._classes))
        else:
            _say(f"there is no archive of classes: {self._complaint('archive')}")

    def _prepare(self, java: Path, jars: Path, archive: ClassArchive) -> dict[str, Any]:
        lib = self.home / "lib"
        lib.unlink(missing_ok=True)
        lib.symlink_to(jars)
        web = write_settings(self.home, java, jars)
        self._classes.mkdir(parents=True)
        write_java_options(self.home, archive.option(self._classes))
        conf = {"runners": {"hadoop": {"task_python_bin": [sys.executable]}}, "include": str(PROJECT / "mrjob.conf")}
        (self.home / "mrjob.conf").write_text(json.dumps(conf, indent=2) + "\n", encoding="utf-8")  # JSON is YAML
        (self.home / "logs").mkdir(exist_ok=True)
        _say("formatting HDFS")
        format_it = [*self._java(str(java)), _DAEMONS["namenode"], "-format", "-nonInteractive", "-force"]
        with (self.home / "logs/format.log").open("wb") as log:
            if subprocess.run(format_it, cwd=self.home, stdout=log, stderr=log, check=False).returncode:
                raise ClusterError(f"HDFS cannot be formatted: {self._complaint('format')}")
        return {"java": str(java), "web": web, "pids": {}}

    def _java(self, java: str) -> list[str]:
        return [
            java,
            "-Xmx256m",
            f"@{self.home}/{JAVA_OPTIONS}",
            f"-Dcrawlmill.cluster={self.home}",
            "-cp",
            f"{(self.home / 'lib').resolve()}/*:{self.home}/etc/hadoop",  # as the archive of classes knows the jars
        ]

    def _spawn(self, name: str, java: str) -> int:
        _say(f"starting the {name}")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HADOOP_", "YARN_"))}
        environment |= {
            "JAVA_HOME": str(Path(java).parent.parent),
            "HADOOP_CONF_DIR": f"{self.home}/etc/hadoop",  # containers get both from the NodeManager
            "HADOOP_HOME": str(self.home),
        }
        with (self.home / f"logs/{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*self._java(java), _DAEMONS[name]],
                cwd=self.home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while process.poll() is None and not _command(process.pid):
            time.sleep(0.01)  # Linux shows it a moment after the program has begun; without it the daemon seems gone
        return process.pid

    def _wait_until_ready(self, state: dict[str, Any]) -> None:
        until = time.monotonic() + _READY_WITHIN_S
        while not _ready(state["web"]):
            for name in _DAEMONS:
                if not self._runs(name, state):
                    raise ClusterError(f"the {name} has ended: {self._complaint(name)}")
            if time.monotonic() > until:
                raise ClusterError(f"not ready after {_READY_WITHIN_S:.0f} s; logs in {self.home / 'logs'}")
            time.sleep(0.2)

    def _runs(self, name: str, state: dict[str, Any]) -> bool:
        """Whether the process exists, and is the one that was started with this pid."""
        pid = state["pids"].get(name)
        return pid is not None and f"-Dcrawlmill.cluster={self.home}" in _command(pid)

    def _reap_tasks(self) -> None:
        """Kill the processes of containers: a NodeManager that was killed leaves them behind."""
        marks = (f"LOCAL_DIRS={self._data}/containers/", f"{self._data}/containers/", f"{self._data}/userlogs/")
        for _ in range(50):
            groups = {os.getpgid(pid) for pid in _mentioning(marks[0], marks[1:])} - {os.getpgid(0)}
            if not groups:
                return
            for group in groups:
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
            time.sleep(0.1)

    def _complaint(self, name: str) -> str:
        """The line of a log that best explains why a daemon ended."""
        path = self.home / f"logs/{name}.log"
        lines = path.read_text("utf-8", "replace").splitlines()
        telling = [line for line in lines if re.search(r"Exception|Error\b", line)]
        return f"{(telling or lines or ['no word'])[-1].strip()[:200]} ({path})"

    def _state(self) -> dict[str, Any]:
        try:
            return json.loads(self._state_file.read_text("utf-8"))  # type: ignore[no-any-return]
        except FileNotFoundError:
            return {"pids": {}}

    def _write(self, state: dict[str, Any]) -> None:
        beside = self._state_file.with_suffix(".tmp")
        beside.write_text(json.dumps(state), encoding="utf-8")
        beside.replace(self._state_file)

    def _remove_data(self) -> None:
        if self._data.exists():
            shutil.rmtree(self._data, ignore_errors=True)


class Java(NamedTuple):
    """A program `java`, and its version to the last digit, as `17.0.15+6-Debian-1deb12u1`."""

    path: Path
    version: str


def find_java() -> Java:
    """The `java` to run: in JAVA_HOME, else on the PATH; not macOS' stub. Raises: ClusterError."""
    home = os.environ.get("JAVA_HOME")
    found = f"{home}/bin/java" if home and Path(home, "bin/java").exists() else shutil.which("java")
    if not found:
        raise ClusterError("needs Java 11 or newer, and no java is to be found (neither on the PATH nor by JAVA_HOME)")
    told = subprocess.run([found, "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=False)
    properties = dict(re.findall(r"^\s+([a-z.]+) = (.*)$", told.stderr, re.MULTILINE))
    version = properties.get("java.specification.version", "")
    if told.returncode or not version:
        raise ClusterError(f"needs Java 11 or newer; {found} does not run: {told.stderr.strip().partition('.')[0]}")
    if version.startswith("1.") or int(version) < 11:
        raise ClusterError(f"needs Java 11 or newer; {found} is {version}")
    return Java(Path(properties["java.home"], "bin", "java"), properties["java.vm.version"])


def fetch_jars() -> Path:
    """The folder of jars, fetched by Maven if it does not exist. Raises: ClusterError."""
    version = re.search(r"<hadoop\.version>(.*)</", POM.read_text("utf-8"))
    jars = CACHE / f"jars-{version[1] if version else 'unknown'}"
    if jars.is_dir():
        return jars
    if shutil.which("mvn") is None:
        raise ClusterError("needs Maven to fetch Hadoop's jars, and no mvn is on the PATH")
    CACHE.mkdir(parents=True, exist_ok=True)
    fetched = CACHE / f".{jars.name}.{os.getpid()}"
    log = CACHE / "maven.log"
    _say("fetching Hadoop's jars from Maven Central (about 93 MB, once)")
    command = [
        "mvn",
        "-B",
        "-q",
        "-f",
        str(POM),
        "dependency:copy-dependencies",
        f"-DoutputDirectory={fetched}",
        "-DincludeScope=runtime",
    ]
    try:
        with log.open("wb") as output:
            if subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=False).returncode:
                raise ClusterError(f"Maven cannot fetch Hadoop's jars: see {log}")
        with suppress(OSError):  # somebody else was faster
            fetched.rename(jars)
    finally:
        shutil.rmtree(fetched, ignore_errors=True)
    return jars


def _run(cluster: Cluster) -> int:
    try:
        with cluster.locked():
            cluster.start()
        _print_exports(cluster)
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with cluster.locked():
            cluster.stop()
    return 0


def _print_exports(cluster: Cluster) -> None:
    for name, value in cluster.exports().items():
        print(f"export {name}={shlex.quote(value)}")
    print(f'export PATH={shlex.quote(str(cluster.home / "bin"))}:"$PATH"', flush=True)


def _ready(web: dict[str, str]) -> bool:
    """Whether HDFS accepts files (it has a DataNode and is not in safe mode) and YARN accepts applications."""
    files = _ask(web["namenode"], "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
    nodes = _ask(web["resourcemanager"], "/ws/v1/cluster/metrics")
    try:
        bean = files["beans"][0]
        live, state = bean["NumLiveDataNodes"], bean["FSState"]
        return bool(live and state == "Operational" and nodes["clusterMetrics"]["activeNodes"])
    except (LookupError, TypeError):
        return False


def _ask(address: str, path: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback connections must not use a proxy
    try:
        with opener.open(f"http://{address}{path}", timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def _command(pid: int) -> str:
    """The command line of a process; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listed.stdout


def _mentioning(variable: str, parts: tuple[str, ...]) -> Iterator[int]:
    """Our processes with the variable in their environment, or with one of the parts in their command line."""
    if Path("/proc/self").exists():
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                environment = (folder / "environ").read_bytes().split(b"\0")
                command = _command(int(folder.name))
                if any(part in command for part in parts) or any(e.startswith(variable.encode()) for e in environment):
                    os.getpgid(int(folder.name))
                    yield int(folder.name)
        return
    listed = subprocess.run(["ps", "-axEww", "-o", "pid=,command="], capture_output=True, text=True, check=False)
    for line in listed.stdout.splitlines():
        if any(part in line for part in (variable, *parts)):
            yield int(line.split(None, 1)[0])


def _say(text: str) -> None:
    print(f"hadoop: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
