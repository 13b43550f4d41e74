"""What the numbers were measured on: machine, system, interpreters, versions of everything that was measured."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["describe", "java_version"]

_LIST = """
import importlib.metadata, json, sys
packages = {each.name: each.version for each in importlib.metadata.distributions()}
print(json.dumps([sys.version.split()[0], packages]))
"""


def describe(root: Path, interpreters: Mapping[str, Path]) -> dict[str, Any]:
    """The facts. `interpreters` are the virtual environments that contenders run in, by name."""
    return {
        "host": platform.node(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": platform.platform(),
        "commit": _commit(root),
        "java": java_version(),
        "environments": {name: _environment(python) for name, python in interpreters.items()},
    }


def java_version() -> str | None:
    """The first line of `java -version`, of JAVA_HOME or the path; None without one."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin/java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return None
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return next(iter(done.stderr.splitlines()), None)


def _cpu() -> str:
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit(root: Path) -> str | None:
    """The commit measured, with a `+` where files differ from it; None outside a repository."""
    git = ["git", "-C", str(root)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode != 0:
        return None
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _environment(python: Path) -> dict[str, Any]:
    done = subprocess.run([str(python), "-c", _LIST], capture_output=True, text=True, check=True)
    version, packages = json.loads(done.stdout)
    return {"python": version, "packages": dict(sorted(packages.items()))}
