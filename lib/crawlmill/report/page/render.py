"""Renders the page to bytes: the same for the same data, and always less than a megabyte.

The page may load nothing, and run only the script and the style inside it: its policy contains their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

from crawlmill.report.inputs import MIN_SHOWN
from crawlmill.report.page import results, run
from crawlmill.report.page.text import text

__all__ = ["MAX_PAGE", "render"]

Data = dict[str, Any]

MAX_PAGE: Final = 1_000_000
"""Bytes that a page has less of."""

_LIMITS: Final = [
    (4000, 1000, 500),
    (1000, 500, MIN_SHOWN),
    (300, 100, MIN_SHOWN),
    (100, 50, MIN_SHOWN),
    (30, 10, MIN_SHOWN),
]
"""What is tried until a page is small enough: characters of a text, items of a list, rows of the ledger."""

_SHORTENED: Final = (
    '<p class="warning">Long texts and lists are cut, to keep this page below a megabyte; '
    "the run's folder has them whole.</p>"
)
_FOOTER: Final = (
    "<p>Made by <code>crawlmill report</code>. The numbers are in this page as JSON, too: "
    "<code>#crawlmill-report</code>.</p>"
)


def render(data: Data) -> bytes:
    """Render the data from `gather`; what does not fit into a megabyte is shortened, and the page says so."""
    page = _page(data)
    limits = iter(_LIMITS)
    while len(page) >= MAX_PAGE and (limit := next(limits, None)) is not None:
        characters, items, rows = limit
        given = _shortened(data, characters, items)
        given["ledger"] = _shortened(data["ledger"], characters, rows)
        given["throughput"] = data["throughput"]  # it has few points
        given["results"]["rank_frequency"] = data["results"]["rank_frequency"]
        page = _page({**given, "shortened": True})
    return page


def _page(data: Data) -> bytes:
    style, script = (files(__package__).joinpath(name).read_text() for name in ("style.css", "script.js"))
    sections = [(name, title, body) for name, title, make in _sections(data) if (body := make(data))]
    links = "".join(f'<li><a href="#{name}">{text(title)}</a></li>' for name, title, _ in sections)
    bodies = "".join(f'<section id="{name}"><h2>{text(title)}</h2>{body}</section>\n' for name, title, body in sections)
    embedded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(run.name_of(data))}: {text(run.headline(data))}</title>\n<style>{style}</style></head>\n<body>\n"
        f"<header>{run.head(data)}{_SHORTENED if 'shortened' in data else ''}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n'
        f"<main>{bodies}</main>\n<footer>{_FOOTER}</footer>\n"
        f'<script type="application/json" id="crawlmill-report">{embedded}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )
    return page.encode("utf-8", "backslashreplace")


def _policy(style: str, script: str) -> str:
    """The content security policy: only what is in the page."""
    rules = ["default-src 'none'", f"style-src '{_digest(style)}'", f"script-src '{_digest(script)}'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _sections(data: Data) -> list[tuple[str, str, Callable[[Data], str]]]:
    """Name, title and renderer of each section, in order; empty sections are left out."""
    found: list[tuple[str, str, Callable[[Data], str]]] = [
        ("pictures", "At a glance", results.pictures),
        ("top", "Largest results" if data["results"]["kind"] == "counts" else "Results", results.top),
        ("groups", "Table by table", results.groups),
        ("distribution", "Distribution", results.distribution),
        ("inputs", "Inputs", run.inputs),
        ("losses", "Losses", run.losses),
        ("throughput", "Throughput", run.throughput),
        ("ledger", "Ledger", run.ledger),
        ("run", "Run", run.run),
    ]
    if data["compare"] is not None:
        found.insert(1, ("compare", f"Compared with {data['compare']['out']}", results.comparison))
    return found


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _shortened(value: Any, characters: int, items: int) -> Any:
    """The value with long texts and lists cut."""
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}…"
    if isinstance(value, list):
        return [_shortened(each, characters, items) for each in value[:items]]
    if isinstance(value, dict):
        kept = list(value.items())[: max(items, 100)]
        return {name[:characters]: _shortened(each, characters, items) for name, each in kept}
    return value
