"""`crawlmill report` as a user runs it."""

from __future__ import annotations

import pytest
from tests.cli.conftest import run  # noqa: F401 - a fixture


def test_the_page_goes_into_the_folder_or_where_it_is_wanted(run, folder, tmp_path):  # noqa: F811
    out = folder(pairs=[["div", 2]])
    assert run("report", out) == (0, f"{out}/_report.html\n".encode(), "")
    page = (out / "_report.html").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert run("report", f"{out}/", "-o", tmp_path / "x.html") == (0, f"{tmp_path}/x.html\n".encode(), "")
    assert (tmp_path / "x.html").read_bytes() == page
    assert run("report", out, "-o", "-") == (0, page, "")


def test_ledger_may_be_elsewhere(run, folder, tmp_path, monkeypatch):  # noqa: F811
    out = folder(pairs=[["div", 2]])
    page = run("report", out, "-o", "-")[1]
    (out / "_ledger.jsonl").rename(tmp_path / "kept.jsonl")
    monkeypatch.chdir(tmp_path)
    assert run("report", out, "-o", "-", "--ledger", "kept.jsonl") == (0, page, "")
    code, _, err = run("report", out, "-o", "-", "--ledger", "gone.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert f"{tmp_path}/gone.jsonl: cannot be read" in err


def test_problems_are_named_and_the_exit_code_is_2(run, folder):  # noqa: F811
    out = folder(rows=None)
    code, _, err = run("report", out)
    assert (code, err.count("\n")) == (2, 1)
    assert "_ledger.jsonl" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{tmp}/missing"], "missing"),
        (["{out}", "--compare", "{tmp}/no-such"], "no-such"),
        (["{out}", "-o", "{tmp}/no/place/x.html"], "place"),
        (["{out}", "-o", "{tmp}"], "is a folder"),
        (["{out}", "--top", "none"], "--top"),
        (["{out}", "--top", "0"], "--top"),
        ([], "OUT"),
        (["{out}", "--open", "-o", "-"], "--open"),
        (["{out}", "-o", "{out}/part-00000/x.html"], "no folder"),
    ],
)
def test_mistakes_end_in_one_line(run, folder, tmp_path, arguments, said):  # noqa: F811
    out = folder(pairs=[["div", 2]])
    code, printed, err = run("report", *(each.format(tmp=tmp_path, out=out) for each in arguments))
    assert (code, printed, err.count("\n")) == (1, b"", 1), err
    assert said in err
    assert not (tmp_path / "no").exists()


def test_open_shows_the_page_in_a_browser(run, folder, monkeypatch):  # noqa: F811
    out, opened = folder(pairs=[["div", 2]]), []
    monkeypatch.setattr("webbrowser.open", lambda place: opened.append(place) or True)
    assert run("report", out, "--open")[0] == 0
    assert opened == [(out / "_report.html").as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda place: False)
    code, _, err = run("report", out, "--open")
    assert (code, err) == (1, f"crawlmill: no browser could be started: open {out}/_report.html\n")
