"""What all storage tests have: an environment of their own, and a clock that waits in no time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawlmill.storage import Storage, StorageOptions


class Clock:
    """Time that passes only by sleeping; `waits` are the sleeps asked for."""

    def __init__(self) -> None:
        self.now, self.waits = 1000.0, []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waits.append(round(seconds, 6))


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("AWS_", "HADOOP_")) or name.endswith("CA_BUNDLE"):
            monkeypatch.delenv(name)
    nowhere = tmp_path_factory.mktemp("nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(nowhere / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(nowhere / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> str:
    """The keys of Amazon's own examples in the environment; gives the secret one."""
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    return secret


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile is named, so that the environment alone does not say all."""
    monkeypatch.setenv("AWS_PROFILE", "default")
    Path(os.environ["AWS_CONFIG_FILE"]).write_text("[default]\n")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def storage_with(clock: Clock) -> Iterator:
    """Makes a Storage from options; its waits are the longest the policy allows, and take no time."""
    made = []

    def make(**options: Any) -> Storage:
        storage = Storage(StorageOptions(**options), sleep=clock.sleep, clock=clock, random=lambda: 1.0)
        made.append(storage)
        return storage

    yield make
    for storage in made:
        storage.close()
