"""Find pages that are nearly the same."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.near_duplicates import NearDuplicates

if __name__ == "__main__":
    NearDuplicates.run()
