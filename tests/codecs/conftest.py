"""Has one of the libraries that inflate do it, by the variable that a user would set."""

from __future__ import annotations

import pytest

from crawlmill.codecs import inflate


@pytest.fixture
def use(monkeypatch):
    """A function that names the library; it skips the test where that is not installed."""
    monkeypatch.setattr(inflate, "_library", inflate._library.__wrapped__)

    def use(name):
        pytest.importorskip(inflate._MODULES[name])
        monkeypatch.setenv("CRAWLMILL_DECODER", name)

    return use
