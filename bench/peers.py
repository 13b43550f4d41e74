"""The peers: their virtual environments with pinned versions, and how a job of cc-pyspark is run.

An environment lies at bench/.venvs/NAME, made with the running interpreter from bench/requirements/NAME.txt, and made
anew when that file or the interpreter is another one.

cc-pyspark is run unchanged from a folder that the user names, by spark-submit on `local[2]`. Of its options, three are
not its defaults: as many input partitions as files (its 400, made for a whole crawl, are far slower here),
one output partition, as in its README's example, and JSON as the output format, so that its answer can be read.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import venv
from pathlib import Path

from bench.corpus import Workload
from bench.harness import Answer, Contender

__all__ = ["environment", "spark_job"]

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


def spark_job(name: str, folder: Path, python: Path, script: str, workload: Workload) -> Contender:
    """A job of cc-pyspark over a workload, on Spark with two local cores."""
    modules = ",".join(str(folder / module) for module in _MODULES)
    command = [
        str(python.with_name("spark-submit")), "--master", "local[2]", "--py-files", modules, str(folder / script),
        "--num_input_partitions", str(len(workload.paths)), "--num_output_partitions", "1", "--output_format", "json",
        "--log_level", "WARN", _spark_list(workload), _TABLE,
    ]  # fmt: skip
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
