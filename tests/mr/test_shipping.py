"""The package as a zip."""

from __future__ import annotations

import subprocess
import sys
import zipfile

from tests.mr.helpers import HANG_S

import crawlmill
import crawlmill.mr.job.counting
from crawlmill.mr.engines.shipping import used_by_tasks, zip_package

PROBE = "import crawlmill.mr.job.counting, crawlmill; print(crawlmill.__file__, crawlmill.__version__)"


def imported(package) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=HANG_S,
        env={"PYTHONPATH": str(package)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_zip_of_sources_is_importable_complete_and_the_same_every_time(tmp_path):
    one, two = zip_package(tmp_path / "a.zip"), zip_package(tmp_path / "b.zip")
    assert one.read_bytes() == two.read_bytes()
    assert imported(one) == f"{one}/crawlmill/__init__.py {crawlmill.__version__}\n"
    names = zipfile.ZipFile(one).namelist()
    assert names == sorted(names)
    assert {"crawlmill/__init__.py", "crawlmill/mr/job/base.py", "crawlmill/py.typed"} <= set(names)
    assert not any("__pycache__" in name or name.endswith(".pyc") for name in names)


def test_zip_with_compiled_modules_is_used_without_compiling(tmp_path):
    package = zip_package(tmp_path / "a.zip", compiled=used_by_tasks)
    with zipfile.ZipFile(package) as archive:
        kept = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert "crawlmill/mr/job/base.pyc" in kept
    with zipfile.ZipFile(package, "w") as archive:
        for name, content in kept.items():
            archive.writestr(name, content if name.endswith(".pyc") else b"raise SystemExit('compiled again')")
    assert imported(package).startswith(f"{package}/crawlmill/__init__.pyc")
