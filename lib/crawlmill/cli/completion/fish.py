"""The completion script for fish, 3.1 and later: a `complete` for each option of each command, and each argument."""

from __future__ import annotations

from collections.abc import Iterable

from crawlmill.cli.completion.text import brief
from crawlmill.cli.described import Command, Kind, Option, Value

__all__ = ["script"]

_AFTER = {
    Kind.FILE: "-r -F",
    Kind.FOLDER: "-x -a '(__fish_complete_directories)'",
    Kind.CRAWL: "-x -a '(__crawlmill_crawls)'",
    Kind.INDEX: "-r -F -a '(__crawlmill_crawls)'",
    Kind.OTHER: "-x",
}
_INSTEAD = {
    Kind.FILE: "-F",
    Kind.FOLDER: "-a '(__fish_complete_directories)'",
    Kind.CRAWL: "-a '(__crawlmill_crawls)'",
    Kind.INDEX: "-F -a '(__crawlmill_crawls)'",
    Kind.OTHER: "",
}


def script(root: Command, crawls: list[str]) -> str:
    """The script."""
    lines = [_SCRIPT.replace("@CRAWLS@", " ".join(crawls))]
    lines += _options("__crawlmill_is", root.options)
    for command in root.commands:
        lines.append(_line("__crawlmill_is", f"-a {command.name}", command.help))
        lines += _options(f"__crawlmill_is {command.name}", command.options)
        lines += _arguments(command)
        lines += _jobs(command)
    return "\n".join(lines) + "\n"


def _jobs(parent: Command) -> Iterable[str]:
    if not parent.commands:
        return
    any_job = f"__crawlmill_is {parent.name} any"
    yield from _options(any_job, parent.shared)
    yield _line(any_job, "-F")
    for job in parent.commands:
        yield _line(f"__crawlmill_is {parent.name}", f"-a {job.name}", job.help)
        yield from _options(f"__crawlmill_is {parent.name} {job.name}", parent.own(job))
    for engine, options in parent.commands[0].on_engines:
        yield from _options(f"{any_job}; and __crawlmill_runs_on {engine}", options)


def _options(condition: str, options: Iterable[Option]) -> Iterable[str]:
    for option in options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        value = "" if option.value is None else f" {_value(option.value, _AFTER, '-x ')}"
        yield _line(condition, names + value, option.help)


def _arguments(command: Command) -> Iterable[str]:
    """The completions of arguments; if there are several kinds of arguments, each applies to its position only."""
    valued = " ".join(name for option in command.options if option.value for name in option.names)
    for place, each in enumerate(command.arguments, 1):
        condition = f"__crawlmill_is {command.name}"
        if len(command.arguments) > 1:
            condition += f"; and __crawlmill_argument {place} {valued}"
        if what := _value(each.value, _INSTEAD):
            yield _line(condition, what)


def _value(value: Value, kinds: dict[Kind, str], before: str = "") -> str:
    return kinds[value.kind] if value.kind is not Kind.WORDS else f"{before}-a '{' '.join(value.words)}'"


def _line(condition: str, what: str, text: str = "") -> str:
    described = brief(text).replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c crawlmill -n '{condition}' {what}" + (f" -d '{described}'" if text else "")


_SCRIPT = r"""# fish completion for crawlmill, printed by `crawlmill completion fish`

# Whether the line has this command and this job: neither, a command alone, or a command and one job, or any.
function __crawlmill_is
    set -l words (commandline -opc)
    set -e words[1]
    set words (string match --invert -- '-*' $words)
    set -l jobs 0
    contains -- "$words[1]" run; and set jobs 1
    switch (count $argv)
        case 0
            test (count $words) -eq 0
        case 1
            test "$words[1]" = "$argv[1]"; and test $jobs -eq 0 -o (count $words) -eq 1
        case '*'
            test "$words[1]" = "$argv[1]"; and test (count $words) -gt 1; and contains -- $argv[2] any $words[2]
    end
end

# Whether the job runs on this engine.
function __crawlmill_runs_on
    string match --quiet --regex -- "(-r|--runner)[ =]$argv[1]( |\$)" (commandline -opc | string join ' ')
end

# Whether argument number $argv[1] of a command is next; the rest of $argv are options that take a value.
function __crawlmill_argument
    set -l words (commandline -opc)
    set -e words[1]
    set -l count 0
    set -l skip 0
    for word in $words
        if test $skip -eq 1
            set skip 0
        else if contains -- $word $argv[2..-1]
            set skip 1
        else if not string match --quiet -- '-*' $word
            set count (math $count + 1)
        end
    end
    test $count -eq $argv[1]
end

function __crawlmill_crawls
    set -l kept $XDG_CACHE_HOME
    string match --quiet -- '/*' "$kept"; or set kept $HOME/.cache
    set kept $kept/crawlmill
    test -n "$CRAWLMILL_CACHE"; and set kept $CRAWLMILL_CACHE
    set kept $kept/collinfo.json
    if test -r $kept
        grep -o '"id" *: *"[A-Za-z0-9._-]*"' $kept 2>/dev/null | cut -d '"' -f 4
    else
        printf '%s\n' @CRAWLS@
    end
end

complete -c crawlmill -f"""
