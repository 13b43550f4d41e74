"""The pages keep up with the code: help pages, options, reasons, version; and they speak of nothing but the project."""

from __future__ import annotations

import importlib.util
import re

import pytest
from tests.docs.pages import PAGES, PROJECT, blocks, matches, vague

import crawlmill
from crawlmill.errors import ACCESS_REASONS, DATA_REASONS

GENERATED = ("commands.md", "jobs.md")
WRITTEN = [page for page in PAGES if page.name not in GENERATED]


def help_pages():
    spec = importlib.util.spec_from_file_location("help_pages", PROJECT / "tools" / "help_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def words(text):
    """The words, as every Python prints them: before 3.13 the value of an option stood behind each of its names."""
    return re.sub(r"(?<=\s)(-\w) (\S+), (--[\w-]+) \2", r"\1, \3 \2", text).split()


@pytest.mark.slow
def test_help_pages_say_what_the_help_says():
    for page, content in help_pages().items():
        assert words(page.read_text(encoding="utf-8")) == words(content), f"{page.name}: run python tools/help_pages.py"


OF_OTHER_PROGRAMS = {"installing.md": {"--build-arg", "--rm", "--user"}, "shipping.md": {"--extras"}}


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_options_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    known = "".join((PROJECT / "docs" / name).read_text(encoding="utf-8") for name in GENERATED)
    declared = "".join(block.text for block in blocks(page) if block.kind == "python")
    existing = set(re.findall(r"--[a-z][a-z-]*[a-z]", known + declared)) | OF_OTHER_PROGRAMS.get(page.name, set())
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)) <= existing


def table(page, heading):
    """The first cells of the table below a heading, without their backquotes."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    section = text[text.index(f"\n## {heading}\n") + 1 :].partition("\n## ")[0]
    return re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)


def test_ledger_page_names_every_reason_once():
    assert sorted(table("ledger.md", "Reasons")) == sorted(DATA_REASONS + ACCESS_REASONS)


def test_examples_of_messages_are_of_known_reasons():
    assert set(table("reading-guarantees.md", "How damage is reported")) <= set(DATA_REASONS + ACCESS_REASONS)


def test_changelog_begins_with_this_version():
    first = re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first[1] == crawlmill.__version__


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_speaks_of_nothing_that_its_reader_has_not(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"#\d+\b|\bissue \d|\.\./shared|/work/|/root/|/tmp/|acceptance|TODO|coming soon", text)


@pytest.mark.parametrize(
    ("expected", "printed", "agree"),
    [
        (["a"], "a\n", True),
        (["a"], "a", True),
        (["a"], "a\nb\n", False),
        ([], "", True),
        ([], "a\n", False),
        (["a … c"], "a b c\n", True),
        (["a … c"], "a b\nc\n", False),
        (["…", "z"], "x\ny\nz\n", True),
        (["…", "z"], "z\n", True),
        (["a.c"], "abc\n", False),
    ],
)
def test_shown_output_matches_what_is_printed_and_nothing_else(expected, printed, agree):
    assert matches(expected, printed) is agree


@pytest.mark.parametrize(("expected", "what"), [(["…"], "nothing but …"), (["a…"], "a…"), (["12345678…", "…"], None)])
def test_shown_output_of_wildcards_alone_is_refused(expected, what):
    assert vague(expected) == what
