"""The peers: their virtual environments with pinned versions, and how a job of cc-pyspark is run.

An environment lies at bench/.venvs/NAME, made with the running interpreter from bench/requirements/NAME.txt, and made
anew when that file or the interpreter is another one.

cc-pyspark is run unchanged from a folder that the user names, by spark-submit on `local[2]`. Of its options, three are
not its defaults: as many input partitions as files (its 400, made for a whole crawl, are far slower here),
one output partition, as in its README's example, and JSON as the output format, so that its answer can be read.

A loop in Go is a folder of bench/loops, built at bench/.venvs/NAME with the versions of its `go.mod`, if there is `go`.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from bench.corpus import Workload
from bench.harness import Answer, Contender

__all__ = ["environment", "go_program", "spark_job"]

_TABLE = "answer"
_MODULES = ("sparkcc.py", "json_importer.py")


def environment(venvs: Path, name: str) -> Path:
    """The interpreter of a peers' environment, which is made if it is not there."""
    requirements = Path(__file__).parent / "requirements" / f"{name}.txt"
    folder = venvs / name
    python, stamp = folder / "bin/python", folder / "made-from.txt"
    wanted = f"{sys.version}\n{requirements.read_text()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        sys.stderr.write(f"making the environment {folder} from {requirements.name}, once\n")
        venv.create(folder, clear=True, with_pip=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(requirements)]
        subprocess.run(command, check=True)
        stamp.write_text(wanted)
    return python


def go_program(venvs: Path, name: str, checkout: tuple[str, Path] | None, tell: Callable[[str], None]) -> Path | None:
    """The program of the folder NAME of bench/loops, built if it is not there; None, and tells why, if it cannot be.

    `checkout` is a module of its `go.mod`, and the folder that has it instead of Go's proxy.
    """
    go = shutil.which("go")
    if go is None:
        tell(f"no go found: {name} is left out")
        return None
    folder = venvs / name
    program, stamp = folder / "loop", folder / "made-from.txt"
    source = Path(__file__).parent / "loops" / name
    version = subprocess.run([go, "version"], check=True, capture_output=True, text=True).stdout
    texts = [path.read_text() for path in sorted(source.iterdir())]
    wanted = "\n".join([version, str(checkout), *texts])
    if stamp.exists() and stamp.read_text() == wanted:
        return program
    tell(f"building {program}, once")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    commands = [[go, "build", "-mod=mod", "-o", str(program), "."]]
    if checkout is not None:
        commands.insert(0, [go, "mod", "edit", f"-replace={checkout[0]}={checkout[1]}"])
    for command in commands:
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "GOFLAGS": "-buildvcs=false"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            tell(f"{name} is left out: {(ended.stderr.strip().splitlines() or ['go failed'])[-1]}")
            return None
    stamp.write_text(wanted)
    return program


def spark_job(name: str, folder: Path, python: Path, script: str, workload: Workload) -> Contender:
    """A job of cc-pyspark over a workload, on Spark with two local cores."""
    modules = ",".join(str(folder / module) for module in _MODULES)
    command = [
        str(python.with_name("spark-submit")),
        "--master",
        "local[2]",
        "--py-files",
        modules,
        str(folder / script),
        "--num_input_partitions",
        str(len(workload.paths)),
        "--num_output_partitions",
        "1",
        "--output_format",
        "json",
        "--log_level",
        "WARN",
        _spark_list(workload),
        _TABLE,
    ]
    # Its folder may be read-only, and is not ours: no compiled files there.
    env = {"PYSPARK_PYTHON": str(python), "PYTHONPYCACHEPREFIX": str(python.parent.parent / "compiled")}
    return Contender(name, command, env, _table_answer)


def _spark_list(workload: Workload) -> str:
    """The input list in the form that cc-pyspark takes for local files, beside ours."""
    path = Path(workload.input_list).with_suffix(".spark")
    path.write_text("".join(f"file:{name}\n" for name in workload.paths))
    return str(path)


def _table_answer(scratch: Path) -> Answer:
    keys = total = 0
    for part in (scratch / "work/spark-warehouse" / _TABLE).glob("part-*.json.gz"):
        with gzip.open(part) as lines:
            for line in lines:
                value = json.loads(line)["val"]
                keys += 1
                total += value["tf"] if isinstance(value, dict) else value
    return Answer(keys, total)
