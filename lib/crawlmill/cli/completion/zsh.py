"""The completion script for zsh, using `_arguments`: to be sourced after `compinit`, or as `_crawlmill` in fpath.

Spec: zshcompsys(1): `'*--name[help]:placeholder:action'`.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawlmill.cli.completion.text import brief
from crawlmill.cli.described import Argument, Command, Kind, Option, Value

__all__ = ["script"]

_ACTIONS = {
    Kind.FILE: "_files",
    Kind.FOLDER: "_files -/",
    Kind.CRAWL: "_crawlmill_crawls",
    Kind.INDEX: "_crawlmill_indexes",
    Kind.OTHER: " ",
}


def script(root: Command, crawls: list[str]) -> str:
    """The script."""
    filled = _SCRIPT.replace("@OPTIONS@", _specs(map(_option, root.options), 4))
    filled = filled.replace("@COMMANDS@", _named(root.commands))
    filled = filled.replace("@CASES@", "\n".join(map(_case, root.commands)))
    parent = next((each for each in root.commands if each.commands), root)
    return filled.replace("@JOBS@", _jobs(parent)).replace("@CRAWLS@", " ".join(crawls))


def _case(command: Command) -> str:
    if command.commands:
        return f"        {command.name}) _crawlmill_job ;;"
    specs = [*map(_option, command.options), *_arguments(command.arguments)]
    return f"        {command.name})\n            specs=(\n{_specs(specs, 16)}\n            ) ;;"


def _jobs(parent: Command) -> str:
    """The completions of a job and what follows it; the common part of all jobs is written once."""
    first = parent.commands[0]
    shared = _specs([*map(_option, parent.shared), *_arguments(first.arguments)], 8)
    cases = "\n".join(
        f"        {job.name})\n            specs+=(\n{_specs(own, 16)}\n            ) ;;"
        for job in parent.commands
        if (own := list(map(_option, parent.own(job))))
    )
    engines = "\n".join(
        f"        {name})\n            specs+=(\n{_specs(map(_option, options), 16)}\n            ) ;;"
        for name, options in first.on_engines
    )
    filled = _JOB.replace("@OPTIONS@", _specs(map(_option, parent.options), 4))
    filled = filled.replace("@NAMES@", _named(parent.commands)).replace("@SHARED@", shared)
    return filled.replace("@CASES@", cases).replace("@ENGINES@", engines)


def _option(option: Option) -> str:
    help_ = _quoted(brief(option.help), "[]:")
    value = "" if option.value is None else f":{_quoted(option.value.name, ':')}:{_action(option.value)}"
    if len(option.names) == 1:
        return f"'{'*' * option.repeatable}{option.names[0]}[{help_}]{value}'"
    before = "'*'" if option.repeatable else f"'({' '.join(option.names)})'"
    return f"{before}{{{','.join(option.names)}}}'[{help_}]{value}'"


def _arguments(arguments: Iterable[Argument]) -> Iterable[str]:
    for place, each in enumerate(arguments, 1):
        at = "*" if each.several else f"{place}{':' * each.optional}"
        yield f"'{at}:{_quoted(each.value.name, ':')}:{_action(each.value)}'"


def _action(value: Value) -> str:
    if value.kind is not Kind.WORDS:
        return _ACTIONS[value.kind]
    return f"({' '.join(_quoted(word, ':') for word in value.words)})"


def _named(commands: Iterable[Command]) -> str:
    return "\n".join(f"        '{each.name}:{_quoted(brief(each.help))}'" for each in commands)


def _specs(specs: Iterable[str], indent: int) -> str:
    return "\n".join(f"{' ' * indent}{spec}" for spec in specs)


def _quoted(text: str, special: str = "") -> str:
    text = text.replace("\\", "\\\\")
    for each in special:
        text = text.replace(each, f"\\{each}")
    return text.replace("'", "'\\''")


_JOB = r"""_crawlmill_job() {
    local curcontext=$curcontext state state_descr line
    local -a specs names
    typeset -A opt_args
    specs=(
@OPTIONS@
    )
    _arguments -C $specs '1:job:->job' '*::argument:->arguments' && return
    if [[ $state == job ]]; then
        names=(
@NAMES@
        )
        _describe -t jobs job names
        return
    fi
    [[ $state == arguments ]] || return
    local job=$words[1] engine=${words[(r)--runner=*]#--runner=}
    local -i place=$words[(I)(-r|--runner)]
    (( place )) && engine=$words[place+1]
    specs=(
@SHARED@
    )
    case $job in
@CASES@
    esac
    case $engine in
@ENGINES@
    esac
    _crawlmill_arguments
}"""

_SCRIPT = r"""#compdef crawlmill
# zsh completion for crawlmill, printed by `crawlmill completion zsh`

_crawlmill_crawls() {
    local kept=${XDG_CACHE_HOME-} expl
    local -a ids
    [[ $kept == /* ]] || kept=${HOME-}/.cache
    kept=${CRAWLMILL_CACHE:-$kept/crawlmill}/collinfo.json
    if [[ -r $kept ]]; then
        ids=(${(f)"$(grep -o '"id" *: *"[A-Za-z0-9._-]*"' $kept 2>/dev/null | cut -d '"' -f 4)"})
    else
        ids=(@CRAWLS@)
    fi
    _wanted -V crawls expl crawl compadd -a ids
}

_crawlmill_indexes() {
    _alternative 'crawls:crawl:_crawlmill_crawls' 'files:file:_files'
}

# Completes by the caller's specs. `_arguments` puts a = behind the name of an option that may have one, so options
# may have one only on lines that use it.
_crawlmill_arguments() {
    local -i place
    if (( $words[(I)--*=*] )); then
        for (( place = 1; place <= $#specs; place++ )); do
            [[ $specs[place] == (\*|)--*']:'* ]] && specs[place]=${specs[place]/'['/'=['}
        done
    fi
    _arguments -S : $specs
}

@JOBS@

_crawlmill() {
    local curcontext=$curcontext state state_descr line
    local -a specs names
    typeset -A opt_args
    specs=(
@OPTIONS@
    )
    _arguments -C $specs '1:command:->command' '*::argument:->arguments' && return
    if [[ $state == command ]]; then
        names=(
@COMMANDS@
        )
        _describe -t commands command names
        return
    fi
    [[ $state == arguments ]] || return
    case $words[1] in
@CASES@
        *) return 1 ;;
    esac
    (( $#specs )) && _crawlmill_arguments
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _crawlmill "$@"
elif (( $+functions[compdef] )); then
    compdef _crawlmill crawlmill
fi
"""
