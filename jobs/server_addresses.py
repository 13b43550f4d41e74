"""Count the IP addresses that hosts were fetched from."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))  # of a clone; an installed crawlmill wins

from crawlmill.jobs.server_addresses import ServerAddresses

if __name__ == "__main__":
    ServerAddresses.run()
