"""Which core is taken."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from crawlmill import core
from crawlmill.errors import UsageError


@pytest.fixture
def taken(monkeypatch):
    """Asks for a core, with a module in place of the native one; None hides it."""

    def ask(wanted, module):
        monkeypatch.setitem(sys.modules, "crawlmill_native", module)
        if wanted is None:
            monkeypatch.delenv("CRAWLMILL_CORE", raising=False)
        else:
            monkeypatch.setenv("CRAWLMILL_CORE", wanted)
        core.native.cache_clear()
        return core.name()

    yield ask
    core.native.cache_clear()


FITS = SimpleNamespace(API_VERSION=core._API_VERSION)
OTHER = SimpleNamespace(API_VERSION=core._API_VERSION + 1)


@pytest.mark.parametrize("wanted", [None, ""])
@pytest.mark.parametrize(
    ("module", "name"), [(FITS, "native"), (OTHER, "python"), (SimpleNamespace(), "python"), (None, "python")]
)
def test_native_core_is_taken_by_itself_where_it_is_there_and_fits(taken, wanted, module, name):
    assert taken(wanted, module) == name


@pytest.mark.parametrize("module", [FITS, OTHER, None])
def test_python_core_is_taken_where_it_is_wanted(taken, module):
    assert taken("python", module) == "python"


def test_native_core_that_is_wanted_is_taken_or_its_absence_reported(taken):
    assert taken("native", FITS) == "native"
    with pytest.raises(UsageError, match=r"CRAWLMILL_CORE=native: .*pip install"):
        taken("native", None)
    with pytest.raises(UsageError, match=r"another version.*expected \d+, got \d+"):
        taken("native", OTHER)


def test_unknown_core_is_a_mistake_of_one_line(taken):
    with pytest.raises(UsageError, match="CRAWLMILL_CORE=rust: expected native or python"):
        taken("rust", FITS)


def test_command_with_an_unknown_core_ends_with_one_line(tmp_path, monkeypatch):
    file = tmp_path / "x.warc.gz"
    file.write_bytes(b"\x1f\x8b\x08\0")
    monkeypatch.setenv("CRAWLMILL_CORE", "rust")
    command = [sys.executable, "-m", "crawlmill", "check", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "crawlmill: CRAWLMILL_CORE=rust: expected native or python\n"
