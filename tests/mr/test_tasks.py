"""How inputs are cut into tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.cores import using

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.inputs.lists import Input, Unit
from crawlmill.mr.task.task_list import MAX_TASKS_HERE, MAX_TASKS_ON_ENGINES, cut, decode_task, encode_task, task_label

CORES = ["python", *(["native"] if core.native() else [])]


def ranked(items):
    return list(enumerate(items))


def whole(count):
    return [Input(f"{n}", f"/{n}") for n in range(count)]


def spans(count, *, files=3, length=1000):
    return [Input(f"{n}", f"/{n % files}", n * 1000, length) for n in range(count)]


def test_whole_files_are_a_task_each_in_the_order_of_the_list():
    assert list(cut(ranked(whole(5)), most=50)) == [[pair] for pair in ranked(whole(5))]


@pytest.mark.parametrize(("most", "count", "share"), [(MAX_TASKS_ON_ENGINES, 100_001, 3), (MAX_TASKS_HERE, 6000, 3)])
def test_very_many_files_share_tasks(most, count, share):
    sizes = [len(task) for task in cut(ranked(whole(count)), most=most)]
    assert len(sizes) <= most
    assert set(sizes[:-1]) == {share}


def test_few_ranges_that_lie_apart_are_a_task_each():
    apart = [Input(f"{n}", "/x", n * 1_000_000, 1000) for n in range(8)]
    assert [len(task) for task in cut(ranked(apart), most=50)] == [1] * 8
    assert len(list(cut(ranked(spans(8)), most=50, gap=0))) == 8


@pytest.mark.parametrize(("length", "sizes"), [(1000, [64, 64]), (1 << 20, [8] * 16)])
def test_ranges_that_one_request_fetches_stay_together_up_to_8_mib(length, sizes):
    items = [Input(f"{file} {n}", f"/{file}", n * length, length) for n in range(64) for file in "ab"]
    tasks = list(cut(ranked(items), most=50))
    assert [len(task) for task in tasks] == sizes
    assert all(len({item.location for _, item in task}) == 1 for task in tasks)


def test_many_ranges_come_in_batches_grouped_by_file_and_rising_by_offset():
    tasks = list(cut(ranked(spans(100_000)), most=50))
    assert max(map(len, tasks)) == 1000
    assert len(tasks) == 100
    places = [(item.location, item.offset) for task in tasks for _, item in task]
    assert places == sorted(places)


def test_batches_of_ranges_end_at_256_mib():
    tasks = list(cut(ranked(spans(2000, length=100 << 20)), most=50))
    assert {len(task) for task in tasks} == {2}


def test_inputs_per_task_is_obeyed_for_files_and_ranges():
    tasks = list(cut(ranked(whole(5) + spans(5)), 2, most=50))
    assert [len(task) for task in tasks] == [2, 2, 1, 2, 2, 1]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 1 << 28)), max_size=60),
    st.none() | st.integers(1, 9),
)
def test_every_input_is_in_exactly_one_task(shapes, per_task):
    items = [Input(str(n), f"/{file}", *((n, size) if part else ())) for n, (part, file, size) in enumerate(shapes)]
    tasks = list(cut(ranked(items), per_task, most=50))
    assert sorted(rank for task in tasks for rank, _ in task) == list(range(len(items)))
    assert all(tasks)


USUAL = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from('\t"\\'))
TEXTS = st.text() | USUAL
NUMBERS = st.none() | st.integers(0)


@given(
    st.lists(st.tuples(st.integers(0), TEXTS, TEXTS, NUMBERS, NUMBERS))
    | st.lists(st.tuples(st.integers(0, 2**59), USUAL, st.sampled_from(("/a", "/b")), NUMBERS, NUMBERS)),
    st.none() | USUAL,
)
def test_task_line_is_ascii_without_line_ends_and_reads_back_on_every_core(inputs, label):
    task = [(rank, Input(*item)) for rank, *item in inputs]
    lines = set()
    for name in CORES:
        with using(name):
            lines.add(encode_task(task, label))
    [line] = lines
    assert line.isascii()
    assert b"\n" not in line
    assert task_label(line.decode()) == label
    for name in CORES:
        with using(name):
            assert decode_task(line.decode()) == task
            assert decode_task(f"1234\t{line.decode()}") == task


def test_units_of_an_input_are_a_task_each_and_read_back():
    units = [Input("x", "/x", unit=Unit(number, 3, number * 10, 10)) for number in range(3)]
    tasks = list(cut([(7, unit) for unit in units], most=50))
    assert tasks == [[(7, unit)] for unit in units]
    assert encode_task(tasks[1]) == b'{"v":1,"inputs":[[7,"x","/x",null,null,1,3,10,10]]}'
    assert [decode_task(encode_task(task).decode()) for task in tasks] == tasks


@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "{}",
        '{"v":1}',
        '{"v":1,"inputs":[[]]}',
        '{"v":1,"inputs":[[1]]}',
        '{"v":1,"inputs":[1]}',
        '{"v":1,"inputs":[[1,"a","/a",null,null]],}',
        '{"v":1,"inputs":[[1,"a","/a",null,null]]',
        '[1,{"inputs":[[1,"a","/a",null,null]]}]',
    ],
)
@pytest.mark.parametrize("name", CORES)
def test_line_that_is_no_task_is_bad_json(name, line):
    with using(name), pytest.raises(FormatError, match="not a line of a task list"):
        decode_task(line)


def test_task_line_of_another_version_is_refused():
    with pytest.raises(FormatError, match="another version: expected 1, got 2"):
        decode_task('{"v":2,"inputs":[]}')
