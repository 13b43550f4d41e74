"""Finds and runs the command, and converts its end to an exit code and at most one line.

0: success; 1: usage error, or output that cannot be written; 2: something was lost, partial or failed; 130: Ctrl-C;
143: SIGTERM.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Container
from contextlib import suppress
from types import FrameType
from typing import NamedTuple

from crawlmill import __version__, core
from crawlmill.cli.arguments import Parser, add_storage_options
from crawlmill.codecs.inflate import decoders
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.terminal.starting import Lasting
from crawlmill.terminal.streams import drop_output, prepare_streams
from crawlmill.terminal.text import tell

__all__ = ["COMMANDS", "Command", "main"]


class Command(NamedTuple):
    """The place of a command, and its summary."""

    room: str  # its package in `cli/commands/`
    help: str


COMMANDS = {
    "run": Command("runs", "run one of the jobs that come with Crawlmill"),
    "new": Command("runs", "write a job of your own to begin with, and its test"),
    "check": Command("archives", "read every member and record of archives to its end, and say what is lost"),
    "index": Command("indexes", "print the captures of archives: a URL index, a line per record"),
    "records": Command("archives", "list the records of archives, a row each"),
    "cat": Command("archives", "print one record, or a part of it"),
    "crawls": Command("crawls", "list the crawls that Common Crawl has published"),
    "lookup": Command("indexes", "look up captures in URL indexes"),
    "copy": Command("indexes", "copy the records of captures, or show what that would cost"),
    "serve": Command("indexes", "serve archives and their index on this machine: replay and a CDX API"),
    "paths": Command("crawls", "print the path list of a crawl's files, or a part of it"),
    "plan": Command("runs", "say what a run over a list would cost: bytes, requests, time"),
    "download": Command("crawls", "download the files of a list, and account for each"),
    "ledger": Command("runs", "show what became of the inputs of a run, or list those to run again"),
    "report": Command("runs", "make a page of a run: results, losses, throughput, or its difference from another"),
    "sql": Command("indexes", "ask the columnar index by SQL"),
    "simhash": Command("archives", "print the 2012 similarity hash of texts"),
    "doctor": Command("runs", "check whether a runner works from here, and how to fix it"),
    "sample": Command("crawls", "write a synthetic crawl whose true answers are known"),
    "completion": Command("shell", "print a script that completes commands and options in bash, zsh or fish"),
}


class _Version(argparse.Action):
    """`--version`: the version, the core and the decoders in use."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and exit."""
        chosen = ", ".join(f"{library} for {use}" for use, library in decoders().items())
        print(f"crawlmill {__version__} (core: {core.name()}; decoders: {chosen})")
        parser.exit()


def make_parser(full: Container[str] = COMMANDS) -> Parser:
    """The parser of the command line; it knows the arguments of these commands, and only the names of others."""
    parser = Parser(prog="crawlmill", description="Tools beside the jobs: look into crawl data, check it, list it.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print version and decoders, and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (room, what) in COMMANDS.items():
        if name in full:
            with Lasting():
                module = importlib.import_module(f"crawlmill.cli.commands.{room}.{name}")
            command = commands.add_parser(
                name, help=what, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
            )
            module.add_arguments(command)
            if getattr(module, "READS", True):
                add_storage_options(command)
            command.set_defaults(run=module.run, complain=command.error)
        else:
            commands.add_parser(name, help=what)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    prepare_streams()
    code = 0
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader of our output has closed the pipe
            code = 1
            _say(f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror or error}")
    drop_output()
    return code


def _run(arguments: list[str]) -> int:
    name = next((word for word in arguments if word in COMMANDS), None)
    try:
        if name is None and (unknown := next((word for word in arguments if word[:1] != "-"), None)) is not None:
            raise UsageError(f"no command is called {unknown}: {_hint(unknown)}")
        parser = make_parser(() if name is None else (name,))
        options, more = parser.parse_known_args(arguments)
        if more:
            complain = parser.error if options.command is None else options.complain
            complain(f"unrecognized arguments: {' '.join(more)}")
        if options.command is None:
            raise UsageError(f"no command given: one of {', '.join(COMMANDS)}")
        code: int = options.run(options)
        sys.stdout.flush()
    except SystemExit as end:  # raised by --help, --version, the parser, and on SIGTERM
        return int(end.code or 0)
    except KeyboardInterrupt:
        return 130
    except CrawlmillError as error:
        _say(str(error))
        return 1 if isinstance(error, UsageError) else 2
    return code


def _hint(unknown: str) -> str:
    """The command that this word may mean, or all commands."""
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

    near = get_close_matches(unknown, COMMANDS, n=1)
    return f"did you mean {near[0]}?" if near else f"one of {', '.join(COMMANDS)}"


def _say(text: str) -> None:
    with suppress(OSError):
        tell(f"crawlmill: {text}")


def _terminated(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # `timeout` sends a second one
    raise SystemExit(143)
