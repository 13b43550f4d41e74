"""What can be typed after `crawlmill`, according to its parsers: for shell completion, and for the man page.

A `Command` is a tree: `crawlmill`, its commands, and below `run` the jobs. Only the meaning of placeholders (`FILE`,
`CRAWL`) is maintained by hand, so a new option is completed and documented once it is declared.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from crawlmill.cli.jobs import job_names, load_job, summary_of
from crawlmill.cli.main import COMMANDS, make_parser
from crawlmill.inputs.common_crawl.path_lists import KINDS, LEGACY_KINDS
from crawlmill.mr.engines.registry import ENGINES
from crawlmill.mr.job.help import options_on, parser_of

__all__ = ["Argument", "Command", "Kind", "Option", "Value", "describe"]


class Kind(Enum):
    """The kind of a value, for completion."""

    WORDS = "words"
    """One of a few words."""
    FILE = "file"
    FOLDER = "folder"
    CRAWL = "crawl"
    """The id of a crawl."""
    INDEX = "index"
    """The id of a crawl, or a file."""
    OTHER = "other"
    """Anything: a number, a pattern, a URL."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an option, or an argument: its placeholder, its kind, and the words for Kind.WORDS."""

    name: str
    kind: Kind
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """An option: all its names, its help on one line, its value if any, and whether it may be repeated."""

    names: tuple[str, ...]
    help: str
    value: Value | None
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument; `several`: may be repeated."""

    value: Value
    help: str
    several: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command, a job, or `crawlmill` itself.

    `about` is its printed help above the options; `on_engines` are additional options, by engine (`-r`).
    """

    name: str
    help: str
    about: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...] = ()
    commands: tuple[Command, ...] = ()
    on_engines: tuple[tuple[str, tuple[Option, ...]], ...] = ()

    @property
    def shared(self) -> tuple[Option, ...]:
        """The options that all of its commands share, in the order of the first command."""
        first, *others = self.commands
        common = set(first.options).intersection(*(each.options for each in others))
        return tuple(each for each in first.options if each in common)

    def own(self, command: Command) -> list[Option]:
        """The options of one of its commands that are not `shared`."""
        shared = set(self.shared)
        return [each for each in command.options if each not in shared]


_FILES: Final = {"FILE", "LIST", "LOCATION", "EARLIER", "CONF_PATHS"}
_FOLDERS: Final = {"DIR", "FOLDER", "OUT", "OUT2", "OUTPUT_DIR"}
_CRAWLS: Final = {"CRAWL", "--crawl"}
_INDEXES: Final = {"INDEX", "DIR|CRAWL", "TABLE"}
_WORDS: Final[dict[str, tuple[str, ...]]] = {"KIND": (*KINDS, *LEGACY_KINDS)}
"""Closed choices that no parser knows."""


def describe() -> Command:
    """The whole tree. Imports all commands and jobs, which takes up to a second."""
    parser = make_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    return Command(
        parser.prog,
        parser.description or "",
        parser.description or "",
        _options(parser),
        commands=tuple(
            _command(name, what.help, commands.choices[name], _jobs() if name == "run" else ())
            for name, what in COMMANDS.items()
        ),
    )


def _command(name: str, what: str, parser: argparse.ArgumentParser, jobs: tuple[Command, ...] = ()) -> Command:
    return Command(
        name, what, parser.description or "", _options(parser), () if jobs else _arguments(parser, name), jobs
    )


def _jobs() -> tuple[Command, ...]:
    return tuple(_job(name) for name in job_names())


def _job(name: str) -> Command:
    job = load_job(name)
    parser = parser_of(job)
    engines = tuple((each.name, tuple(map(_option, options_on(each, job)))) for each in ENGINES.values())
    return Command(
        name,
        summary_of(name),
        parser.description or "",
        _options(parser),
        _arguments(parser, name),
        on_engines=engines,
    )


def _shown(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    return (action for action in parser._actions if action.help != argparse.SUPPRESS)  # noqa: SLF001


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    return tuple(_option(action) for action in _shown(parser) if action.option_strings)


def _option(action: argparse.Action) -> Option:
    repeatable = isinstance(action, argparse._AppendAction)  # noqa: SLF001
    value = None if action.nargs == 0 else _value(action)
    return Option(tuple(action.option_strings), _help(action), value, repeatable)


def _arguments(parser: argparse.ArgumentParser, command: str) -> tuple[Argument, ...]:
    return tuple(
        Argument(
            Value("CRAWL", Kind.CRAWL) if command == "crawls" else _value(action),
            _help(action),
            several=action.nargs in ("*", "+"),
            optional=action.nargs in ("*", "?"),
        )
        for action in _shown(parser)
        if not action.option_strings
    )


def _value(action: argparse.Action) -> Value:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    words = _WORDS.get(name, ())
    if action.choices is not None:
        words = tuple(map(str, action.choices))
        name = action.metavar if isinstance(action.metavar, str) else "{" + ",".join(words) + "}"
    elif "|" in name and name not in _INDEXES:  # for example host|domain|path:N
        words = tuple(word for word in name.split("|") if re.fullmatch(r"[a-z][a-z0-9-]*", word))
    if words:
        return Value(name, Kind.WORDS, words)
    for kind, names in ((Kind.FILE, _FILES), (Kind.FOLDER, _FOLDERS), (Kind.CRAWL, _CRAWLS), (Kind.INDEX, _INDEXES)):
        if names & {name, *action.option_strings}:
            return Value(name, kind)
    return Value(name, Kind.OTHER)


def _help(action: argparse.Action) -> str:
    """The help of an option on one line, formatted as by argparse."""
    known = {name: value for name, value in vars(action).items() if value is not argparse.SUPPRESS}
    return " ".join(((action.help or "") % known).split())
