"""Says now and then how far a test run is and what is running: engines take their time, and a dot says little."""

from __future__ import annotations

import threading
import time
from typing import Final

import pytest

__all__ = ["Progress"]

_EVERY_S: Final = 20.0


class Progress:
    """Prints a line about a run of tests in several processes every 20 seconds."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._total = self._done = self._failed = 0
        self._began: dict[str, float] = {}
        self._start, self._over = time.monotonic(), threading.Event()
        self._lock = threading.Lock()
        self._threaded = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._total = self._total or len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        if not self._total:
            self._total = len(ids)

    def pytest_sessionstart(self) -> None:
        # Tests of this very process would capture what is said.
        self._threaded = bool(getattr(self._config.option, "numprocesses", None))
        if self._threaded:
            threading.Thread(target=self._say_often, daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        with self._lock:
            self._began[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        with self._lock:
            self._began.pop(nodeid, None)
            self._done += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed += report.failed
        if report.failed and self._threaded:
            self._say(f"failed: {report.nodeid} ({report.when})")

    def line(self, now: float) -> str:
        """How far the run is, and what has been running for longer than a second, the oldest first."""
        with self._lock:
            running = sorted((began, name) for name, began in self._began.items() if now - began >= 1)
        minutes, seconds = divmod(int(now - self._start), 60)
        said = f"{minutes}:{seconds:02} {self._done:,} of {self._total:,} tests, {self._failed} failed"
        names = ", ".join(f"{name} ({now - began:.0f} s)" for began, name in running)
        return f"{said}; running: {names}" if names else said

    def _say_often(self) -> None:
        while not self._over.wait(_EVERY_S):
            if self._total:
                self._say(self.line(time.monotonic()))

    def _say(self, text: str) -> None:
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(text)
