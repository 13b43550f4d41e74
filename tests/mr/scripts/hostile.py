"""Jobs whose keys and numbers are hostile: counted in the map task, or emitted, combined and summed."""

from crawlmill.mr import CountJob, CrawlJob, summing

KEYS = (
    "\t",
    "\n",
    "\r",
    "a\tb\nc",
    "\ud800",
    "x" * 10_000,
    "x" * 10_001,
    "a",
    "a ",
    "a!",
    "a\\",
    1,
    12,
    1.5,
    None,
    True,
    ["a", "\t"],
    "\\ud800",
    "\x7f",
    "\0",
    "\u2028",
)
WIDE = 10**18 - 1
"""The largest number that is summed without being decoded; `WIDE_TIMES` of them are beyond 64 bits."""

WIDE_TIMES = 20


class Hostile(CountJob):
    """Count hostile keys."""

    types = ("response",)

    def process(self, record):
        yield from ((key, n + 1) for n, key in enumerate(KEYS))
        yield "big", 10**20
        yield "half", 0.5
        for _ in range(WIDE_TIMES):
            yield "wide", WIDE


class Combined(CrawlJob):
    """Emit each pair; combine and sum."""

    types = ("response",)
    process = Hostile.process
    combiner = reducer = summing


if __name__ == "__main__":
    Hostile.run()
