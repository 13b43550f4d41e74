"""Checks whether a runner works from here: each thing that it needs, and how to fix it if it is missing.

Nothing is started and nothing is left behind. What a check is not allowed to see is reported, but is not a problem.
"""

from __future__ import annotations

import logging
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from crawlmill import core
from crawlmill.codecs.inflate import decoders
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.mr.engines.registry import ENGINES, runner_class
from crawlmill.mr.engines.steps import usable_cores
from crawlmill.storage import Storage
from crawlmill.units import size

__all__ = ["Finding", "examinable", "examine", "examine_hadoop", "examine_local", "examine_spark"]

_MIN_FREE_BYTES: Final = 1 << 30
_PROGRAM_S: Final = 60.0


class Finding(NamedTuple):
    """The result of a check; `advice` is None if all is well."""

    what: str
    advice: str | None = None

    def __str__(self) -> str:
        return f"ok: {self.what}" if self.advice is None else f"problem: {self.what} — {self.advice}"


def examine(engine: str, conf_paths: list[str], storage: Storage, settings: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings about a runner with these mrjob.conf files and settings."""
    logging.getLogger("mrjob").setLevel(logging.ERROR)
    yield from _this_machine()
    for found in ENGINES[engine].findings(conf_paths, storage, settings):
        yield Finding(*found)


def examinable() -> list[str]:
    """The names of the engines that can be examined."""
    return [engine.name for engine in ENGINES.values() if engine.examine is not None]


def examine_local(_conf_paths: list[str], _storage: Storage, _: dict[str, Any]) -> Iterator[Finding]:
    """Check `-r local`, which needs only this machine."""
    return iter(())


def _this_machine() -> Iterator[Finding]:
    yield Finding(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    chosen = ", ".join(f"{library} for {use}" for use, library in decoders().items())
    try:
        yield Finding(f"core: {core.name()}; decoders: {chosen}")
    except UsageError as error:
        yield Finding(str(error), f"unset {core.VARIABLE}, or install the native core")
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    yield Finding(
        f"temporary files in {folder}, {size(free)} free",
        None if free >= _MIN_FREE_BYTES else "set TMPDIR to a larger disk",
    )
    yield Finding(f"{usable_cores()} cores")


def examine_hadoop(conf_paths: list[str], storage: Storage, _: dict[str, Any]) -> Iterator[Finding]:
    """Check what `-r hadoop` needs."""
    try:
        runner = runner_class("hadoop")(conf_paths=conf_paths)
        runner.find_programs()
    except UsageError as error:
        yield Finding(*_split(error, "install Hadoop's client, and set HADOOP_HOME"))
        return
    yield _program([*runner.binary, "version"])
    yield Finding(f"streaming jar: {runner.get_hadoop_streaming_jar()}")
    yield _writable(storage, runner.folder, "set HADOOP_CONF_DIR, HADOOP_USER_NAME or --webhdfs")
    yield Finding(f"Python of tasks: {' '.join(runner._task_python_bin())}, 3.11 or newer; only checked on the nodes")  # noqa: SLF001


def examine_spark(conf_paths: list[str], _storage: Storage, _: dict[str, Any]) -> Iterator[Finding]:
    """Check what `-r spark` needs."""
    from crawlmill.mr.job.base import CrawlJob  # noqa: PLC0415 - other engines do not need it

    runner = runner_class("spark")(mrjob_cls=CrawlJob, conf_paths=conf_paths, local_tmp_dir=tempfile.gettempdir())
    try:
        runner.find_programs()
    except UsageError as error:
        yield Finding(*_split(error, "see docs/spark.md"))
        return
    yield _program([*runner.get_spark_submit_bin(), "--version"], telling="version")
    yield Finding(f"master: {runner.master}")


def _split(error: CrawlmillError, advice: str) -> tuple[str, str]:
    """Split a message into the problem and the advice."""
    what, colon, more = str(error).removeprefix("-r hadoop: ").removeprefix("-r spark: ").partition(": ")
    return (what, more) if colon else (what, advice)


def _program(command: list[str], telling: str = "") -> Finding:
    """Whether a program runs, and its version."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PROGRAM_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(f"{command[0]} does not run: {error}", "check its installation")
    lines = (line.strip(" \\/_") for line in (done.stdout + done.stderr).splitlines() if telling in line)
    said = next(filter(None, lines), "no word from it")
    if done.returncode:
        return Finding(f"{' '.join(command)} fails: {said}", "check its installation (is JAVA_HOME set?)")
    return Finding(f"{shutil.which(command[0])}: {said}")


def _writable(storage: Storage, folder: str, advice: str) -> Finding:
    """Whether a file can be written there; the folder is created for this check and removed after it."""
    try:
        with storage.write(f"{folder.rstrip('/')}/doctor") as file:
            file.write(b"")
        storage.remove(folder)
    except CrawlmillError as error:
        return Finding(f"{folder} cannot be written: {error}", advice)
    return Finding(f"{folder.rpartition('/')[0]} can be written")
