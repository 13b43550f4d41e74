"""The package as a zip file, for places where it is not installed: cluster nodes, and the local runner's workers.

Python imports straight from the zip. It is written for every run; the same sources result in the same bytes.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Final

import crawlmill

__all__ = ["modules_beside", "package_files", "zip_package"]

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_UNCHECKED: Final = b"\1\0\0\0"  # flags of a hash-based .pyc that is not checked against its source (PEP 552)


def zip_package(target: Path, *, compiled: bool = False) -> Path:
    """Write the package to `target`; `compiled`: with this process' compiled modules, for this very Python only."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED if compiled else zipfile.ZIP_DEFLATED) as archive:
        for name, path in package_files():
            _add(archive, str(name), path.read_bytes())
            if compiled and (code := _loaded_code(name)) is not None:
                source_hash = importlib.util.source_hash(path.read_bytes())
                header = importlib.util.MAGIC_NUMBER + _UNCHECKED + source_hash
                _add(archive, str(name.with_suffix(".pyc")), header + marshal.dumps(code))
    return target


def modules_beside(script: str, shipped: Iterable[Path]) -> list[str]:
    """Modules that this process has imported from the script's folder and that are not shipped to tasks."""
    folder, known = Path(script).resolve().parent, {path.resolve() for path in shipped}
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    found = {Path(file).resolve() for file in files if file}
    known.add(Path(script).resolve())
    return sorted(str(path) for path in found - known if path.parent == folder)


def package_files() -> Iterator[tuple[Path, Path]]:
    """The files of the package, including data: (name for import, path), in order.

    Excludes its mrjob.conf: tasks do not read it, and it may contain secrets.
    """
    root = Path(crawlmill.__file__).parent
    if not root.is_dir():  # running from such a zip ourselves
        raise FileNotFoundError(f"the package is not installed as files: {root}")
    for path in sorted(root.rglob("*")):
        if (
            path.name != "mrjob.conf"
            and path.suffix != ".pyc"
            and not path.is_dir()
            and "__pycache__" not in path.parts
        ):
            yield path.relative_to(root.parent), path


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = archive.compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def _loaded_code(name: Path) -> CodeType | None:
    """The code of a module imported in this process: workers need the same modules, and compiling takes long."""
    module = ".".join(name.with_suffix("").parts).removesuffix(".__init__")
    loader = getattr(sys.modules.get(module), "__loader__", None)
    return loader.get_code(module) if isinstance(loader, SourceFileLoader) else None
