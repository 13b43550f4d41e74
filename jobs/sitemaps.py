"""Find the sitemaps that robots.txt files name."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.sitemaps import Sitemaps

if __name__ == "__main__":
    Sitemaps.run()
