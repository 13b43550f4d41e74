"""The page in a browser, with its script and its policy: what only a browser can show."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import shutil
import subprocess

import pytest
from tests.report.conftest import row

from crawlmill.report.data import gather
from crawlmill.report.page.render import render
from crawlmill.storage import Storage

REQUIRED = os.environ.get("CRAWLMILL_REQUIRE_ENGINES") == "1"

# Runs after the page's own script: presses what a user would press, and says what came of it in the title.
PRESSES = """
const said = [], rows = (section) => [...document.querySelectorAll(`#${section} tbody tr`)].filter((row) => row.offsetParent);
const keys = () => rows("top").map((row) => row.cells[0].textContent).join(",");
const widths = () => rows("top").map((row) => Math.round(row.querySelector("[data-bar]").getBoundingClientRect().width));
const press = (column) => {
  document.querySelectorAll("#top thead th")[column].querySelector("button").click();
  said.push([...document.querySelectorAll("#top [aria-sort]")].map((head) => head.getAttribute("aria-sort")).join() + " " + keys());
};
said.push(document.documentElement.scrollWidth <= document.documentElement.clientWidth ? "fits" : "too wide");
const [longest, second] = widths();
said.push(Math.abs(second / longest - 0.1) < 0.02 ? "true bars" : "false bars");
press(1); press(1); press(0); press(2);
document.querySelector("#top .controls input").click();
said.push(Math.max(...widths()) === longest && widths().every((width) => width > longest / 12) ? "log bars" : "no log bars");
const search = document.querySelector("#ledger input");
search.value = "PARTIAL"; search.dispatchEvent(new Event("input"));
said.push(rows("ledger").length + " row; " + document.querySelector("#ledger [role=status]").textContent);
fetch("http://127.0.0.1:9/").catch(() => {
  said.push("held back");
  document.title = said.join("; ");
});
"""


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_sorts_searches_and_switches_within_its_policy(folder, tmp_path, width):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        assert not REQUIRED, "no Chromium here (apt-get install chromium)"
        pytest.skip("no Chromium here")
    rows = [row("a.warc.gz"), row("b.warc.gz", "partial", 5, 10, {"truncated": 1}), row("c" * 4000, message="x" * 4000)]
    out = folder(pairs=[["b", 1000], ["a", 100], ["C", 50], ["</script>" + "W" * 9000, 1]], rows=rows)
    page = render(gather(str(out), Storage(), top=50)).decode()
    # The policy stays as it is, but for the digest of one more script.
    digest = base64.b64encode(hashlib.sha256(PRESSES.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    (tmp_path / "page.html").write_text(page.replace("</body>", f"<script>{PRESSES}</script></body>"))
    done = subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-proxy-server",
            f"--window-size={width},800",
            f"--user-data-dir={tmp_path}/profile",
            "--virtual-time-budget=5000",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
        encoding="utf-8",
    )
    long = "</script>" + "W" * 191 + "…"
    said = html.unescape(re.search("<title>(.*?)</title>", done.stdout)[1]).split("; ")
    assert said == [
        "fits",
        "true bars",
        f"descending b,a,C,{long}",
        f"ascending {long},C,a,b",
        f"ascending {long},a,b,C",
        f"descending b,a,C,{long}",
        "log bars",
        "1 row",
        "1 of 3 rows",
        "held back",
    ]
