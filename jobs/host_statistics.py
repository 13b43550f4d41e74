"""Count what a crawl has of each host, domain, suffix or path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.host_statistics import HostStatistics

if __name__ == "__main__":
    HostStatistics.run()
