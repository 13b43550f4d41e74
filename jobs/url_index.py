"""Build a URL index: a ZipNum cluster of captures."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.url_index import UrlIndex

if __name__ == "__main__":
    UrlIndex.run()
