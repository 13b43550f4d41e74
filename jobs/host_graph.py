"""Build the graph of hosts that link to each other."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.host_graph import HostGraph

if __name__ == "__main__":
    HostGraph.run()
