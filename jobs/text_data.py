"""Return the extracted texts of the 2012 crawl."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.text_data import TextData

if __name__ == "__main__":
    TextData.run()
