"""Build the URL index of 2012: a prefix B-tree of captures."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.prefix_tree import PrefixTree

if __name__ == "__main__":
    PrefixTree.run()
