"""The files of a cluster, read back by gzip itself."""

from __future__ import annotations

import gzip
import io

import pytest

from crawlmill.indexes.cluster.shards import Member, ShardWriter, cluster_idx, cluster_loc, metadata_yaml, shard_name

LINES = [b"com,example)/%d 2024010100000%d {}" % (n, n) for n in range(7)]


def written(lines, per_member, piece=2, *, distinct=False):
    file = io.BytesIO()
    writer = ShardWriter(file, per_member, distinct=distinct)
    members = [member for at in range(0, len(lines), piece) for member in writer.write(lines[at : at + piece])]
    return file.getvalue, [*members, *writer.close()]


@pytest.mark.parametrize("piece", [1, 2, 5, 100])
def test_members_hold_the_lines_and_are_where_they_are_said_to_be(piece):
    data, members = written(LINES, 3, piece)
    assert gzip.decompress(data()) == b"".join(line + b"\n" for line in LINES)
    assert [member.lines for member in members] == [3, 3, 1]
    for member in members:
        content = gzip.decompress(data()[member.offset : member.offset + member.length])
        assert content.startswith(member.start + b" ")
        assert content.count(b"\n") == member.lines


def test_member_that_is_full_at_the_end_is_the_last():
    assert [member.lines for member in written(LINES[:6], 3)[1]] == [3, 3]


def test_shard_without_lines_is_empty():
    data, members = written([], 3)
    assert (data(), members) == (b"", [])


def test_same_lines_give_the_same_bytes():
    assert written(LINES, 3, 1)[0]() == written(LINES, 3, 7)[0]()


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_equal_lines_are_written_once_if_asked_for(piece):
    lines = [LINES[0], LINES[0], LINES[0], LINES[1], LINES[2], LINES[2]]
    data, _ = written(lines, 2, piece, distinct=True)
    assert gzip.decompress(data()).split(b"\n")[:-1] == LINES[:3]
    data, _ = written(lines, 2, piece)
    assert gzip.decompress(data()).split(b"\n")[:-1] == lines


def test_second_level_numbers_the_members_of_all_shards():
    members = [
        ("cdx-00000.gz", Member(b"a)/ 20240101000000", 0, 10, 3)),
        ("cdx-00000.gz", Member(b"b)/\tc 20240101000000", 10, 5, 1)),
        ("cdx-00001.gz", Member(b"d)/ 20240101000000", 0, 7, 2)),
    ]
    assert b"".join(cluster_idx(members)) == (
        b"a)/ 20240101000000\tcdx-00000.gz\t0\t10\t1\n"
        b"b)/\tc 20240101000000\tcdx-00000.gz\t10\t5\t2\n"
        b"d)/ 20240101000000\tcdx-00001.gz\t0\t7\t3\n"
    )


def test_locations_are_relative():
    assert cluster_loc(["cdx-00000.gz", "b"]) == b"cdx-00000.gz\tcdx-00000.gz\nb\tb\n"
    assert shard_name(12345) == "cdx-12345.gz"


def test_metadata_says_how_large_it_is():
    assert metadata_yaml(lines=7, members=3, shards=1, lines_per_member=3) == (
        b"cdxLinesTotal: 7\nshards: 1\nmembers: 3\nlinesPerMember: 3\n"
    )
