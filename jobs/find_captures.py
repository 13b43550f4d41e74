"""Find the captures of many URLs in URL indexes."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.find_captures import FindCaptures

if __name__ == "__main__":
    FindCaptures.run()
