"""The package as a zip file, for places where it is not installed: cluster nodes, and the local runner's workers.

Python imports straight from the zip. It is written for every run; the same sources result in the same bytes.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Final

import crawlmill

__all__ = ["modules_beside", "package_files", "used_by_tasks", "zip_package"]

_READERS: Final = ("crawlmill.codecs.", "crawlmill.formats.")
"""Packages whose modules tasks import when they open their inputs."""

_WORKER: Final = "crawlmill.mr.engines.machine.worker"

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_UNCHECKED: Final = b"\1\0\0\0"  # flags of a hash-based .pyc that is not checked against its source (PEP 552)


def zip_package(target: Path, *, compiled: Callable[[str], bool] | None = None) -> Path:
    """Write the package to `target`; `compiled`: which modules to add in compiled form, for this very Python only."""
    written = io.BytesIO()  # a zip in memory: in a file, each of its hundreds of entries would be flushed twice
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED if compiled else zipfile.ZIP_DEFLATED) as archive:
        for name, path in package_files():
            with open(path, "rb") as file:  # noqa: PTH123 - each Path costs as much as reading a module
                content = file.read()
            _add(archive, name, content)
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if compiled is not None and name.endswith(".py") and compiled(module):
                header = importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(content)
                code = SourceFileLoader(module, path).get_code(module)
                _add(archive, f"{name}c", header + marshal.dumps(code))
    target.write_bytes(written.getbuffer())
    return target


def used_by_tasks(module: str) -> bool:
    """Whether tasks are likely to import a module: this process has, or they do when they read their inputs."""
    return module in sys.modules or module == _WORKER or module.startswith(_READERS)


def modules_beside(script: str, shipped: Iterable[Path]) -> list[str]:
    """Modules that this process has imported from the script's folder and that are not shipped to tasks."""
    folder, known = Path(script).resolve().parent, {path.resolve() for path in shipped}
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    found = {Path(file).resolve() for file in files if file}
    known.add(Path(script).resolve())
    return sorted(str(path) for path in found - known if path.parent == folder)


def package_files() -> Iterator[tuple[str, str]]:
    """The files of the package, including data: (name for import, path), in order.

    Excludes its mrjob.conf: tasks do not read it, and it may contain secrets.
    """
    root = os.path.dirname(crawlmill.__file__)  # noqa: PTH120
    if not os.path.isdir(root):  # noqa: PTH112 - running from such a zip ourselves
        raise FileNotFoundError(f"the package is not installed as files: {root}")
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each != "__pycache__"]
        found += [f"{folder}/{name}" for name in names if name != "mrjob.conf" and not name.endswith(".pyc")]
    above = len(os.path.dirname(root)) + 1  # noqa: PTH120
    yield from ((path[above:], path) for path in sorted(found))


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = archive.compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
