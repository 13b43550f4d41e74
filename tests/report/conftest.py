"""Output folders of runs, written by hand."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

RUN = {
    "job": "tag_count",
    "runner": "inline",
    "arguments": ["-r", "inline", "it's a list.paths"],
    "began": "2026-01-01T00:00:00.000+00:00",
    "ended": "2026-01-01T00:00:02.000+00:00",
    "seconds": 2.0,
    "progress": [[0.0, 0, 0, 0], [1.0, 1, 10, 1000], [2.0, 3, 15, 3000]],
}


def row(name, outcome="ok", records=5, size=1000, lost=None, message="gone"):
    """A row of a ledger, as a run writes it."""
    lost = lost or {}
    problems = [
        {"reason": reason, "offset": 7, "expected": None, "actual": None, "message": message} for reason in lost
    ]
    return {
        "input": name,
        "location": f"/{name}",
        "format": None if outcome == "failed" else "warc",
        "outcome": outcome,
        "records": records,
        "bytes": size,
        "verified": True,
        "lost": lost,
        "problems": problems,
    }


ROWS = [
    row("a.warc.gz"),
    row("b.warc.gz", "failed", 0, 0, {"not-found": 1}),
    row("c.warc.gz", "partial", 10, 2000, {"truncated": 1, "bad-checksum": 2}),
]


@pytest.fixture
def folder(tmp_path):
    """Writes an output folder: its name, its pairs (or lists of them, a part each); the folder."""

    def write(name="out", pairs=(), *, rows=ROWS, run=RUN, parts=None, success=True):
        target = tmp_path / name
        target.mkdir()
        for number, part in enumerate(parts if parts is not None else [pairs]):
            text = "".join(f"{json.dumps(k, ensure_ascii=False)}\t{json.dumps(v)}\n" for k, v in part)
            (target / f"part-{number:05}").write_text(text, encoding="utf-8")
        if rows is not None:
            (target / "_ledger.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
        if run is not None:
            (target / "_run.json").write_text(json.dumps(run))
        if success:
            (target / "_SUCCESS").touch()
        return target

    return write


class Page(HTMLParser):
    """A page as a browser without scripts has it: elements with attributes, text by element, cells of tables."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.data = [], [], ""
        self.texts, self.tables, self.headings = {}, {}, []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs))
        if tag == "section":
            self.section = attrs["id"]
        if tag == "tr":
            self.tables.setdefault(getattr(self, "section", None), []).append([])
        if tag in ("th", "td") and self.tables:
            self.tables[self.section][-1].append("")
        if tag not in ("meta", "rect", "line", "path", "circle", "input"):
            self.open.append((tag, attrs))

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if self.open and self.open[-1][1].get("id") == "crawlmill-report":
            self.data += data
        elif "script" not in tags and "style" not in tags:
            if "section" in tags:
                self.texts[self.section] = self.texts.get(self.section, "") + data
            if tags and tags[-1] in ("h1", "h2", "h3", "title"):
                self.headings.append((tags[-1], data))
            if {"th", "td"} & set(tags):
                self.tables[self.section][-1][-1] += data

    def json(self):
        """The page's data."""
        return json.loads(self.data)
