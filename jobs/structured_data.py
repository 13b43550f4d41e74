"""Extract structured data from pages: microdata, RDFa, JSON-LD and microformats2, as N-Quads."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.structured_data import StructuredData

if __name__ == "__main__":
    StructuredData.run()
