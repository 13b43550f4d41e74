"""The `crawlmill` command."""


def main() -> int:
    """Run the command line."""
    raise SystemExit("not yet")
