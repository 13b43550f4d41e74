"""The package as one zip file, for places where it is not installed: cluster nodes, and the local runner's workers.

Python imports from the zip as it is. The zip is made afresh for every run; the same sources give the same bytes.
"""

from __future__ import annotations

import importlib.util
import marshal
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Final

import crawlmill

__all__ = ["zip_package"]

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_UNCHECKED: Final = b"\1\0\0\0"  # flags of a hash-based .pyc that nobody compares with its source (PEP 552)


def zip_package(target: Path, *, compiled: bool = False) -> Path:
    """Write the package to `target`, with its compiled modules too if only this very Python will read it."""
    root = Path(crawlmill.__file__).parent
    if not root.is_dir():  # we run from such a zip ourselves
        raise FileNotFoundError(f"the package is not installed as files: {root}")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED if compiled else zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_dir() or "__pycache__" in path.parts or path.suffix == ".pyc":
                continue
            name = path.relative_to(root.parent)
            _add(archive, str(name), path.read_bytes())
            if compiled and path.suffix == ".py":
                _add(archive, str(name.with_suffix(".pyc")), _compiled(name, path))
    return target


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = archive.compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def _compiled(name: Path, path: Path) -> bytes:
    """The .pyc of a module. Importing its cached code is a tenth of the work of compiling it in every worker."""
    module = ".".join(name.with_suffix("").parts).removesuffix(".__init__")
    code = SourceFileLoader(module, str(path)).get_code(module)
    return (
        importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(path.read_bytes()) + marshal.dumps(code)
    )
