"""Count web servers by their Server header."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.server_count import ServerCount

if __name__ == "__main__":
    ServerCount.run()
