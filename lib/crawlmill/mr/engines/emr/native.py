"""The native core, packed for the nodes of a cluster as an archive that Hadoop unpacks next to each task.

It comes from this Python's installation, if this is Linux, and from wheels in `dist/` of a checkout (`make wheel`) for
other architectures. One archive contains them all, so the architecture of the nodes need not be known:

    crawlmill_native/__init__.py                          loads the module for the machine it runs on
    crawlmill_native/x86_64/crawlmill_native.abi3.so
    crawlmill_native/aarch64/crawlmill_native.abi3.so

A node without a matching module, or with too old a C library, uses the Python core.

Spec: "Platform compatibility tags" of the Python Packaging User Guide; Amazon Linux 2023 has glibc 2.34.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import crawlmill
from crawlmill.errors import UsageError

__all__ = ["MACHINES", "NAME", "native_archive", "native_modules"]

NAME: Final = "crawlmill-native"
"""What the archive is called beside a task: a folder for PYTHONPATH."""

MACHINES: Final = ("x86_64", "aarch64")
_MODULE: Final = "crawlmill_native"
_GLIBC: Final = (2, 34)
_NEEDED: Final = re.compile(rb"\0GLIBC_([0-9]+)\.([0-9]+)(?:\.[0-9]+)?(?=\0)")
_CHOOSES: Final = '''"""The native core for the machine that this runs on."""

import importlib
import os

_core = importlib.import_module(f"crawlmill_native.{os.uname().machine}.crawlmill_native")
globals().update({name: getattr(_core, name) for name in dir(_core) if not name.startswith("__")})
'''


def native_archive(target: Path, dist: Path | None = None) -> list[str]:
    """Write the archive; returns the architectures in it. If there are none, nothing is written."""
    modules = native_modules(dist)
    if modules:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{_MODULE}/__init__.py", _CHOOSES)
            for machine, (name, content) in modules.items():
                archive.writestr(f"{_MODULE}/{machine}/{name}", content)
    return list(modules)


def native_modules(dist: Path | None = None) -> dict[str, tuple[str, bytes]]:
    """File name and content of the module for each available architecture. Raises: UsageError."""
    found = dict(_from_wheels(_dist() if dist is None else dist))
    if platform.system() == "Linux" and platform.machine() in MACHINES and (installed := _installed()) is not None:
        found[platform.machine()] = installed
    return {machine: found[machine] for machine in MACHINES if machine in found and _fits(found[machine][1])}


def _installed() -> tuple[str, bytes] | None:
    spec = importlib.util.find_spec(_MODULE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob(f"{_MODULE}.*.so")):
            return path.name, path.read_bytes()
    return None


def _dist() -> Path | None:
    """The folder that `make wheel` writes to, in a checkout."""
    library = Path(crawlmill.__file__).resolve().parent.parent
    return library.parent / "dist" if library.name == "lib" else None


def _from_wheels(dist: Path | None) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """For each architecture, the newest wheel of this version."""
    wheels = dist.glob(f"{_MODULE}-{crawlmill.__version__}-*-abi3-*linux*.whl") if dist is not None else ()
    for wheel in sorted(wheels, key=os.path.getmtime):
        for machine in MACHINES:
            if wheel.stem.endswith(f"_{machine}"):
                try:
                    with zipfile.ZipFile(wheel) as archive:
                        for name in archive.namelist():
                            if re.fullmatch(rf"{_MODULE}/{_MODULE}\.[^/]*\.so", name):
                                yield machine, (name.rpartition("/")[2], archive.read(name))
                except zipfile.BadZipFile as error:
                    raise UsageError(f"not a wheel: {wheel}: {error}; make it again with `make wheel`") from error


def _fits(module: bytes) -> bool:
    """Whether the C library of the nodes has all symbols that the module needs."""
    return all((int(major), int(minor)) <= _GLIBC for major, minor in _NEEDED.findall(module))
