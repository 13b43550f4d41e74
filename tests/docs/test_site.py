"""The site: all pages are in its navigation, every link leads somewhere, and nothing comes from another place."""

from __future__ import annotations

import html.parser
import importlib.util
import re
import subprocess
import sys
from urllib.parse import unquote

import pytest
from tests.docs.pages import PROJECT

BUILD = PROJECT / "tools" / "site" / "build.py"


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_site", BUILD)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sections_become_tables_of_contents_and_pages_without_one_are_not_lost(builder):
    index = "# A\n\n[x](x.md)\n\n## Start\n\n- [One](one.md): first\n- [Up](../UP.md)\n\n## End\n\n- [Two?](two.md)\n"
    made = builder.navigation(index, {"index", "one", "two", "UP", "new"})
    tables = re.findall(r"```\{toctree\}\n:hidden:\n:caption: (.*)\n\n((?:[\w-]+\n)+)```", made)
    assert tables == [("Start", "one\nUP\n"), ("End", "two\n"), ("More", "new\n")]


def test_picture_of_mermaid_becomes_a_list(builder):
    picture = (
        "```mermaid\nflowchart TD\n    a[a]\n    b_c[b.c]\n    d[d]\n    a --> b_c\n    a --> d\n    b_c --> d\n```"
    )
    assert builder._MERMAID.sub(builder.as_list, picture) == "```text\na    →  b.c, d\nb.c  →  d\n```"


class Page(html.parser.HTMLParser):
    """What a page loads, where it links to, and the names in it."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.add(attributes.get("id"))
        if tag == "a":
            self.links.append(attributes.get("href") or "")
        elif tag == "link" and attributes.get("rel") == "canonical":
            return
        else:
            self.loaded += [attributes[name] for name in ("src", "href", "data") if attributes.get(name)]


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("sphinx"), reason="Sphinx is not installed: pip install '.[docs]'")
def test_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    done = subprocess.run(
        [sys.executable, str(BUILD), str(tmp_path / "site")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in (tmp_path / "site").glob("*.html")}
    assert set(pages) >= {"index.html", "search.html", "jobs.html", "CHANGELOG.html", "CONTRIBUTING.html"}
    for name, page in pages.items():
        for target in page.loaded:
            assert not re.match(r"https?:|//", target), f"{name} loads {target}"
            assert target.startswith(("data:", "#")) or (tmp_path / "site" / target.partition("?")[0]).exists(), target
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"https?:|mailto:", link):
                continue
            assert not target or (tmp_path / "site" / target).exists(), f"{name} links to {link}"
            if anchor and (target or name) in pages:
                assert unquote(anchor) in pages[target or name].names, f"{name} links to {link}"
    assert "Search.setIndex(" in (tmp_path / "site" / "searchindex.js").read_text(encoding="utf-8")
