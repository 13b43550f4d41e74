"""`python -m crawlmill` is the `crawlmill` command."""

import sys

from crawlmill.cli import main

if __name__ == "__main__":
    sys.exit(main())
