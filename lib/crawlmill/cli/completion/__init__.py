"""Completion scripts for bash, zsh and fish, made from `crawlmill.cli.described`.

The scripts contain all commands, jobs, options and choices; completing neither starts Python nor uses the network. Ids
of crawls are read from the cached list of crawls, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crawlmill.cli.completion import bash, fish, zsh
from crawlmill.cli.described import Command

__all__ = ["SHELLS"]

SHELLS: Final[dict[str, Callable[[Command, list[str]], str]]] = {
    "bash": bash.script,
    "zsh": zsh.script,
    "fish": fish.script,
}
"""Shell -> what makes its script of the commands, and of the crawls to offer while there is no cached list."""
