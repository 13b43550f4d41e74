"""Sorting and partitioning between map and reduce."""

from __future__ import annotations

import zlib

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlmill.mr.task.pairs import encode_pair
from crawlmill.mr.task.shuffle import Partitioner, merge

LINES = st.lists(
    st.builds(lambda key, value: encode_pair(key, value) + b"\n", st.text(max_size=3), st.integers()), max_size=80
)
ANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def partition(folder, tasks, count, *, memory, combine=None):
    """The runs of each partition, of these map tasks' lines."""
    folder.mkdir(exist_ok=True)
    runs = [[] for _ in range(count)]
    spills = 0
    for n, lines in enumerate(tasks):
        home = folder / f"{n}"
        home.mkdir(exist_ok=True)
        partitioner = Partitioner(home, count, memory=memory, combine=combine)
        partitioner.writelines(lines)
        spills += len(partitioner.spills)
        for spill in partitioner.spills:
            for run, found in zip(spill.runs(home), runs, strict=True):
                found.append(run)
    return runs, spills


@ANY
@given(tasks=st.lists(LINES, max_size=4), count=st.integers(1, 5), memory=st.sampled_from([0, 300, 1 << 20]))
def test_merged_partitions_hold_every_line_once_sorted_and_each_key_in_its_partition(tmp_path, tasks, count, memory):
    runs, _ = partition(tmp_path / "x", tasks, count, memory=memory)
    merged = [list(merge(found, tmp_path, memory=memory)) for found in runs]
    assert sorted(line for part in merged for line in part) == sorted(line for task in tasks for line in task)
    for number, part in enumerate(merged):
        assert part == sorted(part)
        assert {zlib.crc32(line.partition(b"\t")[0]) % count for line in part} <= {number}


def test_keys_of_which_one_begins_the_other_stay_together_and_in_order(tmp_path):
    lines = [encode_pair(key, value) + b"\n" for value in (2, 1) for key in (1, 12, 1.5, [1], [1, 2], "a", "a ", "a!")]
    [runs], _ = partition(tmp_path / "x", [lines], 1, memory=1 << 20)
    keys = [line.partition(b"\t")[0] for line in merge(runs, tmp_path, memory=1 << 20)]
    assert keys == sorted(keys)
    assert keys[::2] == keys[1::2]


def test_small_memory_spills_and_gives_the_same_lines(tmp_path):
    lines = [encode_pair(f"k{n * 7919 % 1000}", n) + b"\n" for n in range(3000)]
    few, once = partition(tmp_path / "a", [lines], 2, memory=1 << 20)
    many, often = partition(tmp_path / "b", [lines], 2, memory=5000)
    assert (once, often > 20) == (1, True)
    for a, b in zip(few, many, strict=True):
        assert list(merge(a, tmp_path, memory=1 << 20)) == list(merge(b, tmp_path, memory=5000))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_combiner_is_given_sorted_lines_of_one_partition_and_what_it_gives_is_sorted_again(tmp_path):
    given_lines = []

    def combine(lines):
        given_lines.append(lines)
        return [b'"z"\t1\n', b'"a"\t%d\n' % len(lines)]

    lines = [encode_pair(key, 1) + b"\n" for key in "cab"]
    [runs], _ = partition(tmp_path / "x", [lines], 1, memory=1 << 20, combine=combine)
    assert given_lines == [sorted(lines)]
    assert list(merge(runs, tmp_path, memory=1 << 20)) == [b'"a"\t3\n', b'"z"\t1\n']


def test_task_without_lines_leaves_no_file(tmp_path):
    assert partition(tmp_path / "x", [[]], 3, memory=9) == ([[], [], []], 0)
    assert list((tmp_path / "x" / "0").iterdir()) == []
    assert list(merge([], tmp_path, memory=9)) == []
