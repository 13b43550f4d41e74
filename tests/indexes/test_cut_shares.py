"""Shares of a cluster: each has the queries that its members are read for, however many queries there are."""

from __future__ import annotations

import random

import pytest
from tests.indexes.captures import make_cluster, make_lines, make_patterns

from crawlmill.indexes.cluster import shares
from crawlmill.indexes.query import Queries, Query, ranges_of
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.storage import Storage
from crawlmill.urls.patterns import parse_pattern

LINES = make_lines(900, seed=9)


def in_order(patterns, **options):
    """The queries of patterns in the order of their keys, and the same as `Queries`, made when they are needed."""
    found = sorted(
        (Query(parse_pattern(text), **options) for text in patterns), key=lambda each: each.pattern.ranges[0]
    )
    known = [each.pattern.key if each.pattern.match == "exact" else each.pattern for each in found]
    like = Query(parse_pattern("http://any/"), **options)
    return found, Queries(like, [each.pattern.text for each in found], known)


@pytest.mark.parametrize("options", [{}, {"start": "2019", "end": "2021"}])
def test_queries_are_the_same_when_they_are_made_later(options):
    found, later = in_order(make_patterns(random.Random(1), LINES, 60, None), **options)
    assert (len(later), list(later), later[5:9]) == (len(found), found, found[5:9])
    assert ranges_of(later) == ranges_of(found) == [query.ranges for query in found]


@pytest.mark.parametrize("match", [None, "exact"])
@pytest.mark.parametrize("count", [3, 40, 400])  # fewer queries than members, and more
@pytest.mark.parametrize("options", [{}, {"end": "2019"}])
def test_each_query_is_in_the_shares_of_the_members_that_it_needs(tmp_path, monkeypatch, match, count, options):
    monkeypatch.setattr(shares, "_MIN_BYTES", 700)
    make_cluster(tmp_path / "c", LINES, per=9)
    patterns = make_patterns(random.Random(count), LINES, count, match)
    found, later = in_order([*patterns, *patterns[:2]], **options)
    with Storage() as storage:
        (index,) = open_indexes(find_indexes([str(tmp_path / "c")], storage), storage, pytest.fail)
        needed = [members(index.plan([query]).parts) for query in found]
        cut = index.shares(later)
        assert index.shares(found) == cut
    assert len(cut) > 2 or count == 3
    read = [members(share.parts) for share in cut]
    assert sorted(each for share in read for each in share) == sorted(set().union(*needed))  # none is read twice
    for share, mine in zip(cut, read, strict=True):
        assert list(share.queries) == [number for number, need in enumerate(needed) if need & mine]


def members(parts):
    return {(part.file, part.offset + sum(part.lengths[:at])) for part in parts for at in range(len(part.lengths))}
