"""Tables of the page: each has a caption, and each row begins with a header cell."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from crawlmill.report.page.charts import bar
from crawlmill.report.page.text import count, item, key, percent

__all__ = ["bars", "pairs", "table"]


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "", sorts: bool = False
) -> str:
    """A table whose cells are HTML already.

    `columns` are names; one that begins with `#` is for numbers, one with `=` for bars, which has no visible name.
    `kind` are CSS classes. `sorts`: its headings become buttons if scripts run.
    """
    classes = ["bar" if name.startswith("=") else "number" if name.startswith("#") else "" for name in columns]
    names = [name.lstrip("#=") for name in columns]
    head = "".join(
        '<td class="bar"></td>' if is_bar == "bar" else f'<th scope="col"{_class(is_bar)}>{html.escape(name)}</th>'
        for name, is_bar in zip(names, classes, strict=True)
    )
    body = []
    for first, *others in rows:
        cells = "".join(
            f"<td{_class(of)}{_label(name)}>{cell}</td>"
            for cell, of, name in zip(others, classes[1:], names[1:], strict=True)
        )
        body.append(f'<tr><th scope="row">{first}</th>{cells}</tr>\n')
    sortable = ' data-sorts=""' if sorts else ""
    return (
        f'<table class="{kind}"{sortable}><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def bars(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    total: int | None = None,
    sorts: bool = False,
) -> str:
    """A table of keys and numbers with a bar each; with a total, also its share. Further cells of a row come last."""
    largest = max((row[1] for row in rows), default=0)
    share = total is not None and total > 0
    more = [f"#{name}" if any(type(row[at]) is int for row in rows) else name for at, name in enumerate(columns[2:], 2)]
    heads = [columns[0], f"#{columns[1]}", *(["#share"] if share else []), "=", *more]
    cells = (
        [
            key(row[0]),
            count(row[1]),
            *([percent(row[1], total or 0)] if share else []),
            bar(row[1], largest),
            *map(item, row[2:]),
        ]
        for row in rows
    )
    return table(caption, heads, cells, kind="bars many" if more else "bars", sorts=sorts)


def pairs(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and values, which are HTML already, without a header."""
    body = "".join(f'<tr><th scope="row">{html.escape(name)}</th><td>{value}</td></tr>\n' for name, value in rows)
    return f'<table class="pairs"><caption>{html.escape(caption)}</caption><tbody>{body}</tbody></table>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _label(name: str) -> str:
    return f' data-label="{html.escape(name)}"' if name else ""
