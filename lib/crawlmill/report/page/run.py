"""The sections about the run and its inputs: the head of the page, run, inputs, losses, throughput, ledger."""

from __future__ import annotations

import shlex
from typing import Any, Final

from crawlmill.report.page import charts
from crawlmill.report.page.tables import pairs, table
from crawlmill.report.page.text import amount, count, duration, key, percent, plural, text
from crawlmill.units import size

__all__ = ["head", "headline", "inputs", "ledger", "losses", "name_of", "run", "throughput"]

Data = dict[str, Any]

_REASONS: Final = {
    "truncated": "the data ends too soon",
    "bad-checksum": "the data is not what was written: its checksum differs",
    "bad-compression": "compressed data that cannot be inflated",
    "bad-header": "the header of a record that cannot be read",
    "bad-length": "a record is not as long as it says",
    "bad-digest": "a digest that is stored with the data differs",
    "bad-json": "JSON that cannot be read",
    "bad-encoding": "text that is not in its encoding",
    "too-large": "larger than a limit of the job allows",
    "trailing-bytes": "bytes after the last record that belong to none",
    "unknown-format": "no known format",
    "unsupported-format": "a format that this job cannot read",
    "not-found": "nothing is there",
    "denied": "access was denied",
    "unavailable": "the storage did not answer, or broke off",
    "changed": "the file changed while it was read",
    "unaccounted": "no task has told what became of it",
}


def name_of(data: Data) -> str:
    """The job's name; unknown for a run without `_run.json`."""
    name = (data["run"] or {}).get("job")
    return name if isinstance(name, str) and name else "unknown job"


def headline(data: Data) -> str:
    """The outcome of the run, as a plain text sentence."""
    results, inputs = data["results"], data["inputs"]
    if results["kind"] == "counts":
        said = f"{results['total']:,} counted, under {plural(results['lines'], 'key')}"
    elif results["lines"] or not data["pictures"]:
        said = plural(results["lines"], "result")
    else:
        said = data["pictures"][0]["note"].partition(";")[0]
    if inputs is None:
        return f"{said}, from inputs that are not known."
    if inputs["ok"] == inputs["all"]:
        return f"{said}, from {plural(inputs['all'], 'input')}, of which nothing was lost."
    bad = " and ".join(f"{inputs[kind]:,} {kind}" for kind in ("partial", "failed") if inputs[kind])
    return f"{said}, from {plural(inputs['all'], 'input')}, of which {bad}."


def head(data: Data) -> str:
    """Title, sentence, warnings, and the most important numbers."""
    mark = "ok" if data["finished"] else "failed"
    said = "finished" if data["finished"] else "not finished"
    over = f'<p class="over">Crawlmill report <span class="mark {mark}">{said}</span></p>'
    lead = f'<h1>{text(name_of(data))}</h1><p class="lead">{text(headline(data))}</p>'
    facts = "".join(f"<div><dt>{name}</dt><dd>{fact}</dd></div>" for name, fact in _facts(data))
    return f'{over}{lead}{_warnings(data)}<dl class="facts">{facts}</dl>'


def _warnings(data: Data) -> str:
    found = ""
    if not data["finished"]:
        found += (
            '<p class="warning">This run is not finished: its folder has no <code>_SUCCESS</code>. '
            "Results may be missing.</p>"
        )
    if data["problems"]:
        lines = "".join(f"<li>{text(line)}</li>" for line in data["problems"])
        found += f'<div class="warning"><p>Not everything in the folder could be read:</p><ul>{lines}</ul></div>'
    return found


def _facts(data: Data) -> list[tuple[str, str]]:
    lines = data["results"]["lines"]
    facts = [("results", count(lines))] if lines or not data["pictures"] else []
    if data["inputs"] is not None:
        facts += [("inputs", count(data["inputs"]["all"])), ("records", count(data["records"]))]
        facts += [("read", amount(data["bytes"])), ("losses", count(sum(data["lost"].values())))]
    if data["throughput"]:
        facts.append(("time", text(duration(data["throughput"][-1][0]))))
    return facts


def run(data: Data) -> str:
    """What was run, when, and with what."""
    found = data["run"]
    if found is None:
        return "<p>Nothing is known of it: the folder has no <code>_run.json</code>.</p>"
    rows = [("Job", text(found.get("job", ""))), ("Runner", text(found.get("runner", "")))]
    arguments = found.get("arguments")
    if isinstance(arguments, list):
        rows.append(("Arguments", f"<code>{text(shlex.join(map(str, arguments)))}</code>"))
    rows += [(name.capitalize(), text(found[name])) for name in ("began", "ended") if name in found]
    if isinstance(found.get("seconds"), int | float):
        rows.append(("Took", text(duration(found["seconds"]))))
    versions = found.get("versions")
    if isinstance(versions, dict):
        named = {name: versions[name] for name in ("crawlmill", "mrjob", "python") if name in versions}
        rows.append(("Versions", text(", ".join(f"{name} {version}" for name, version in named.items()))))
    rows += [(name.capitalize(), text(found[name])) for name in ("platform", "core") if name in found]
    for name, what in (
        ("deselected", "records left out by the selectors"),
        ("truncated", "payloads cut by the crawler"),
    ):
        if type(found.get(name)) is int and found[name]:
            rows.append((what.capitalize(), count(found[name])))
    if isinstance(found.get("skipped"), dict):
        rows += [(f"Skipped: {name}", key(number)) for name, number in found["skipped"].items()]
    return pairs("What ran, when, and with what", rows)


