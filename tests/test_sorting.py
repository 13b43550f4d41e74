"""Lines sorted by their bytes, in memory and on disk, with either core; and what a full disk does."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlmill import sorting
from crawlmill.sorting import Part, merge_parts, sort_lines

# Lines that begin others, bytes before and behind the line end, all bytes; none, or a line end, at the end.
TEXTS = st.lists(
    st.one_of(st.binary(max_size=12), st.sampled_from([b"\n", b"a\n", b"a\t\n", b"ab\n", b"a\0\n"])), max_size=60
)
ANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)


def sorted_text(text: bytes) -> bytes:
    """The same in memory, by Python's own order of bytes."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    return b"".join(line + b"\n" for line in sorted(lines))


def cut(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@ANY
@given(pieces=TEXTS, memory=st.sampled_from([0, 200, 1 << 20]))
def test_any_text_comes_out_in_the_order_of_its_lines_bytes(tmp_path, pieces, memory):
    text = b"".join(pieces)
    # Pieces go to the sorter in batches, so it is given some of its own size too.
    for source in (pieces, cut(text * 40, 70_000)):
        with sort_lines(source, tmp_path, memory) as lines:
            assert b"".join(lines) == sorted_text(b"".join(source))
    assert list(tmp_path.iterdir()) == []


def test_order_is_that_of_sort(tmp_path):
    chance = random.Random(15)
    text = b"".join(bytes(chance.choices(b"ab\t\r \x01\xff0", k=chance.randrange(9))) + b"\n" for _ in range(3000))
    ended = subprocess.run(
        ["sort"], input=text, capture_output=True, check=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}
    )
    assert b"".join(sort_lines([text], tmp_path, 1 << 20)) == ended.stdout


@pytest.mark.parametrize("memory", [0, 1 << 16, 1 << 18, 1 << 26])
def test_many_lines_of_all_lengths_are_sorted_in_runs_and_levels_of_runs(tmp_path, monkeypatch, memory):
    monkeypatch.setattr(sorting, "_MAX_RUNS", 3)
    chance = random.Random(7)
    lines = [
        b"org,example)/%d %s\n" % (chance.randrange(500), b"x" * chance.choice([0, 9, 300])) for _ in range(20_000)
    ]
    lines += [b"y" * 200_000 + b"%d\n" % (n % 3) for n in range(10)]
    chance.shuffle(lines)
    with sort_lines(lines, tmp_path, memory) as found:
        assert list(found) == sorted(lines)
    with sort_lines(cut(b"".join(lines), 99_999), tmp_path, memory) as found:
        assert b"".join(found.chunks()) == b"".join(sorted(lines))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_sorted_parts_of_files_are_merged(tmp_path, memory):
    chance = random.Random(3)
    lines = [b"%x\n" % chance.getrandbits(chance.choice([4, 40])) for _ in range(5000)] + [b"z" * 30_000 + b"\n"] * 3
    parts, everything = [], []
    for n in range(7):
        some = sorted(chance.choices(lines, k=chance.randrange(1500)), key=lambda line: line[:-1])
        everything += some
        path = tmp_path / f"{n}"
        path.write_bytes(b"before\n" * n + b"".join(some) + b"after\n")
        parts.append(Part(str(path), 7 * n, len(b"".join(some))))
    with merge_parts(parts, tmp_path, memory) as found:
        assert list(found) == sorted(everything, key=lambda line: line[:-1])
    assert len(list(tmp_path.iterdir())) == 7
    assert list(merge_parts([], tmp_path, memory)) == []


@pytest.mark.parametrize("count", [500, 1200])
def test_more_runs_than_files_may_be_open_are_merged(tmp_path, count):
    path = tmp_path / "runs"
    path.write_bytes(b"".join(b"%04d\n%04d\n" % (n, n + count) for n in range(count)))
    parts = [Part(str(path), 10 * n, 10) for n in range(count)]
    assert list(merge_parts(parts, tmp_path, 1 << 20)) == [b"%04d\n" % n for n in range(2 * count)]


def test_part_that_ends_early_is_an_error(tmp_path):
    path = tmp_path / "short"
    path.write_bytes(b"a\nb\n")
    with pytest.raises(OSError):  # noqa: PT011 - the cores say it in their own words
        list(merge_parts([Part(str(path), 0, 100)], tmp_path, 1 << 20))


def test_source_that_fails_leaves_nothing(tmp_path):
    def source():
        yield b"b\n" * 100_000
        raise KeyError("lost")

    with pytest.raises(KeyError):
        sort_lines(source(), tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        list(sort_lines([b"b\n" * 100_000] * 3, tmp_path / "gone", 1000))


FULL = """
import resource, signal, sys
from pathlib import Path
from crawlmill.sorting import sort_lines
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    for line in sort_lines((b"%x\\n" % (n * 0x9E3779B97F4A7C15) for n in range(200_000)), Path(sys.argv[1]), 1 << 20):
        pass
except OSError as error:
    print(error.errno)
"""


def test_disk_that_takes_no_more_is_an_error_and_nothing_is_left(tmp_path):
    ended = subprocess.run([sys.executable, "-c", FULL, tmp_path], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [str(errno.EFBIG)]
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from crawlmill.sorting import sort_lines
lines = sort_lines((b"%d\\n" % n for n in range(300_000)), Path(sys.argv[1]), 1 << 18)
next(lines.chunks())
os.kill(os.getpid(), 9)
"""


def test_process_that_is_killed_leaves_nothing(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    assert ended.returncode == -9
    assert list(tmp_path.iterdir()) == []
