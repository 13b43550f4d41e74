"""What is wrong with an index is told, once and under the right reason; the rest is given; nothing is believed."""

from __future__ import annotations

import gzip
import json
import random

import pytest
from tests.indexes.captures import expected, make_cluster, make_lines, text
from tests.indexes.test_lookup import ask, query

from crawlmill.errors import UsageError
from crawlmill.indexes.plan import Plan
from crawlmill.indexes.query import Query
from crawlmill.inputs.indexes import check_cluster, find_indexes, open_indexes
from crawlmill.storage import Storage

LINES = make_lines(1200, seed=5)
COM = expected(LINES, "com", match="domain")


@pytest.fixture
def lost(tmp_path):
    """The lines that a look-up of all of `com` gives, and what it tells, after a change of a cluster."""

    def lost(change, pattern="com", **options):
        members = make_cluster(tmp_path / "c", LINES, per=50, shards=3)
        change(tmp_path / "c", members)
        problems = []
        (found,) = ask([tmp_path / "c"], [query(pattern, **{"match": "domain", **options})], problems)
        return found, problems

    return lost


def flip(folder, shard, at):
    data = bytearray((folder / shard).read_bytes())
    data[at] ^= 0xFF
    (folder / shard).write_bytes(data)


def edit_row(folder, number, column, new):
    rows = (folder / "cluster.idx").read_text().split("\n")
    fields = rows[number].split("\t")
    fields[column] = new(fields[column]) if callable(new) else new
    rows[number] = "\t".join(fields)
    (folder / "cluster.idx").write_text("\n".join(rows))


def without(members, numbers):
    """The lines of `com` that are in none of these members."""
    gone = {line for number in numbers for line in LINES[_place(members, number) : _place(members, number) + 50]}
    return [line for line in COM if line not in gone]


def _place(members, number):
    return LINES.index(members[number][0])


