"""Count HTML start tags."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.tag_count import TagCount

if __name__ == "__main__":
    TagCount.run()
