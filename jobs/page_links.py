"""Find the links of pages."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.page_links import PageLinks

if __name__ == "__main__":
    PageLinks.run()
