"""Build the columnar index: a table of captures in Parquet files."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.url_table import UrlTable

if __name__ == "__main__":
    UrlTable.run()
