"""The end of a run, whatever order the rows of its tasks come in."""

from __future__ import annotations

import io
import json

import pytest

from crawlmill.inputs.lists import Input
from crawlmill.ledger.row import LedgerRow
from crawlmill.mr.run.ending import Ending, RunInfo
from crawlmill.mr.run.progress import Console
from crawlmill.mr.task.pairs import encode_pair
from crawlmill.mr.task.rows import row_pair
from crawlmill.storage import Storage


class Left:
    """What a run has left: rows in files, each of these ranks."""

    def __init__(self, folder, inputs, *files):
        self.parts, self.files, self.rows = [], [], []
        for number, ranks in enumerate(files):
            path = folder / f"{number}.rows"
            rows = (row_pair(rank, LedgerRow.of(inputs[rank])) for rank in ranks)
            path.write_bytes(b"".join(encode_pair(*pair) + b"\n" for pair in rows))
            self.rows.append(path)

    def counters(self):
        return []


@pytest.mark.parametrize("files", [((0, 1, 2),), ((2, 0, 1),), ((1,), (2, 0)), ((2,), (1,), (0,))])
def test_rows_of_tasks_come_into_the_order_of_the_ledger(tmp_path, files):
    inputs = [Input(name, f"/{name}") for name in "abc"]
    said = io.BytesIO()
    said.isatty = lambda: False
    run = RunInfo("test", "spark", [], 0.0, ledger=str(tmp_path / "ledger"))
    ending = Ending(run, inputs, None, Storage(), tmp_path, Console(said), io.BytesIO())
    assert ending.finish(Left(tmp_path, inputs, *files), None, None) == 0, said.getvalue().decode()
    assert [json.loads(line)["input"] for line in (tmp_path / "ledger").read_text().splitlines()] == ["a", "b", "c"]
