"""Clusters of quads: pages of a urlkey in one piece, their places, and what is lost where a file is damaged."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from crawlmill.indexes.quads import writer
from crawlmill.indexes.quads.pages import pages_of, shuffled_line, survey_line
from crawlmill.indexes.quads.reader import QuadReader
from crawlmill.indexes.quads.writer import QuadWriter


def line(key: str, uri: str, time: int, *quads: str, form: str = "rdfa") -> bytes:
    return shuffled_line(key, uri, f"202601{time:08}", {"url": uri, "offset": str(time)}, {form: list(quads)})


LINES = sorted(
    [
        line("a)/", "http://a/", 2, "<1>", "_:new"),
        line("a)/", "http://a/", 1, "<1>", "_:old", "<1>"),
        line("a)/", "https://a/", 0, "<3>"),
        line("a)/", "http://www.a/", 3, "<4>"),
        *(line(f"b)/{n:03}", f"http://b/{n:03}", n, f"<{n}>", "x" * 100) for n in range(200)),
    ]
)


class Folder:
    """The files of a cluster, in memory; counts what is asked for."""

    def __init__(self, **files: bytes) -> None:
        self.files, self.asked = files, 0

    def source(self, name: str):
        class Source:
            def open(_, offset: int = 0, length: int | None = None):  # noqa: N805
                self.asked += 1
                return io.BytesIO(self.files[name][offset : None if length is None else offset + length])

        return Source()


@pytest.fixture
def written(monkeypatch):
    """Captures, and the folder that has their quads, in members of some 5 pages."""
    monkeypatch.setattr(writer, "_MEMBER_BYTES", 500)
    quads, captures = io.BytesIO(), io.BytesIO()
    part = QuadWriter(0, quads, captures)
    members = [member for pages in pages_of(each.rstrip(b"\n") for each in LINES) for member in part.write(pages)]
    members += part.close()
    assert sum(member.lines for member in members) == 203
    return gzip.decompress(captures.getvalue()), Folder(**{"part-00000.nq.gz": quads.getvalue()})


def read(captures: bytes, folder: Folder) -> tuple[str, list[str]]:
    problems: list[str] = []
    text = b"".join(QuadReader(folder).quads(captures, lambda error: problems.append(str(error))))
    return text.decode(), problems


def test_pages_come_in_the_order_of_their_captures_with_equal_quads_once(written):
    captures, folder = written
    rows = [each.split(b" ", 2) for each in captures.splitlines()]
    assert captures.splitlines() == sorted(captures.splitlines())
    assert [(json.loads(row[2])["url"], row[1][-1:]) for row in rows[:3]] == [
        ("https://a/", b"0"),
        ("http://a/", b"2"),
        ("http://www.a/", b"3"),
    ]
    whole = gzip.decompress(folder.files["part-00000.nq.gz"]).decode()
    assert whole.startswith("<3>\n<1>\n_:old\n_:new\n<4>\n<0>\n")
    assert read(captures, folder) == (whole, [])
    assert folder.asked < 3


def test_some_captures_give_their_own_quads(written):
    captures, folder = written
    some = b"".join(f"{each}\n".encode() for each in captures.decode().splitlines()[50:120:7])
    text, problems = read(some, folder)
    assert text == "".join(f"<{n}>\n{'x' * 100}\n" for n in range(47, 117, 7))
    assert problems == []


def test_a_damaged_member_costs_itself_and_a_missing_end_what_is_in_it(written):
    captures, folder = written
    packed = folder.files["part-00000.nq.gz"]
    whole = read(captures, folder)[0]
    folder.files["part-00000.nq.gz"] = packed[:20] + bytes([packed[20] ^ 1]) + packed[21:]
    text, problems = read(captures, folder)
    assert whole.endswith(text)
    assert len(whole) - len(text) < 1500
    assert len(problems) == 1
    folder.files["part-00000.nq.gz"] = packed[: len(packed) // 2]
    text, problems = read(captures, folder)
    assert whole.startswith(text)
    assert problems
    assert "part-00000.nq.gz" in problems[0]


@pytest.mark.parametrize("place", ["", "../x 0 1 0 1", "part-00000.nq.gz 0 1 0", "part-00000.nq.gz 0 99999999999 0 1"])
def test_captures_that_do_not_say_where_their_quads_are_are_told(written, place):
    bad = f"a)/ 20260101000000 {json.dumps({'url': 'x', 'quads': place})}\n".encode()
    text, problems = read(bad, written[1])
    assert text == ""
    assert len(problems) == 1


def test_parts_begin_with_a_urlkey_never_within_its_pages():
    assert all(survey_line(each.split(b" ")[0].decode()) <= each for each in LINES)
    assert survey_line("a)/x") > LINES[3]
