"""Runs a Python script and says where its CPU time went: by module, and by function.

    python bench/sampler.py RESULT.json SCRIPT [ARGUMENT…]

Every few milliseconds of CPU time (ITIMER_PROF, as fine as the kernel's clock) the innermost Python frame is noted.
What a C function takes (inflating, a regex) counts for the Python function that called it: signals wait until it
returns, so each sample is weighed with the CPU time since the last one. This costs little, and evenly; a tracing
profiler would burden small functions most.
"""

from __future__ import annotations

import json
import runpy
import signal
import sys
import time
from operator import itemgetter
from pathlib import Path
from types import FrameType

__all__ = ["Sampler"]

_INTERVAL_S = 0.001


class Sampler:
    """CPU seconds by (module, function), while it runs."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str], float] = {}
        self._last = 0.0

    def start(self) -> None:
        """Begin; what was before (the start of the interpreter) is a place of its own."""
        self._last = time.process_time()
        self.seconds["interpreter", "start"] = self._last
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL_S, _INTERVAL_S)

    def stop(self) -> None:
        """End."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _note(self, _number: int, frame: FrameType | None) -> None:
        now = time.process_time()
        if frame is not None:
            place = frame.f_globals.get("__name__", "?"), frame.f_code.co_qualname
            self.seconds[place] = self.seconds.get(place, 0) + now - self._last
        self._last = now


def main() -> None:
    """Run the script that the command line names, then write the result, longest first."""
    result, script, *arguments = sys.argv[1:]
    sys.argv = [script, *arguments]
    sampler = Sampler()
    sampler.start()
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sampler.stop()
    rows = [(module, function, seconds) for (module, function), seconds in sampler.seconds.items()]
    Path(result).write_text(json.dumps(sorted(rows, key=itemgetter(2), reverse=True)))


if __name__ == "__main__":
    main()
