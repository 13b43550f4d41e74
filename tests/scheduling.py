"""Which process of a test run gets which tests, with pytest-xdist, so that the run is soon over.

* A test that needs the daemons of an engine goes to one of the few processes that have them; each such process has its
  own, which it starts once. These tests take longest and come first.
* The other tests of a file stay together, and so does what they share; only files that take minutes are cut, or all of
  them in a run of a few files.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.daemons import ENGINES, PROCESSES, engine_in

__all__ = ["EngineScheduling", "order"]

# What takes longest, in the order in which it is begun; after it come the other files.
LONGEST_FIRST: Final = (
    "tests/engines/test_shipping.py",
    "tests/engines/",
    "tests/docs/test_shown_commands.py",
    "tests/docs/",
)
CUT_BY_TEST: Final = "tests/engines/"
CUT_BY_CASE: Final = "tests/docs/test_shown_commands.py"
FEW_FILES: Final = 20


def order(items: list[pytest.Item]) -> None:
    """Put tests in the order in which they are begun."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> tuple[int, int]:
    engine = engine_in(nodeid)
    place = next((place for place, start in enumerate(LONGEST_FIRST) if nodeid.startswith(start)), len(LONGEST_FIRST))
    return ENGINES.index(engine) if engine else len(ENGINES), place


class EngineScheduling(LoadScopeScheduling):
    """Hands out units of tests: a test of an engine, a file, or what a long file is cut into."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order of the tests is the order of their units
        self._engines: dict[WorkerController, set[str]] = {}
        self._places: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        if engine_in(nodeid) or nodeid.startswith(CUT_BY_CASE):
            return nodeid
        return nodeid.partition("[" if nodeid.startswith(CUT_BY_TEST) or self._has_few_files else "::")[0]

    @cached_property
    def _has_few_files(self) -> bool:
        return len({nodeid.partition("::")[0] for nodeid in self.collection}) < FEW_FILES

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        # The original keeps what is done, and looks through all of it after each test.
        nodeid = self.registered_collections[node][item_index]
        unit = self._split_scope(nodeid)
        tests = self.assigned_work[node][unit]
        del tests[nodeid]
        if not tests:
            del self.assigned_work[node][unit]
        self._reschedule(node)

    def _reschedule(self, node: WorkerController) -> None:
        if node.shutting_down:
            return
        if self._next_unit(node) is None:
            node.shutdown()  # it ends when it has run what it has
        elif self._pending_of(self.assigned_work[node]) < 2:  # it begins a test when it knows the one after that
            self._assign_work_unit(node)

    def _next_unit(self, node: WorkerController) -> str | None:
        """The first unit that the process may run."""
        full = {name for name, most in PROCESSES.items() if sum(name in e for e in self._engines.values()) >= most}
        closed = full - self._engines.get(node, set())
        return next((unit for unit in self.workqueue if engine_in(unit) not in closed), None)

    def _assign_work_unit(self, node: WorkerController) -> None:
        name = self._next_unit(node)
        if name is None:
            return
        if engine := engine_in(name):
            self._engines.setdefault(node, set()).add(engine)
        tests = self.assigned_work[node][name] = self.workqueue.pop(name)
        self._places = self._places or {nodeid: place for place, nodeid in enumerate(self.collection)}
        node.send_runtest_some([self._places[nodeid] for nodeid in tests])

    def remove_node(self, node: WorkerController) -> str | None:
        self._engines.pop(node, None)
        return super().remove_node(node)
