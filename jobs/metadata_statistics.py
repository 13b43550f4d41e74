"""Answer the usual questions about the 2012 crawl, all in one pass."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.metadata_statistics import MetadataStatistics

if __name__ == "__main__":
    MetadataStatistics.run()
