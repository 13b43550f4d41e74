"""The manual page: what troff makes of it, and that it names everything."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from crawlmill.cli.described import Command, Option, describe
from crawlmill.cli.jobs import job_names
from crawlmill.cli.main import COMMANDS
from crawlmill.cli.manual import manual_page


@pytest.fixture(scope="module")
def page():
    return manual_page(describe())


def plain(page):
    return re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")


def test_every_command_job_and_option_is_named(page):
    text = plain(page)
    for name in COMMANDS:
        assert f'.SS "crawlmill {name}"' in text
    for name in job_names():
        assert f'.SS "crawlmill run {name}"' in text
    options = {word for line in text.split("\n.TP\n") for word in re.findall(r"^(?:-\w, )?(--[a-z0-9-]+)", line)}
    root = describe()
    declared = {option.names for command in (*root.commands, *root.commands[0].commands) for option in command.options}
    names = {name for each in declared for name in each if name.startswith("--")} - {"--help", "--no-progress"}
    assert names <= options


def test_page_begins_as_pages_do_and_is_ascii(page):
    assert page.startswith('.TH CRAWLMILL 1 "" "crawlmill ')
    assert page.isascii()
    assert re.findall(r"^\.SH (.*)", page, re.MULTILINE)[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_troff_warns_of_nothing(page):
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8"], input=page, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr == ""
    assert "--s3-sse {AES256,aws:kms}" in re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)


def test_text_that_looks_like_a_request_stays_text():
    about = "First.\n\n.TH is no request, 'nor is this\n'this'\n\n  a \\ b"
    tiny = Command("x", "", "", (), commands=(Command("do", "", about, (Option(("--a-b",), ".5", None, False),)),))
    page = manual_page(tiny)
    assert "\n\\&.TH is no request" in page
    assert "\n\\&'this'\n" in page
    assert "\na \\e b\n" in page
    assert "\\&.5" in page
