"""Return the metadata of the 2012 crawl."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.crawl_metadata import CrawlMetadata

if __name__ == "__main__":
    CrawlMetadata.run()
