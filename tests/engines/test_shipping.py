"""Nodes that have Python and nothing else: what travels with a job is all that its tasks need, or they say what is missing."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, environment, run
from tests.sharing import alone

TAGS = PROJECT / "jobs" / "tag_count.py"
VERSION = "python{}.{}".format(*sys.version_info)
SOURCES = (
    "setup.cfg",
    "tools/pex.py",
    "native/Cargo.toml",
    "native/Cargo.lock",
    *(str(path.relative_to(PROJECT)) for path in (PROJECT / "native/src").glob("*.rs")),
)
ONCE = ("-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1")


@pytest.fixture(scope="session")
def pex() -> Path:
    """What `make pex` makes, but for what is large and jobs of tests do not need; made again if its sources change."""
    path = PROJECT / ".cache" / "pex" / f"tests-{VERSION}.pex"
    made_of = path.with_suffix(".made-of")
    sources = hashlib.sha256(b"".join((PROJECT / each).read_bytes() for each in sorted(SOURCES))).hexdigest()
    with alone(path.with_suffix(".lock")):
        if not (path.exists() and made_of.exists() and made_of.read_text() == sources):
            command = [
                sys.executable,
                str(PROJECT / "tools/pex.py"),
                "--output",
                str(path),
                "--extras",
                "fast",
                "legacy",
            ]
            done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
            if done.returncode and os.environ.get("CRAWLMILL_REQUIRE_ENGINES") != "1":
                pytest.skip(f"no PEX: {done.stderr.splitlines()[-1]}")
            assert done.returncode == 0, done.stderr
            made_of.write_text(sources)
    return path


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The bin folder of a Python that has no packages at all."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    return tmp_path / "bare" / "bin"


@pytest.fixture
def lst(tmp_path: Path) -> Path:
    """A list of a whole WARC, a cut one, and one that is not there."""
    data = builders.pack(builders.pages(5))
    (tmp_path / "a.warc.gz").write_bytes(data)
    (tmp_path / "b.warc.gz").write_bytes(data[:-9])
    (tmp_path / "x.paths").write_text("a.warc.gz\nb.warc.gz\ngone.warc.gz\n")
    return tmp_path / "x.paths"


@pytest.mark.hadoop
def test_pex_brings_all_that_a_bare_python_lacks_but_no_copy_of_the_shipped_package(hadoop, tmp_path, lst, bare, pex):
    """On EMR the same options go to the same Hadoop."""
    (tmp_path / "shipped/crawlmill").mkdir(parents=True)
    (tmp_path / "shipped/crawlmill/__init__.py").write_text("print('shipped')")
    code = "import crawlmill, brotli, zstandard, ujson, urllib3, boto3, warcio, simhash, mrjob, publicsuffixlist, idna"
    variables = {
        "PATH": f"{bare}:/usr/bin:/bin",
        "PEX_ROOT": str(tmp_path / "root"),
        "PYTHONPATH": str(tmp_path / "shipped"),
    }
    done = subprocess.run([str(pex), "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "shipped\n"), done.stderr
    (tmp_path / "env.pex").symlink_to(pex)
    (tmp_path / "mrjob.conf").write_text(f"""
runners:
  hadoop:
    upload_files: [{tmp_path}/env.pex]
    task_python_bin: ./env.pex
    cmdenv: {{PEX_ROOT: ./.pex, PATH: "{bare}:/usr/bin:/bin"}}
""")
    options = ["--inputs-per-task", 3, "-c", tmp_path / "mrjob.conf"]  # each task unpacks it all
    there = hadoop.run(TAGS, "--ledger", tmp_path / "there", *options, lst)
    here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "here", lst)
    assert (there.code, here.code) == (2, 2), there.err
    assert there.out.count("\n") > 1
    assert sorted(there.out.splitlines()) == sorted(here.out.splitlines())
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


@pytest.mark.hadoop
def test_native_core_that_is_asked_of_tasks_and_not_there_is_one_line(hadoop, tmp_path, lst):
    (tmp_path / "crawlmill_native.py").write_text("raise ImportError('none is installed')")
    result = hadoop.run(
        TAGS,
        *ONCE,
        "--cmdenv",
        "CRAWLMILL_CORE=native",
        "--cmdenv",
        f"PYTHONPATH={tmp_path}",
        lst,
    )
    assert result.code == 1
    assert re.search(
        r"tag_count: task map-0000\d failed once: CRAWLMILL_CORE=native: none is installed; install it "
        r"with `pip install ./native`; logs: .*\n$",
        result.err,
    )
