"""What all tests share: those of readers and counters run once with each core."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from crawlmill import core as cores
from tests.daemons import name_engine
from tests.progress import Progress

# Tests of what either core may do; the others run with the one that is taken by itself.
ON_BOTH_CORES = {
    "analysis/test_servers.py",
    "analysis/test_tags.py",
    "analysis/test_words.py",
    "formats/test_differential.py",
    "formats/test_digests.py",
    "formats/test_warc.py",
    "formats/test_exchange.py",
    "indexes/test_cdx_fields.py",
    "indexes/test_sharding.py",
    "indexes/test_sweep.py",
    "indexes/test_usual_lines.py",
    "cli/test_index.py",
    "urls/test_surt.py",
    "inputs/test_reading.py",
    "mr/test_shuffle.py",
    "mr/test_sums.py",
    "mr/test_counting.py",
    "test_sorting.py",
}


# The same examples in every run, so that a change that is green stays green; CRAWLMILL_FUZZ=1 looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("new", deadline=None)
settings.load_profile("new" if os.environ.get("CRAWLMILL_FUZZ") == "1" else "same")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in a shell's background; the jobs that tests stop by Ctrl-C would inherit it, and rightly heed nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # not in a worker process of pytest-xdist
        config.pluginmanager.register(Progress(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from tests.scheduling import EngineScheduling  # noqa: PLC0415 - pytest-xdist need not be there

    return EngineScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # in a worker process of pytest-xdist
        from tests.scheduling import order  # noqa: PLC0415

        order(items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    path = metafunc.definition.path.relative_to(Path(__file__).parent)
    if path.as_posix() in ON_BOTH_CORES:
        metafunc.parametrize("core", ["python", "native"], indirect=True)
    name_engine(metafunc)


@pytest.fixture(autouse=True)
def daemons() -> None:
    """Nothing but a part of the ids of tests that need an engine's daemons, see `tests.daemons`."""


@pytest.fixture(autouse=True)
def core(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str | None]:
    """The name of the core that the test runs with, if it is one of those that run with each."""
    name: str | None = getattr(request, "param", None)
    if name is None:
        yield None
        return
    if name == "native":
        pytest.importorskip("crawlmill_native", reason="the native core is not installed")
    monkeypatch.setenv("CRAWLMILL_CORE", name)
    cores.native.cache_clear()
    yield name
    cores.native.cache_clear()
