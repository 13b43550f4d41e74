"""The completion scripts, in the shells that they are for: what a user gets who presses TAB."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.mr.helpers import HANG_S

from crawlmill.cli.completion import SHELLS
from crawlmill.cli.described import Kind, describe
from crawlmill.cli.jobs import job_names
from crawlmill.cli.main import COMMANDS

CRAWL = "CC-MAIN-2931-07"
BUNDLED = "CC-MAIN-2013-20"


@pytest.fixture(scope="module")
def root():
    return describe()


@pytest.fixture(scope="module")
def home(tmp_path_factory, root) -> Path:
    """A folder with the scripts, a cached list of crawls, and files to complete."""
    folder = tmp_path_factory.mktemp("home")
    for shell, script in SHELLS.items():
        (folder / f"crawlmill.{shell}").write_text(script(root, [BUNDLED]))
    (folder / "cache" / "crawlmill").mkdir(parents=True)
    listed = [{"id": CRAWL, "name": "a"}, {"id": "CC-MAIN-2024-10", "name": "b"}]
    (folder / "cache" / "crawlmill" / "collinfo.json").write_text(json.dumps(listed))
    (folder / "work" / "some folder").mkdir(parents=True)
    (folder / "work" / "some.paths").touch()
    return folder


def environment(home: Path, cache: str = "cache") -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / cache),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


def in_shell(shell: str, home: Path, code: str, *options: str, cache: str = "cache") -> str:
    done = subprocess.run(
        [needs(shell), *options, "-c", code],
        env=environment(home, cache),
        cwd=home / "work",
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


LOADING = {
    "bash": (("--norc", "--noprofile", "-eu"), ""),
    "zsh": (("-f",), "autoload -U compinit; compinit -u -D; "),
    "fish": (("--no-config",), ""),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_script_says_nothing_when_it_is_sourced(home, shell):
    options, before = LOADING[shell]
    assert in_shell(shell, home, f"{before}source {home}/crawlmill.{shell}", *options) == ""


def test_zsh_script_says_nothing_without_compinit(home):
    assert in_shell("zsh", home, f"source {home}/crawlmill.zsh", "-f") == ""


# What bash makes of a line: `=` and `:` are words of their own.
_BASH = """
source {home}/crawlmill.bash
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
_crawlmill crawlmill; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered_by_bash(home: Path, line: str, cache: str = "cache") -> list[str]:
    words = line.replace("=", " = ").replace(":", " : ").split()
    if line.endswith(" "):
        words.append("")
    quoted = " ".join(f"'{word}'" for word in words)
    out = in_shell("bash", home, _BASH.format(home=home, words=quoted, line=line), *LOADING["bash"][0], cache=cache)
    return sorted(filter(None, out.split("\n")))


def offered_by_fish(home: Path, line: str, cache: str = "cache") -> list[str]:
    out = in_shell("fish", home, f"source {home}/crawlmill.fish; complete -C '{line}'", "--no-config", cache=cache)
    return sorted({row.partition("\t")[0] for row in out.split("\n") if row})


OFFERS = {"bash": offered_by_bash, "fish": offered_by_fish}
OFFERED = [
    ("crawlmill ", sorted(COMMANDS)),
    ("crawlmill rec", ["records"]),
    ("crawlmill records --sha", ["--sha256"]),
    ("crawlmill completion ", ["bash", "fish", "zsh"]),
    ("crawlmill cat x --part ", ["headers", "payload", "raw", "record", "text"]),
    ("crawlmill cat --offset 3 --part ra", ["raw"]),
    ("crawlmill run ", job_names()),
    ("crawlmill run tag", ["tag_count"]),
    ("crawlmill run tag_count --on-bad-input ", ["fail", "skip"]),
    ("crawlmill run near_duplicates --max-dis", ["--max-distance"]),
    ("crawlmill run tag_count --max-dis", []),
    ("crawlmill run tag_count -r ", ["emr", "hadoop", "inline", "local", "spark"]),
    ("crawlmill run tag_count --cluster-", []),
    ("crawlmill run tag_count -r emr --cluster-id", ["--cluster-id"]),
    ("crawlmill run tag_count --ret", ["--retries"]),
    ("crawlmill run tag_count --retries ", []),
    ("crawlmill run tag_count s", ["some folder/", "some.paths"]),
    ("crawlmill sample s", ["some folder/"]),
    (f"crawlmill paths {CRAWL[:11]}", [CRAWL]),
    (f"crawlmill paths {CRAWL} wa", ["warc", "wat"]),
    (f"crawlmill paths --head 3 {CRAWL} wa", ["warc", "wat"]),
    ("crawlmill lookup --index CC-MAIN-29", [CRAWL]),
    ("crawlmill lookup --index some.p", ["some.paths"]),
]


