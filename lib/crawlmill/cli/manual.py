"""The manual page, crawlmill(1), generated from the parsers; `tools/help_pages.py` writes it.

Spec: man(7). Options shared by most commands, and those shared by all jobs, are listed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from crawlmill import __version__
from crawlmill.cli.described import Argument, Command, Option, Value

__all__ = ["manual_page"]

_HELP: Final = "-h"

_HEAD: Final = r""".SH NAME
crawlmill \- run jobs over Common Crawl, and look into its archives and indexes
.SH SYNOPSIS
.B crawlmill
.I COMMAND
.RI [ options ]
.br
.B crawlmill run
.I JOB
.RI [ options ]
.IR LIST ...
.SH DESCRIPTION
Crawlmill counts and extracts things from the files of Common Crawl, on this machine, Hadoop, EMR or Spark, and accounts
for every input.
Each command takes locations of any kind: local files, URLs, s3://, hdfs://.
It prints data to stdout and everything else to stderr.
.B crawlmill
.I COMMAND
.B \-\-help
prints what is said here of a command."""

_TAIL: Final = r""".SH EXIT STATUS
.TP
.B 0
Success: all inputs were read to their ends.
.TP
.B 1
A usage error, a job that failed, or output that cannot be written.
.TP
.B 2
Something was lost: inputs are partial or failed. The ledger names them.
.TP
.B 130, 143
Ended by Ctrl\-C, or by SIGTERM.
.SH ENVIRONMENT
.TP
.B MRJOB_CONF
The mrjob.conf to read, in place of ~/.mrjob.conf.
.TP
.B CRAWLMILL_CORE
.B native
or
.BR python :
which core does the work.
.TP
.B CRAWLMILL_CACHE
The cache folder, for pieces of indexes and the list of crawls, in place of ~/.cache/crawlmill.
.TP
.B HADOOP_CONF_DIR
Where Hadoop's configuration is, which says where HDFS is.
.SH FILES
.TP
.I ~/.mrjob.conf
Settings of the engines.
.TP
.I ~/.cache/crawlmill/collinfo.json
The list of crawls, kept for a day."""


def manual_page(root: Command) -> str:
    """The page, as source for troff."""
    often = Counter(option for command in root.commands for option in command.options)
    usual = [option for option, times in often.items() if 2 * times > len(root.commands) and _HELP not in option.names]
    lines = [f'.TH CRAWLMILL 1 "" "crawlmill {__version__}" "User Commands"', ".ad l", _HEAD, ".SH COMMANDS"]
    for command in root.commands:
        lines += _command(command, f"crawlmill {command.name}", usual)
    lines += [".SH OPTIONS OF MOST COMMANDS", *_options(usual)]
    for command in root.commands:
        lines += _jobs(command)
    return "\n".join([*lines, _TAIL]) + "\n"


def _jobs(parent: Command) -> Iterator[str]:
    if not parent.commands:
        return
    common = set.intersection(*(set(job.options) for job in parent.commands))
    yield ".SH JOBS"
    for job in parent.commands:
        yield from _command(job, f"crawlmill {parent.name} {job.name}", common)
    yield ".SH OPTIONS OF ALL JOBS"
    yield from _options(option for option in parent.commands[0].options if option in common)


def _command(command: Command, called: str, elsewhere: Iterable[Option]) -> Iterator[str]:
    """The section of a command or a job, without the options listed `elsewhere`."""
    known = set(elsewhere)
    options = [option for option in command.options if option not in known and _HELP not in option.names]
    placeholders = " JOB [options]" if command.commands else "".join(map(_placeholder, command.arguments))
    yield f'.SS "{_text(called)}"'
    yield f".B {_text(called)}"
    yield _text(f"[options]{placeholders}")
    yield ".PP"
    yield from _about(command.about)
    for argument in command.arguments:
        yield from [".TP", rf"\fI{_text(argument.value.name)}\fR", _line(argument.help)]
    yield from _options(options)


def _placeholder(argument: Argument) -> str:
    name = argument.value.name + "..." * argument.several
    return f" [{name}]" if argument.optional else f" {name}"


def _options(options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        names = ", ".join(rf"\fB{_text(name)}\fR" for name in option.names)
        yield from [".TP", f"{names}{_shown(option.value)}", _line(option.help)]


def _shown(value: Value | None) -> str:
    return "" if value is None else rf" \fI{_text(value.name)}\fR"


def _about(text: str) -> Iterator[str]:
    """Paragraphs; lines that begin with a space, such as examples, stay separate lines."""
    for paragraph in text.strip().split("\n\n"):
        for indented, lines in groupby(paragraph.splitlines(), lambda line: line.startswith(" ")):
            shown = [_line(line) for line in lines]
            yield from [".RS", ".nf", *shown, ".fi", ".RE"] if indented else shown
        yield ".PP"


def _line(text: str) -> str:
    """A line of text, protected if it would begin a troff request."""
    escaped = _text(text.strip())
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _text(text: str) -> str:
    """The text escaped for troff, in ASCII, which every troff reads."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in escaped)
