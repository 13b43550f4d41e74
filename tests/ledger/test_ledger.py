"""The ledger: rows, outcomes, summaries, one row per input, lists to run again."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.errors import CrawlmillError, FormatError, Problem, SourceError
from crawlmill.inputs.lists import Input
from crawlmill.ledger.file import failed_lines, read_ledger
from crawlmill.ledger.row import LedgerRow, complete, merged
from crawlmill.ledger.summary import Summary
from crawlmill.units import size


def row(name: str = "x", *, records: int = 0, read: int = 0, lost: tuple[str, ...] = ()) -> LedgerRow:
    made = LedgerRow.of(Input(name, f"/data/{name}"))
    made.records, made.bytes = records, read
    for reason in lost:
        made.lose(Problem(reason, 5, "this", "that", f"{reason} it is"))
    return made


@pytest.mark.parametrize(
    ("records", "lost", "outcome"),
    [
        (3, (), "ok"),
        (0, (), "ok"),  # a split of a SequenceFile may own no record
        (3, ("truncated",), "partial"),
        (1, ("bad-json", "bad-json"), "partial"),
        (0, ("truncated",), "failed"),
        (0, ("not-found",), "failed"),
        (0, ("unsupported-format",), "failed"),
    ],
)
def test_outcome_follows_from_what_was_read_and_lost(records, lost, outcome):
    assert row(records=records, lost=lost).outcome == outcome


def test_row_as_json_has_the_fields_of_the_contract_in_order():
    made = row("a.warc.gz", records=2, read=99, lost=("truncated",))
    made.format = "warc"
    assert json.dumps(made.to_json()) == (
        '{"input": "a.warc.gz", "location": "/data/a.warc.gz", "format": "warc", "outcome": "partial", "records": 2, '
        '"bytes": 99, "verified": true, "lost": {"truncated": 1}, "problems": [{"reason": "truncated", "offset": 5, '
        '"expected": "this", "actual": "that", "message": "truncated it is"}]}'
    )


def test_row_of_a_range_has_offset_and_length_too():
    made = LedgerRow.of(Input("x\t5\t6", "/x", 5, 6)).to_json()
    assert (made["offset"], made["length"]) == (5, 6)


def test_row_keeps_the_first_hundred_problems_and_counts_all():
    made = row(lost=("bad-json",) * 250)
    assert len(made.problems) == 100
    assert made.to_json()["lost"] == {"bad-json": 250}


def test_row_shows_no_secrets():
    secret = "https://user:pass@e.org/x?token=abc"
    made = LedgerRow.of(Input(secret, secret))
    made.lose(Problem.of(SourceError("gone", reason="not-found", source=secret)))
    text = json.dumps(made.to_json(), ensure_ascii=False)
    assert "pass" not in text
    assert "abc" not in text
    assert text.count("https://…@e.org/x?token=…") == 3


@given(
    name=st.text(),
    span=st.none() | st.tuples(st.integers(0, 2**63), st.integers(0, 2**63)),
    numbers=st.tuples(st.integers(0), st.integers(0)),
    lost=st.lists(st.sampled_from(["truncated", "not-found", "bad-json"]), max_size=5),
)
def test_row_read_back_from_its_json_is_the_same(name, span, numbers, lost):
    made = LedgerRow.of(Input(name, f"/{name}", *(span or ())))
    made.records, made.bytes = numbers
    for reason in lost:
        made.lose(Problem(reason, None, 1, "x", reason))
    assert LedgerRow.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"7",
        b'{"input": "x"}',
        b'{"input": 5}',
        b"\xff",
        json.dumps(row().to_json() | {"records": "many"}).encode(),
        json.dumps(row().to_json() | {"records": -1}).encode(),
        json.dumps(row().to_json() | {"problems": [{"no": 1}]}).encode(),
    ],
)
def test_line_that_is_no_row_is_bad_json_with_its_number(line):
    good = json.dumps(row().to_json()).encode()
    with pytest.raises(FormatError, match=r"l\.jsonl, line 2") as caught:
        list(read_ledger([good, line], "l.jsonl"))
    assert caught.value.reason == "bad-json"
    assert not re.search("codec|Error", str(caught.value))


def test_summary_counts_outcomes_records_and_bytes_and_shows_the_first_ten_bad_inputs():
    summary = Summary()
    for n in range(3000):
        summary.add(row(f"good{n}", records=3, read=13_000))
    for n in range(15):
        summary.add(row(f"bad{n}", lost=("not-found", "truncated")))
    lines = summary.lines(3.44)
    assert lines[0] == "3,015 inputs: 3,000 ok, 15 failed; 9,000 records, 39.0 MB read in 3.4 s"
    assert lines[1] == "failed  bad0: not-found: not-found it is (and 1 more)"
    assert len(lines) == 12
    assert lines[11] == "and 5 more"


def test_summary_shows_what_was_lost_before_what_was_not_read():
    summary = Summary()
    for n in range(20):
        summary.add(row(f"a{n}", lost=("unaccounted",)))
    summary.add(row("z", lost=("truncated",)))
    lines = summary.lines()
    assert lines[0] == "21 inputs: 21 failed (20 unaccounted); 0 records, 0 B read"
    assert lines[1] == "failed  z: truncated: truncated it is"
    assert [line.split()[1] for line in lines[2:11]] == [f"a{n}:" for n in range(9)]
    assert lines[11] == "and 11 more"


def test_summary_of_one_input_is_in_the_singular():
    summary = Summary()
    summary.add(row(records=1, read=5, lost=("truncated",)))
    assert summary.lines()[0] == "1 input: 1 partial; 1 record, 5 B read"


def test_summary_of_a_message_with_line_ends_keeps_to_one_line():
    summary = Summary()
    made = row("a\nb")
    made.lose(Problem("denied", None, None, None, "no\r\nentry"))
    summary.add(made)
    assert summary.lines()[1] == "failed  a b: denied: no entry"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (41_200_000, "41.2 MB"), (3 * 10**15, "3,000.0 TB")],
)
def test_size_is_in_powers_of_thousand(count, text):
    assert size(count) == text


INPUTS = [Input(name, f"/{name}") for name in "abcde"]


def test_complete_gives_one_row_per_input_and_accounts_for_the_missing():
    rows = list(complete([(1, row("b", records=1)), (3, row("d"))], INPUTS, "the run ended"))
    assert [each.input for each in rows] == list("abcde")
    assert [each.outcome for each in rows] == ["failed", "ok", "failed", "ok", "failed"]
    assert [dict(each.lost) for each in rows if each.lost] == [{"unaccounted": 1}] * 3
    assert rows[0].problems[0].message == "the run ended"


def test_complete_refuses_two_rows_for_one_input():
    with pytest.raises(CrawlmillError, match="two rows"):
        list(complete([(1, row("b")), (1, row("b"))], INPUTS, ""))


def unit(number: int, count: int, **given) -> LedgerRow:
    made = row("b", **given)
    made.unit = number, count
    for problem in made.problems:
        object.__setattr__(problem, "offset", number)  # each unit has lost something else
    return made


def test_rows_of_units_become_one_row():
    first, second = unit(0, 2, records=3, read=10, lost=("truncated",)), unit(1, 2, records=4, read=5)
    first.format = second.format = "sequencefile"
    for rows in ([first, second], [second, first]):
        [(position, found)] = merged((1, each) for each in rows)
        assert (position, found.unit, found.format) == (1, None, "sequencefile")
        assert (found.outcome, found.records, found.bytes, found.verified) == ("partial", 7, 15, True)
        assert (dict(found.lost), [each.reason for each in found.problems]) == ({"truncated": 1}, ["truncated"])
    second.verified = False
    assert next(merged([(1, first), (1, second)]))[1].verified is False


def test_losses_of_units_are_added_and_their_first_hundred_problems_stand_in_order():
    rows = [unit(number, 3, lost=("bad-json",) * 60) for number in range(3)]
    [(_, found)] = merged((0, each) for each in reversed(rows))
    assert (found.outcome, dict(found.lost)) == ("failed", {"bad-json": 180})
    assert [each.offset for each in found.problems] == [0] * 60 + [1] * 40


def test_what_all_units_say_alike_is_one_problem_of_the_input():
    rows = [unit(number, 3, lost=("not-found",)) for number in range(3)]
    for each in rows:
        object.__setattr__(each.problems[0], "offset", None)
    [(_, found)] = merged((0, each) for each in rows)
    assert (found.outcome, dict(found.lost), len(found.problems)) == ("failed", {"not-found": 1}, 1)


def test_input_of_which_a_unit_lacks_its_row_is_unaccounted_for():
    rows = [(0, row("a")), (1, unit(0, 3, records=1)), (1, unit(2, 3, records=1)), (4, row("e"))]
    assert [position for position, _ in merged(rows)] == [0, 4]
    found = list(complete(rows, INPUTS, "the run ended"))
    assert [each.outcome for each in found] == ["ok", "failed", "failed", "failed", "ok"]
    assert (dict(found[1].lost), found[1].records) == ({"unaccounted": 1}, 0)


@pytest.mark.parametrize("twice", [[unit(0, 2), unit(0, 2)], [unit(0, 2), unit(1, 3)], [unit(0, 2), row("b")]])
def test_two_rows_for_one_unit_are_refused(twice):
    with pytest.raises(CrawlmillError, match="two rows"):
        list(merged((1, each) for each in twice))


def test_failed_lines_name_what_was_not_ok_by_absolute_locations_with_ranges():
    ranged = LedgerRow.of(Input('{"filename": "y", "offset": 5, "length": 6}', "/data/y", 5, 6))
    ranged.lose(Problem("truncated", None, None, None, ""))
    assert list(failed_lines([row("a", records=1), row("x", lost=("denied",)), ranged])) == ["/data/x", "/data/y\t5\t6"]


def test_failed_lines_take_locations_with_secrets_from_the_users_own_list():
    secret = "https://e.org/x?token=abc"
    made = LedgerRow.of(Input(secret, secret, 1, 2))
    made.lose(Problem("denied", None, None, None, ""))
    shown = LedgerRow.from_json(made.to_json())
    assert list(failed_lines([shown])) == ["https://e.org/x?token=…\t1\t2"]
    assert list(failed_lines([shown], [Input(secret, secret, 1, 2)])) == [f"{secret}\t1\t2"]