@pytest.mark.parametrize("shell", OFFERS)
def test_commands_options_values_and_files_are_offered(home, shell):
    for line, words in OFFERED:
        found = [word.replace("\\ ", " ") for word in OFFERS[shell](home, line)]
        if shell == "bash":  # outside of readline folders are names, too
            words = [word.rstrip("/") for word in words]
        if line == "crawlmill ":
            found = [word for word in found if not word.startswith("-")]
        assert found == sorted(words), line


@pytest.mark.parametrize("shell", OFFERS)
def test_crawls_of_the_package_are_offered_until_there_is_a_cached_list(home, shell):
    assert OFFERS[shell](home, "crawlmill paths CC-MAIN-20", cache="no-cache") == [BUNDLED]


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("bash", "export CRAWLMILL_CACHE={}; source {}/crawlmill.bash; _crawlmill_crawls"),
        ("fish", "set -x CRAWLMILL_CACHE {}; source {}/crawlmill.fish; __crawlmill_crawls"),
    ],
)
def test_cache_folder_of_the_user_is_looked_in(home, shell, code):
    (home / "collinfo.json").write_text('[{"id": "CC-MAIN-2999-01"}]')
    assert in_shell(shell, home, code.format(home, home), *LOADING[shell][0]) == "CC-MAIN-2999-01\n"


def test_every_option_of_every_command_and_job_is_offered_by_bash(home, root):
    """One shell asks for all of them."""
    lines, wanted = [], []
    for command in root.commands:
        for each in command.commands or (command,):
            name = each.name if each is command else f"{command.name} {each.name}"
            words = " ".join(f"'{word}'" for word in f"crawlmill {name}".split())
            lines.append(
                f"COMP_WORDS=({words} --); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE='crawlmill {name} --'; "
                'COMP_POINT=${#COMP_LINE}; _crawlmill; echo "${COMPREPLY[*]}"'
            )
            wanted.append({word for option in each.options for word in option.names if word.startswith("--")})
    out = in_shell("bash", home, "\n".join([f"source {home}/crawlmill.bash", *lines]), *LOADING["bash"][0])
    assert [set(line.split()) for line in out.splitlines()] == wanted
    assert {"--output-dir", "--top", "--max-body"} <= wanted[0] | wanted[-1] | set().union(*wanted)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("crawlmill cat --part=te", ["text"]),
        ("crawlmill cat --part=", ["headers", "payload", "raw", "record", "text"]),
        ("crawlmill cat --s3-sse aws:k", ["kms"]),
        ("crawlmill cat --s3-sse=aws:", ["kms"]),
        ("crawlmill run tag_count --runner=emr --cluster-id", ["--cluster-id"]),
        ("crawlmill run tag_count --ledger=some.p", ["some.paths"]),
        ("crawlmill cat -- --part", []),
        (f"crawlmill paths {CRAWL} warc ", []),
    ],
)
def test_bash_keeps_together_what_readline_cuts(home, line, offered):
    assert offered_by_bash(home, line) == offered


class Terminal:
    """A shell at a terminal. `complete` types a line and TAB; the line that results."""

    def __init__(self, home: Path, *command: str) -> None:
        self._said = home / "said"
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(home / "work")
            os.execve(command[0], command, environment(home))

    def send(self, text: str) -> str:
        """Type, and wait for what the shell writes to the file `said`, up to a |."""
        self._said.unlink(missing_ok=True)
        os.write(self._terminal, text.encode())
        seen, until = b"", time.monotonic() + HANG_S
        while time.monotonic() < until:
            if select.select([self._terminal], [], [], 0.05)[0]:
                seen += os.read(self._terminal, 65536)
            if self._said.exists() and (said := self._said.read_text()).endswith("|"):
                return said[:-1]
        raise AssertionError(f"no answer to {text!r}: {seen.decode(errors='replace')[-500:]}")

    def complete(self, line: str) -> str:
        return self.send(f"{line}\t\x07")

    def close(self) -> None:
        os.close(self._terminal)
        os.kill(self._process, 9)
        os.waitpid(self._process, 0)


