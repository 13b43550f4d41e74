"""What tests of formats share."""

from __future__ import annotations

import pytest

from crawlmill import core


@pytest.fixture(params=["native", "python"])
def on_core(request, monkeypatch):
    """The test runs with each core."""
    if request.param == "native":
        pytest.importorskip("crawlmill_native", reason="the native core is not installed")
    monkeypatch.setenv(core.VARIABLE, request.param)
    core.native.cache_clear()
    yield request.param
    core.native.cache_clear()
