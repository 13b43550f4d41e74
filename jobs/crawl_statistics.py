"""Count the statistics of crawls, in the form in which Common Crawl publishes them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.crawl_statistics import CrawlStatistics

if __name__ == "__main__":
    CrawlStatistics.run()
