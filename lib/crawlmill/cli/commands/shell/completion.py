"""Print a script that completes commands, jobs, options and their values in your shell.

Bash, in ~/.bashrc, or better in a file, which loads faster:
  source <(crawlmill completion bash)
  crawlmill completion bash > ~/.local/share/bash-completion/completions/crawlmill

Zsh, after compinit in ~/.zshrc, or in a folder of your fpath:
  source <(crawlmill completion zsh)
  crawlmill completion zsh > ~/.zfunc/_crawlmill

Fish:
  crawlmill completion fish > ~/.config/fish/completions/crawlmill.fish

Ids of crawls are completed from the list that `crawlmill crawls` has cached; nothing is fetched for it. A script in a
file knows what the version that printed it knew: print it again after an upgrade.

Examples:
  crawlmill completion bash
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from crawlmill.inputs.common_crawl.catalogue import bundled_catalogue

__all__ = ["READS", "add_arguments", "run"]

READS: Final = False
"""Nothing is read from a location."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    # These import all commands, including this one, and all jobs.
    from crawlmill.cli.completion import SHELLS  # noqa: PLC0415
    from crawlmill.cli.described import describe  # noqa: PLC0415

    sys.stdout.write(SHELLS[options.shell](describe(), [crawl.id for crawl in bundled_catalogue().crawls]))
    return 0
