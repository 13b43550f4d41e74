"""mrjob 0.7.4, importable on every supported Python: all that Crawlmill uses of mrjob comes from here.

mrjob imports three modules that Python 3.12 and 3.13 removed. Worker nodes lack the packages that bring them back, so
small stand-ins replace them while mrjob is imported:

    pipes.quote                        `shlex.quote`, its successor
    distutils.spawn.find_executable    never called if `shutil.which` exists
    distutils.version.LooseVersion     compares the version numbers of Hadoop

`distutils` is replaced on every Python: importing the real one, or setuptools' copy, would double the start of a task.
For the same reason modules that mrjob imports and that most tasks never use are loaded late: `urllib.request`, which
imports `http.client` and `email`; yaml; `hashlib`, which loads OpenSSL; `tarfile`, `getpass` and `pprint`.
"""

from __future__ import annotations

import logging
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import total_ordering
from shutil import which
from types import ModuleType
from typing import Any

from crawlmill.later import later, named

__all__ = [
    "MRJOB_VERSION",
    "MRJob",
    "MRJobRunner",
    "MRStep",
    "RawValueProtocol",
    "StepFailedException",
    "combine_environments",
    "engine_runner",
    "load_conf",
    "load_settings",
    "quiet_mrjob",
    "unarchive",
]


@total_ordering
class LooseVersion:
    """A version number: numbers compare as numbers, other parts as text, a number before a text."""

    def __init__(self, text: str) -> None:
        parts = re.findall(r"[0-9]+|[a-z]+", text.lower())
        self.version: list[int | str] = [int(part) if part.isdigit() else part for part in parts]
        self._key = [(isinstance(part, str), part) for part in self.version]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LooseVersion) and self._key == other._key

    def __lt__(self, other: LooseVersion) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(tuple(self._key))


@contextmanager
def stand_ins(**more: ModuleType) -> Iterator[None]:
    """Within this block the three modules, and `more`, can be imported; afterwards the original state is restored."""
    modules = {
        **more,
        "distutils": _module("distutils"),
        "distutils.spawn": _module("distutils.spawn", find_executable=which),
        "distutils.version": _module("distutils.version", LooseVersion=LooseVersion),
    }
    if "pipes" not in sys.modules:
        modules["pipes"] = _module("pipes", quote=shlex.quote)
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def engine_runner(alias: str) -> type[Any]:
    """Import and return mrjob's own runner class of that name (`hadoop`, `emr`, `spark`, …)."""
    with stand_ins():
        from mrjob.runner import _runner_class  # noqa: PLC0415 - needs the stand-ins

        return _runner_class(alias)  # type: ignore[no-any-return]


@contextmanager
def quiet_mrjob() -> Iterator[None]:
    """Suppress mrjob's warnings within this block: what they are about ends the run with an error of ours."""
    logger = logging.getLogger("mrjob")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _loaded_late() -> dict[str, ModuleType]:
    """Stand-ins for modules; these are imported when something in them is used."""

    def stand_in(name: str) -> ModuleType:
        return _module(name, __getattr__=lambda used: named(f"{name}:{used}"))

    functions = {name: later(f"urllib.request:{name}") for name in ("pathname2url", "urlopen")}  # imported by name
    return {
        **{name: stand_in(name) for name in ("getpass", "hashlib", "pprint", "tarfile")},
        "yaml": _module("yaml", __getattr__=_of_yaml),
        "urllib.request": _module("urllib.request", **functions),
    }


def _of_yaml(name: str) -> Any:
    """What mrjob uses of yaml; its parser of ten times the speed, where there is one."""
    return named("yaml:CSafeLoader" if name == "SafeLoader" and named("yaml:__with_libyaml__") else f"yaml:{name}")


def _module(name: str, **members: object) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(members)
    return module


with stand_ins(**_loaded_late()):
    from mrjob import __version__ as MRJOB_VERSION  # noqa: N812
    from mrjob.conf import _load_yaml_with_clear_tag as load_conf
    from mrjob.conf import combine_local_envs as combine_environments
    from mrjob.conf import load_opts_from_mrjob_confs as load_settings
    from mrjob.job import MRJob
    from mrjob.protocol import RawValueProtocol
    from mrjob.runner import MRJobRunner
    from mrjob.step import MRStep, StepFailedException
    from mrjob.util import unarchive