def inputs(data: Data) -> str:
    """The outcomes of the inputs."""
    found = data["inputs"]
    if found is None:
        return "<p>What became of the inputs is not known: the folder has no <code>_ledger.jsonl</code>.</p>"
    kinds = ("ok", "partial", "failed")
    bar = charts.shares(
        "Inputs: " + ", ".join(f"{found[kind]:,} {kind}" for kind in kinds), [(k, found[k]) for k in kinds]
    )
    means = {
        "ok": "nothing was lost",
        "partial": "something was read and something lost",
        "failed": "nothing could be read",
    }
    rows = [
        [
            f'<span class="mark {kind}">{kind}</span>',
            count(found[kind]),
            percent(found[kind], found["all"]),
            means[kind],
        ]
        for kind in kinds
    ]
    rows.append(["all", count(found["all"]), "", f"{count(data['records'])} records, {amount(data['bytes'])}"])
    return bar + table("Inputs by what became of them", ["outcome", "#inputs", "#share", "meaning"], rows, kind="few")


def losses(data: Data) -> str:
    """What was lost, by reason."""
    if not data["lost"]:
        known = data["inputs"] is not None
        return "<p>Nothing was lost.</p>" if known else "<p>What was lost is not known.</p>"
    ranked = sorted(data["lost"].items(), key=lambda each: (-each[1], each[0]))
    rows = [[text(reason), count(number), text(_REASONS.get(reason, ""))] for reason, number in ranked]
    return table("Losses by reason", ["reason", "#number", "meaning"], rows, kind="few")


def throughput(data: Data) -> str:
    """The progress of the run over time."""
    points = data["throughput"]
    if not points:
        return "<p>How fast the run was is not known: its <code>_run.json</code> has no <code>progress</code>.</p>"
    seconds, *totals = points[-1]
    drawn = []
    for column, what in enumerate(("inputs", "records", "bytes"), 1):
        total = size(totals[column - 1]) if what == "bytes" else f"{totals[column - 1]:,} {what}"
        label = charts.bytes_label if what == "bytes" else None
        curve = [(point[0], point[column]) for point in points]
        drawn.append(charts.by_time(f"{total} after {duration(seconds)}", curve, what, label))
    rates = ""
    if seconds > 0:
        each = f"{totals[0] / seconds:,.1f} inputs, {totals[1] / seconds:,.0f} records"
        rates = f"<p>{each} and {size(int(totals[2] / seconds))} a second, on average.</p>"
    return f'{rates}<div class="charts">{"".join(drawn)}</div>'


def ledger(data: Data) -> str:
    """The ledger rows that are shown, the worst first, and the number of others."""
    shown, rows = data["ledger"]["shown"], data["ledger"]["rows"]
    if data["inputs"] is None:
        return "<p>The folder has no <code>_ledger.jsonl</code>.</p>"
    left = rows - len(shown)
    more = (
        f"<p>{count(left)} more rows are not shown; all are in <code>_ledger.jsonl</code>.</p>"
        if left
        else "<p>All rows; they are in <code>_ledger.jsonl</code>, too.</p>"
    )
    search = (
        '<p class="controls" data-scripted="" hidden><label>Find inputs <input type="search" autocomplete="off" '
        'spellcheck="false"></label> <span role="status"></span></p>'
    )
    columns = ["input", "outcome", "format", "#records", "#bytes", "lost"]
    return search + table("Inputs, the worst first", columns, map(_row, shown), kind="many ledger", sorts=True) + more


def _row(row: dict[str, Any]) -> list[str]:
    name = row["input"]
    where = f' <span class="more">from byte {row["offset"]:,}</span>' if row.get("length") and row.get("offset") else ""
    lost = ", ".join(f"{text(reason)} {count(number)}" for reason, number in row["lost"].items())
    why = f'<span class="more">{key(row["problem"])}</span>' if "problem" in row else ""
    outcome = row["outcome"]
    return [
        key(name) + (where if str(row.get("offset")) not in name else ""),
        f'<span class="mark {outcome}">{outcome}</span>',
        text(row["format"] or "–"),
        count(row["records"]),
        amount(row["bytes"]),
        f"{lost} {why}".strip() or "–",
    ]
