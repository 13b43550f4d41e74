"""Build a sibling index: where each page of a crawl is in its WARC, WAT and WET files."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.sibling_index import SiblingIndex

if __name__ == "__main__":
    SiblingIndex.run()
