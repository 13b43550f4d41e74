"""Copy the listed records into WARC and ARC files of bounded size."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.extract_records import ExtractRecords

if __name__ == "__main__":
    ExtractRecords.run()