COMPLETED = [
    ("crawlmill reco", "crawlmill records "),
    ("crawlmill records --sha", "crawlmill records --sha256 "),
    ("crawlmill run tag", "crawlmill run tag_count "),
    ("crawlmill run tag_count --on-bad-input f", "crawlmill run tag_count --on-bad-input fail "),
    ("crawlmill run tag_count --on-bad-input=f", "crawlmill run tag_count --on-bad-input=fail "),
    ("crawlmill run tag_count -r emr --cluster-i", "crawlmill run tag_count -r emr --cluster-id "),
    ("crawlmill run near_duplicates --max-d", "crawlmill run near_duplicates --max-distance "),
    ("crawlmill run tag_count --max-d", "crawlmill run tag_count --max-d"),
    ("crawlmill cat --s3-sse aws:k", "crawlmill cat --s3-sse aws:kms "),
    (f"crawlmill paths {CRAWL[:11]}", f"crawlmill paths {CRAWL} "),
    (f"crawlmill paths {CRAWL} warc", f"crawlmill paths {CRAWL} warc "),
    ("crawlmill lookup --index CC-MAIN-29", f"crawlmill lookup --index {CRAWL} "),
    ("crawlmill lookup --index some.p", "crawlmill lookup --index some.paths "),
    ("crawlmill check some.p", "crawlmill check some.paths "),
    ("crawlmill sample some", "crawlmill sample some\\ folder/"),
]


@pytest.fixture
def terminal_of_bash(home):
    shell = Terminal(home, needs("bash"), "--norc", "--noprofile", "-i")
    said = f'printf "%s|" "$READLINE_LINE" >{home}/said; READLINE_LINE='
    shell.send(f"PS1=; source {home}/crawlmill.bash; bind -x '\"\\C-g\": {said}' ; printf '|' >{home}/said\r")
    yield shell
    shell.close()


@pytest.fixture
def terminal_of_zsh(home):
    shell = Terminal(home, needs("zsh"), "-f", "-i")
    shell.send(
        f"PROMPT=; unsetopt beep; autoload -U compinit; compinit -u -D; source {home}/crawlmill.zsh; "
        f"_said() {{ print -rn -- \"$BUFFER|\" >| {home}/said; BUFFER=; }}; zle -N _said; bindkey '^G' _said; "
        f"bindkey '^I' complete-word; print -n '|' >| {home}/said\r"
    )
    yield shell
    shell.close()


@pytest.mark.skipif(sys.platform != "linux", reason="terminals of tests are made for Linux")
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tab_at_a_terminal_completes_the_line(request, shell):
    terminal = request.getfixturevalue(f"terminal_of_{shell}")
    for line, completed in COMPLETED:
        assert terminal.complete(line).rstrip() == completed.rstrip(), line


def test_values_are_known_by_their_placeholders(root):
    commands = {command.name: command for command in root.commands}
    values = {name: option.value for option in commands["lookup"].options for name in option.names}
    assert values["--index"].kind is Kind.INDEX
    assert values["--limit"].kind is Kind.OTHER
    assert values["--count"] is None
    assert values["--match"].words == ("exact", "prefix", "host", "domain")
    assert [each.value.kind for each in commands["paths"].arguments] == [Kind.CRAWL, Kind.WORDS]
    assert all("%" not in option.help.replace("100%", "").replace("5%", "") for option in commands["copy"].options)


def test_command_prints_the_script_and_nothing_else(run, root, home):
    code, out, err = run("completion", "fish")
    assert (code, err) == (0, "")
    assert out.decode().partition("printf")[0] == (home / "crawlmill.fish").read_text().partition("printf")[0]


def test_unknown_shell_is_one_line(run):
    code, out, err = run("completion", "tcsh")
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert "tcsh" in err
