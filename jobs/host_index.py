"""Build a host index: a table with a row for each host of a crawl."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.host_index import HostIndex

if __name__ == "__main__":
    HostIndex.run()
