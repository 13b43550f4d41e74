"""The completion script for bash, 3.2 and later, with or without the package bash-completion.

The script has a table of words for each command, each word an option:

    --json             takes no value
    --part=raw,text    takes one of these
    --ledger=_file     takes a value of this kind: _file, _folder, _crawl, _index, or _other

For readline `=` and `:` are separate words, so the script joins them again, and for `--part=te` offers only what
follows the `=`.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawlmill.cli.described import Command, Kind, Option, Value

__all__ = ["script"]


def script(root: Command, crawls: list[str]) -> str:
    """The script, to be sourced."""
    tables = [_table("", root.options, [",".join(each.name for each in root.commands)])]
    for command in root.commands:
        arguments = [_value(each.value) + "+" * each.several for each in command.arguments]
        if command.commands:
            arguments = [",".join(each.name for each in command.commands)]
        tables.append(_table(command.name, command.options, arguments))
        tables += _jobs(command)
    filled = _SCRIPT.replace("@TABLES@", "\n".join(tables)).replace("@CRAWLS@", " ".join(crawls))
    return filled.replace("@PARENT@", next((each.name for each in root.commands if each.commands), ""))


def _jobs(parent: Command) -> Iterable[str]:
    """The tables of jobs, with their common options in a table of their own; and of engines."""
    if not parent.commands:
        return
    yield _table(f"{parent.name} *", parent.shared, ["_file+"])
    for job in parent.commands:
        yield _table(f"{parent.name} {job.name}", parent.own(job), ())
    for engine, options in parent.commands[0].on_engines:
        yield _table(f"-r {engine}", options, ())


def _table(name: str, options: Iterable[Option], arguments: Iterable[str]) -> str:
    words = [word if each.value is None else f"{word}={_value(each.value)}" for each in options for word in each.names]
    then = "".join(f" '{each}'" for each in arguments)
    quoted = f"'{name}'"
    return f"        {quoted})\n            options+=({' '.join(words)})\n            arguments+=({then.strip()}) ;;"


def _value(value: Value) -> str:
    return ",".join(value.words) if value.kind is Kind.WORDS else f"_{value.kind.value}"


_SCRIPT = r"""# bash completion for crawlmill, printed by `crawlmill completion bash`

_crawlmill_table()
{
    case $1 in
@TABLES@
    esac
}

_crawlmill_crawls()
{
    local kept=${XDG_CACHE_HOME-}
    [[ $kept == /* ]] || kept=${HOME-}/.cache
    kept=${CRAWLMILL_CACHE:-$kept/crawlmill}/collinfo.json
    if [[ -r $kept ]]; then
        grep -o '"id" *: *"[A-Za-z0-9._-]*"' "$kept" 2>/dev/null | cut -d '"' -f 4
    else
        printf '%s\n' @CRAWLS@
    fi
}

# Offers those of the words in $1 that go on with $cur, and of $cur=... only what readline takes for a word.
_crawlmill_offer()
{
    local word before=
    [[ $cur == *[:=]* ]] && before=${cur%"${cur##*[:=]}"}
    while IFS= read -r word; do
        [[ -n $word ]] && COMPREPLY+=("${word#"$before"}")
    done < <(compgen -W "$1" -- "$cur")
}

# Offers files or folders: best by readline itself.
_crawlmill_paths()
{
    local word
    compopt -o "$1" 2>/dev/null && return
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen "$2" -- "${cur##*=}")
}

# Offers what a value can be: a kind, or words with commas between. $2 is the option before it, as in --part=.
_crawlmill_value()
{
    local words
    case ${1%+} in
        _file) _crawlmill_paths default -f ;;
        _folder) _crawlmill_paths dirnames -d ;;
        _crawl | _index)
            words=$(_crawlmill_crawls)
            _crawlmill_offer "$2${words//$'\n'/ $2}"
            [[ $1 != _crawl* && ${#COMPREPLY[@]} -eq 0 ]] && _crawlmill_paths default -f ;;
        _other) ;;
        *) _crawlmill_offer "$2${1//,/ $2}" ;;
    esac
    return 0
}

_crawlmill()
{
    local IFS=$' \t\n' line word option cur= i before value= command= job= count=0 plain=
    local -a words options arguments
    COMPREPLY=() words=() options=() arguments=()

    # The words, with what readline has cut at = and : put together again; the last one up to the cursor.
    line=${COMP_LINE:0:COMP_POINT}
    for ((i = 0; i <= COMP_CWORD; i++)); do
        before=${line%%[![:space:]]*}
        line=${line#"$before"}
        word=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && word=$line
        line=${line#"$word"}
        if ((i > 0)) && [[ -z $before && ${#words[@]} -gt 1 ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words[${#words[@]}]=$word
        fi
    done
    cur=${words[${#words[@]} - 1]}

    _crawlmill_table ''
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        if [[ -n $value ]]; then
            value=
        elif [[ -z $plain && $word == -- ]]; then
            plain=1
        elif [[ -z $plain && $word == -* ]]; then
            for option in "${options[@]}"; do
                [[ $option == "$word="* ]] && value=${option#*=}
            done
            [[ $word == -r || $word == --runner ]] && _crawlmill_table "-r ${words[i + 1]}"
            [[ $word == --runner=* ]] && _crawlmill_table "-r ${word#*=}"
        elif [[ -z $command || ( $command == @PARENT@ && -z $job ) ]]; then
            options=() arguments=()
            if [[ -z $command ]]; then
                command=$word
                _crawlmill_table "$command"
            else
                job=$word
                _crawlmill_table "$command *"
                _crawlmill_table "$command $job"
            fi
        else
            count=$((count + 1))
        fi
    done

    if [[ -n $value ]]; then
        _crawlmill_value "$value" ''
    elif [[ -z $plain && $cur == --*=* ]]; then
        for option in "${options[@]}"; do
            [[ $option == "${cur%%=*}="* ]] && _crawlmill_value "${option#*=}" "${cur%%=*}="
        done
    elif [[ -z $plain && $cur == -* ]]; then
        _crawlmill_offer "${options[*]%%=*}"
    elif ((${#arguments[@]} > 0)); then
        i=$((${#arguments[@]} - 1))
        if ((count < i)); then
            _crawlmill_value "${arguments[count]}" ''
        elif ((count == i)) || [[ ${arguments[i]} == *+ ]]; then
            _crawlmill_value "${arguments[i]}" ''
        fi
    fi
    return 0
}

complete -F _crawlmill crawlmill
"""
