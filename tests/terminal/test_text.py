"""No control character reaches a terminal or a field raw, whoever put it into a name, a list, a ledger or a record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import pack, response, warcinfo
from tests.mr.helpers import SCRIPTS, environment

from crawlmill.errors import SourceError
from crawlmill.inputs.list_lines import parse_line
from crawlmill.ledger.input_lines import as_line
from crawlmill.terminal.text import json_visible, visible, visible_field, visible_lines

CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
NASTY = "a\x1b[31m\x9b1m\x7fb\nc\td\re\x85"


@pytest.mark.parametrize("code", CONTROLS)
def test_every_control_character_is_escaped(code):
    raw = chr(code)
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(raw, f"\\x{code:02x}")
    assert visible(f"a{raw}b") == visible_field(f"a{raw}b") == f"a{named}b"
    assert visible_lines(f"a{raw}b") == ("a\nb" if raw == "\n" else f"a{named}b")
    shown = json_visible(json.dumps(f"a{raw}b", ensure_ascii=False))
    assert (json.loads(shown), visible(shown)) == (f"a{raw}b", shown)


def test_other_characters_stand_as_they_are():
    text = "aé\u00a0\u4e2d\U0001f600\\ \udce9"
    assert visible(text) == visible_lines(text) == json_visible(text) == text
    assert visible_field("a\\b") == "a\\\\b"


def test_message_of_an_error_is_free_of_them():
    assert str(SourceError(f"x{NASTY}", reason="denied", source=NASTY, actual=NASTY)).isprintable()


def no_controls(data: bytes, *allowed: str) -> str:
    text = data.decode("utf-8", "surrogateescape")
    assert not {each for each in text if ord(each) in CONTROLS} - set(allowed), repr(text)
    return text


@pytest.fixture
def mill(tmp_path):
    def run(*arguments, stdin=b""):
        command = [sys.executable, "-m", "crawlmill", *arguments]
        ended = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment(), check=False, input=stdin)
        assert b"Traceback" not in ended.stderr
        no_controls(ended.stderr, "\n")
        return ended

    return run


def test_commands_print_none_of_the_names_they_are_given(mill, tmp_path):
    (tmp_path / NASTY).write_bytes(pack([warcinfo(), response(f"http://e.org/{NASTY}".replace("\n", " "))]))
    url = f"file://{tmp_path}/a%0a%1b%9b"
    for command in (
        ("check", NASTY, "gone" + NASTY, url),
        ("check", "--nosuch" + NASTY),
        ("nosuch" + NASTY,),
        ("cat", url, "--offset", "0"),
        ("plan", NASTY),
        ("plan", url),
        ("ledger", NASTY),
        ("sample", NASTY),
        ("simhash", "--charset", NASTY, "x"),
    ):
        no_controls(mill(*command).stdout, "\n")
    for command in (("records", NASTY, "gone" + NASTY), ("simhash", NASTY)):
        no_controls(mill(*command).stdout, "\n", "\t")
    table = mill("records", "--fields", "uri,file", NASTY, NASTY).stdout.decode().split("\n")
    assert [line.count("\t") for line in table[:-1]] == [2] * 5
    for command in (("records", "--json", NASTY), ("check", "--json", NASTY)):
        lines = no_controls(mill(*command).stdout, "\n").split("\n")
        assert all(json.loads(line) for line in lines[:-1])


def test_lines_of_a_list_reach_no_terminal_raw(tmp_path):
    name = NASTY.replace("\n", "").replace("\t", "")
    lst = tmp_path / "l"
    lst.write_bytes(f"{name}\n{json.dumps({'filename': NASTY})}\nx\tno{name}\t7\n".encode())
    job = [sys.executable, str(SCRIPTS / "mime_count.py"), "--no-conf", "-r", "inline"]
    for arguments in ([lst], ["--ledger", tmp_path / "x" / NASTY, lst], [tmp_path / NASTY], [f"--no{NASTY}"]):
        ended = subprocess.run([*job, *map(str, arguments)], capture_output=True, env=environment(), check=False)
        no_controls(ended.stderr, "\n")
        assert ended.returncode == 1
        assert len(ended.stderr.splitlines()) == 1
    lst.write_bytes(f"{name}\n{json.dumps({'filename': NASTY})}\n".encode())
    ended = subprocess.run([*job, str(lst)], capture_output=True, env=environment(), check=False)
    assert ended.returncode == 2
    no_controls(ended.stderr, "\n")


def test_ledger_with_control_characters_gives_a_list_that_names_the_same_inputs(mill, tmp_path):
    names = [
        NASTY,
        "plain",
        "-> \x1b]0;title\x07",
        " blank ",
        "#x",
        "{x",
        'com,e)/ 20260101000000 {"filename": "y"}',
        "warc_filename",
        "half \udce9",
        "é",
    ]
    row = {"format": None, "records": 0, "bytes": 0, "verified": True, "lost": {"not-found": 1}}
    problem = {"reason": "not-found", "offset": None, "expected": None, "actual": None, "message": NASTY}
    with (tmp_path / "ledger").open("w") as file:
        for name in names:
            file.write(json.dumps({"input": name, "location": name, **row, "problems": [problem]}) + "\n")
    no_controls(mill("ledger", "ledger").stdout, "\n")
    lines = no_controls(mill("ledger", "--failed", "ledger").stdout, "\n").splitlines()
    assert [parse_line(line)[0] for line in lines] == names
    assert lines[1] == "plain"
    assert lines[-1] == "é"


def test_line_of_a_range_is_read_back():
    for name in ("plain", NASTY, "#x"):
        assert parse_line(as_line(name, 5, 7)) == (name, 5, 7)


@pytest.mark.skipif(not Path("/dev/tty").exists(), reason="no terminals here")
def test_what_is_drawn_on_a_terminal_is_free_of_them(tmp_path):
    import pty  # noqa: PLC0415 - not on every system

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crawlmill", "check", "gone" + NASTY]
    subprocess.run(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment(), check=False)
    assert b"\x1b" not in os.read(ours, 65536)
