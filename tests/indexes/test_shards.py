"""The files of a cluster, read back by gzip itself."""

from __future__ import annotations

import gzip
import io

from crawlmill.indexes.cluster.shards import ShardWriter, cluster_idx, cluster_loc, metadata_yaml, shard_name

LINES = [b"com,example)/%d 2024010100000%d {}\n" % (n, n) for n in range(7)]


def written(lines, per_member):
    shard, fragment = io.BytesIO(), io.BytesIO()
    writer = ShardWriter(shard, fragment, per_member)
    writer.writelines(lines[:2])
    writer.writelines(lines[2:])
    writer.close()
    return shard.getvalue(), fragment.getvalue()


def test_members_hold_the_lines_and_the_fragment_leads_to_them():
    shard, fragment = written(LINES, 3)
    assert gzip.decompress(shard) == b"".join(LINES)
    found = []
    for line in fragment.splitlines():
        start, offset, length = line.split(b"\t")
        member = gzip.decompress(shard[int(offset) : int(offset) + int(length)])
        assert member.startswith(start + b" ")
        found.append(member.count(b"\n"))
    assert found == [3, 3, 1]


def test_member_that_is_full_at_the_end_is_the_last():
    assert len(written(LINES[:6], 3)[1].splitlines()) == 2


def test_shard_without_lines_is_empty():
    assert written([], 3) == (b"", b"")


def test_same_lines_give_the_same_bytes():
    assert written(LINES, 3) == written(LINES, 3)


def test_second_level_numbers_the_members_of_all_shards():
    fragments = [[b"a)/ 20240101000000\t0\t10\n", b"b)/\tc 20240101000000\t10\t5\n"], [b"d)/ 20240101000000\t0\t7\n"]]
    assert b"".join(cluster_idx(fragments)) == (
        b"a)/ 20240101000000\tcdx-00000.gz\t0\t10\t1\n"
        b"b)/\tc 20240101000000\tcdx-00000.gz\t10\t5\t2\n"
        b"d)/ 20240101000000\tcdx-00001.gz\t0\t7\t3\n"
    )


def test_locations_are_relative():
    assert cluster_loc(2) == b"cdx-00000.gz\tcdx-00000.gz\ncdx-00001.gz\tcdx-00001.gz\n"
    assert shard_name(12345) == "cdx-12345.gz"


def test_metadata_says_how_large_it_is():
    assert metadata_yaml(lines=7, members=3, shards=1, lines_per_member=3) == (
        b"cdxLinesTotal: 7\nshards: 1\nmembers: 3\nlinesPerMember: 3\n"
    )
