"""Count words."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.word_count import WordCount

if __name__ == "__main__":
    WordCount.run()