def test_a_flipped_member_is_lost_alone(lost, tmp_path):
    seen = []

    def change(folder, members):
        seen.extend(members)
        _, shard, offset, length = members[5]
        flip(folder, shard, offset + length // 2)

    found, problems = lost(change)
    assert found == without(seen, [5])
    assert [problem.reason in ("bad-checksum", "bad-compression") for problem in problems] == [True]
    assert (problems[0].source, problems[0].offset) == (seen[5][1], seen[5][2])


def test_a_shard_that_is_not_there_is_told_once(lost):
    found, problems = lost(lambda folder, _: (folder / "cdx-00001.gz").unlink())
    assert found == [line for line in COM if line not in LINES[400:800]]
    assert [(problem.reason, problem.source) for problem in problems] == [("not-found", "cdx-00001.gz")]


def test_a_query_that_needs_nothing_of_what_is_lost_is_answered(lost):
    found, problems = lost(lambda folder, _: (folder / "cdx-00001.gz").unlink(), "http://localhost/a", match="exact")
    assert found == expected(LINES, "http://localhost/a")
    assert problems == []


def test_a_member_that_is_cut_off_is_truncated(lost):
    def change(folder, members):
        data = (folder / "cdx-00000.gz").read_bytes()
        (folder / "cdx-00000.gz").write_bytes(data[:-30])

    found, problems = lost(change)
    assert found == [line for line in COM if line not in LINES[350:400]]
    assert [problem.reason for problem in problems] == ["truncated"]


@pytest.mark.parametrize(
    ("column", "new", "reason"),
    [
        (2, "99999999", "truncated"),
        (2, lambda old: str(int(old) + 3), "bad-compression"),
        (3, lambda old: str(int(old) - 7), "truncated"),
        (3, lambda old: str(int(old) + 7), "bad-length"),
        (3, "9" * 17, "too-large"),
        (3, "0", "bad-header"),
        (2, "-5", "bad-header"),
        (3, "ten", "bad-header"),
    ],
)
def test_a_row_that_leads_astray_loses_its_member_alone(lost, column, new, reason):
    seen = []

    def change(folder, members):
        seen.extend(members)
        edit_row(folder, 4, column, new)

    found, problems = lost(change)
    assert found == without(seen, [4])
    assert [problem.reason for problem in problems] == [reason]


@pytest.mark.parametrize("places", [(4, 5), (2, 9), (0, 23)])
def test_rows_out_of_order_are_told_and_no_line_is_lost(lost, places):
    def change(folder, members):
        rows = (folder / "cluster.idx").read_text().split("\n")
        one, other = places
        rows[one], rows[other] = rows[other], rows[one]
        (folder / "cluster.idx").write_text("\n".join(rows))

    found, problems = lost(change)
    assert found == COM
    assert [problem.reason for problem in problems] == ["bad-header"]
    assert "order" in str(problems[0])


def cluster(tmp_path, columns=5):
    """Its `cluster.idx`, and the problems that a look-up of each URL, and `crawlmill check`, report."""
    make_cluster(tmp_path, LINES, per=50, shards=3, columns=columns)

    def problems():
        found = {}
        for number in range(0, len(LINES), 25):
            url, found[number] = json.loads(LINES[number].split(" ", 2)[2])["url"], []
            (lines,) = ask([tmp_path], [query(url)], found[number])
            assert LINES[number] in lines or found[number], f"line {number} is lost without a word"
        with Storage() as storage:
            return [each for each in found.values() if each], check_cluster(str(tmp_path / "cluster.idx"), storage)

    return tmp_path / "cluster.idx", problems


@pytest.mark.parametrize("columns", [5, 4])
@pytest.mark.parametrize("row", [2, 7, 12, 22])
@pytest.mark.parametrize("bit", [1, 4, 0x20])
def test_a_flipped_line_end_of_cluster_idx_hides_no_member(tmp_path, columns, row, bit):
    idx, problems = cluster(tmp_path, columns)
    data = bytearray(idx.read_bytes())
    at = [place for place, byte in enumerate(data) if byte == 10][row]
    data[at] ^= bit
    idx.write_bytes(data)
    told, checked = problems()
    assert {problem.reason for each in told for problem in each} == {"bad-header"}
    assert checked.outcome == "partial"


SHARD = [
    *range(8, 16)
]  # the rows of the one in the middle; without numbers of rows, only check knows that it is missing
MISSING = [[5], [7], [8], [0], [3, 4, 5], [23], [22, 23], [*range(16, 24)], [*range(8, 24)], [*range(24)]]


@pytest.mark.parametrize(
    ("columns", "rows"), [(5, SHARD), *((columns, rows) for columns in (5, 4) for rows in MISSING)]
)
def test_rows_that_are_missing_in_cluster_idx_hide_no_member(tmp_path, columns, rows):
    idx, problems = cluster(tmp_path, columns)
    lines = idx.read_bytes().splitlines(keepends=True)
    idx.write_bytes(b"".join(line for number, line in enumerate(lines) if number not in rows))
    told, checked = problems()
    assert {problem.reason for each in told for problem in each} == {"bad-header"}
    assert checked.outcome == ("partial" if idx.stat().st_size else "failed")


@pytest.mark.parametrize("columns", [5, 4])
@pytest.mark.parametrize(
    ("row", "change"), [(0, 1), *((row, change) for row in (1, 7, 8, 9, 22) for change in (-1, 1))]
)
def test_a_row_with_a_wrong_key_hides_no_member(tmp_path, columns, row, change):
    """A key less than that of the member hides lines of the member before it; a greater one hides its own."""
    idx, problems = cluster(tmp_path, columns)
    starts = [line.partition("\t")[0] for line in idx.read_text().splitlines()]
    places = [LINES.index(next(line for line in LINES if line.startswith(start))) for start in starts]
    edit_row(tmp_path, row, 0, " ".join(LINES[places[row] + 26 * change].split(" ")[:2]))
    told, checked = problems()
    assert {problem.reason for each in told for problem in each} == {"bad-header"}
    assert "begins with another line than cluster.idx says" in str(told[0][0])
    assert checked.outcome == "partial"


@pytest.mark.parametrize("loc", [True, False])
def test_check_reports_a_shard_that_no_row_names(tmp_path, loc):
    idx, _ = cluster(tmp_path)
    (tmp_path / ("cdx-00002.gz" if loc else "cluster.loc")).unlink()
    idx.write_bytes(b"".join(line for line in idx.read_bytes().splitlines(keepends=True) if b"cdx-00002" not in line))
    (tmp_path / "metadata.yaml").write_text("a: 1\n")
    (tmp_path / "cdx-00003.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "cdx-00004.gz").write_bytes(b"")
    with Storage() as storage:
        row = check_cluster(str(idx), storage)
    assert [(problem.reason, problem.message.split(":")[0]) for problem in row.problems] == [
        ("bad-header", "cluster.idx has no row of a shard (cdx-00002.gz)")
    ]


def test_a_file_out_of_order_is_told_and_no_line_that_was_read_is_lost(tmp_path):
    at = LINES.index(COM[len(COM) // 2])
    lines = [*LINES[:at], LINES[at + 9], *LINES[at : at + 9], *LINES[at + 10 :]]
    (tmp_path / "a").write_bytes(text(lines))
    problems = []
    (found,) = ask([tmp_path / "a"], [query("com", match="domain")], problems)
    assert sorted(found, key=str.encode) == COM
    assert [problem.reason for problem in problems] == ["bad-header"]


@pytest.mark.parametrize("at", [20, 300, 1500, 2700, 2960])
def test_two_sorted_files_joined_are_told_and_no_line_is_lost(tmp_path, at):
    """Each with lines of all hosts: bisection alone finds nothing wrong with one of them after the other."""
    lines = make_lines(3000, seed=6)
    dice = random.Random(at)
    first = sorted(dice.sample(lines, at), key=str.encode)
    second = sorted(set(lines) - set(first), key=str.encode)
    (tmp_path / "a").write_bytes(text([*first, *second]))
    for host in ("10.0.0.1", "example.com", "example.org", "localhost", "zz.example"):
        problems = []
        (found,) = ask([tmp_path / "a"], [query(host, match="host")], problems)
        assert sorted(found, key=str.encode) == expected(lines, host, match="host")
        assert [problem.reason for problem in problems] == ["bad-header"]


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
def test_lines_out_of_order_amid_a_large_answer_are_told(tmp_path, core):
    """One line of another host amid 1.3 MB, far from the lines that bisection reads."""
    lines = [f'com,a)/{n:05} 20240101000000 {{"url": "http://a.com/{n:05}{"x" * 50}"}}' for n in range(10_000)]
    stray = 'org,z)/ 20240101000000 {"url": "http://z.org/"}'
    (tmp_path / "a").write_bytes(text([*lines[:4321], stray, *lines[4321:]]))
    problems = []
    assert ask([tmp_path / "a"], [query("a.com", match="host")], problems) == [lines]
    assert [problem.reason for problem in problems] == ["bad-header"]


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
@pytest.mark.parametrize("per", [2, 4])
def test_lines_of_a_cluster_out_of_order_are_told_and_given_to_those_that_mean_them(tmp_path, core, per):
    a, b, c, d = (f'com,{name})/ 20240101000000 {{"url": "http://{name}.com/"}}' for name in "abcd")
    make_cluster(tmp_path / "c", [a, d, c, b], per=per, shards=1)
    problems = []
    queries = [query("*.com"), *(query(f"{name}.com") for name in "bcd")]
    assert ask([tmp_path / "c"], queries, problems)[1:] == [[b], [c], [d]]
    assert {problem.reason for problem in problems} == {"bad-header"}
    assert "out of order" in str(problems[0])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("com,example)/a yesterday {}", "bad-header"),
        ("com,example)/a", "bad-header"),
        ('com,example)/a 20200101000000 {"url": "http', "bad-json"),
        ("com,example)/a 20200101000000 one two", "bad-header"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"filters": ["=status:200"]}])
def test_malformed_lines_are_told_and_the_others_given(tmp_path, bad, reason, options):
    (tmp_path / "a").write_bytes(text(sorted([*LINES, bad], key=str.encode)))
    problems = []
    (found,) = ask([tmp_path / "a"], [query("example.com", match="host", **options)], problems)
    plain_columns = bad.endswith("two") and not options  # stored lines are given as they stand
    assert [line for line in found if line != bad] == expected(LINES, "example.com", match="host", **options)
    assert [problem.reason for problem in problems] == ([] if plain_columns else [reason])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "line",
    [
        b"!OpenWayback-CDXJ 1.0\n(com,example,)/ 2016-01-02T03:04:05Z response {}",
        b" CDX N b a m s k r M S V g\nexample.com/ 20240101000000 http://example.com/ text/html 200 X - - 1 2 f",
        b'www.example.com:80/a 20240101000000 {"url": "http://example.com/"}',
    ],
)
def test_an_index_without_surts_is_refused_and_not_searched_in_vain(tmp_path, line, packed):
    (tmp_path / "a").write_bytes(gzip.compress(line + b"\n") if packed else line + b"\n")
    with pytest.raises(UsageError, match="URLs cannot be looked up"):
        ask([tmp_path / "a"], [query("example.com")])


def test_damaged_gzip_gives_the_lines_before_it(tmp_path):
    data = b"".join(gzip.compress(text(LINES[at : at + 100])) for at in range(0, len(LINES), 100))
    (tmp_path / "a.gz").write_bytes(data[:-50])
    problems = []
    (found,) = ask([tmp_path / "a.gz"], [query("org", match="domain")], problems)
    assert found == [line for line in expected(LINES, "org", match="domain") if line in LINES[:1100]]
    assert [problem.reason for problem in problems] == ["truncated"]


def test_a_member_that_inflates_to_much_more_is_streamed(tmp_path):
    lines = [f'com,a)/{n:07} 20200101000000 {{"url": "{"x" * 200}"}}' for n in range(90_000)]
    make_cluster(tmp_path / "c", lines, per=len(lines), shards=1)
    assert ask([tmp_path / "c"], [query("http://a.com/0077777")]) == [[lines[77_777]]]


def test_a_line_without_an_end_is_too_large(tmp_path):
    (tmp_path / "a").write_bytes(b"com,a)/ 20200101000000 {" + b"x" * (9 << 20))
    problems = []
    assert ask([tmp_path / "a"], [query("a.com")], problems) == [[]]
    assert [problem.reason for problem in problems] == ["too-large"]


def test_places_of_shards_are_tried_in_their_order(tmp_path):
    make_cluster(tmp_path / "c", LINES, shards=1, loc=False)
    (tmp_path / "c/cdx-00000.gz").rename(tmp_path / "c/moved.gz")
    (tmp_path / "c/cluster.loc").write_text("cdx-00000.gz\tnowhere.gz\tmoved.gz\n")
    assert ask([tmp_path / "c"], [query("*.com")]) == [expected(LINES, "*.com")]
    (tmp_path / "c/cluster.loc").unlink()
    (tmp_path / "c/moved.gz").rename(tmp_path / "c/cdx-00000.gz.gz")
    assert ask([tmp_path / "c"], [query("*.com")]) == [expected(LINES, "*.com")]


def test_queries_and_plans_survive_json(tmp_path):
    make_cluster(tmp_path / "c", LINES, per=10)
    wanted = query("*.example.com", filters=["!~mime:image/.*"], start="2012", newest=True, limit=9)
    assert Query.from_json(json.loads(json.dumps(wanted.to_json()))) == wanted
    with Storage() as storage:
        (index,) = open_indexes(find_indexes([str(tmp_path / "c")], storage), storage, print)
        whole = index.plan([wanted])
        assert Plan.from_json(json.loads(json.dumps(whole.to_json()))) == whole
        units = list(whole.units(5))
        assert [unit.blocks <= 5 for unit in units] == [True] * len(units)
        assert sum(unit.blocks for unit in units) == whole.blocks
        apart = b"".join(chunk for unit in units for _, chunk in index.captures([wanted], unit))
        assert apart == b"".join(chunk for _, chunk in index.captures([wanted]))
        assert apart.decode().split("\n")[:-1] == expected(LINES, "*.example.com")


def test_a_line_of_gzip_does_not_go_on_after_a_damaged_member(tmp_path):
    lines = [f'com,{name})/ 20240101000000 {{"url": "http://{name}.com/"}}' for name in "abcdef"]
    damaged = bytearray(gzip.compress(text(lines[2:4])))
    damaged[20] ^= 0xFF
    cut = gzip.compress(text(lines[:2])[:-45])
    (tmp_path / "a").write_bytes(cut + bytes(damaged) + gzip.compress(text(lines[4:])))
    problems = []
    assert ask([tmp_path / "a"], [query("*.com")], problems) == [[lines[0], *lines[4:]]]
    assert problems[0].reason in ("bad-checksum", "bad-compression")
