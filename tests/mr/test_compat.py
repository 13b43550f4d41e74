"""mrjob on a bare Python: without the modules that newer Pythons have not, and without their backports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mr.helpers import HANG_S

import crawlmill
from crawlmill.mr.compat import LooseVersion

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pipes", "distutils", "setuptools", "_distutils_hack"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Blocker())
for name in [name for name in sys.modules if name.split(".")[0] in ("pipes", "distutils", "setuptools")]:
    del sys.modules[name]
"""


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKED + code],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_jobs_import_without_pipes_distutils_and_setuptools():
    assert python("from crawlmill.mr import CountJob; print(CountJob.__name__)") == "CountJob\n"


def test_runner_of_hadoop_imports_without_them_and_quotes():
    code = """
from crawlmill.mr.compat import engine_runner
print(engine_runner("hadoop").alias)
from mrjob.util import cmd_line
print(cmd_line(["a b", "c"]))
from mrjob.compat import version_gte
print(version_gte("3.4.2", "2.7.1"), version_gte("0.20.203.0", "1.0"))
"""
    assert python(code) == "hadoop\n'a b' c\nTrue False\n"


def test_stand_ins_leave_no_trace():
    code = """
import crawlmill.mr.job.base
for name in ("pipes", "distutils", "distutils.version", "distutils.spawn"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        print("gone", name)
"""
    assert python(code).count("gone") == 4


def test_real_distutils_is_untouched_by_our_imports():
    code = "import crawlmill.mr.job.base, sys; print([n for n in sys.modules if n.startswith(('distutils', 'setuptools'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.stdout == "[]\n"


def test_urllib_is_imported_when_it_is_used_and_works():
    code = """
import sys, crawlmill.mr.job.counting, crawlmill.inputs.reading
print([name for name in ("urllib.request", "http.client", "email") if name in sys.modules])
from crawlmill.mr.compat import engine_runner
engine_runner("hadoop")
from mrjob.parse import to_uri
import urllib.parse, urllib.request
print(to_uri("/a b") == urllib.parse.urljoin("file:", urllib.request.pathname2url("/a b")))
print(urllib.request.urlopen("data:,x").read())
"""
    assert python(code) == "[]\nTrue\nb'x'\n"


@pytest.mark.parametrize(
    ("older", "newer"),
    [("1.0", "2.0"), ("0.20", "0.20.203"), ("2.7.1", "2.10.0"), ("3.4.2", "3.4.3-amzn-0"), ("1.0", "1.0.a")],
)
def test_versions_compare_number_by_number(older, newer):
    assert LooseVersion(older) < LooseVersion(newer)
    assert LooseVersion(newer) >= LooseVersion(older)
    assert LooseVersion(older) == LooseVersion(older)


def test_nothing_but_compat_imports_mrjob():
    package = Path(crawlmill.__file__).parent
    found = [
        path.name
        for path in package.rglob("*.py")
        if re.search(r"^\s*(from|import) mrjob", path.read_text(), re.MULTILINE)
    ]
    assert found == ["compat.py"]
