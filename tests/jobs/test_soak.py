"""Two thousand inputs from a server that fails now and then: the result is that of a server that never does."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import pack, response, warcinfo
from tests.storage.faults import CLOSE, RESET, Fault, FaultServer, Thing

INPUTS = 2000
JOB = Path(__file__).parents[2] / "jobs" / "tag_count.py"


def misfortune(dice: random.Random, size: int) -> dict:
    """What goes wrong with a path, before its data comes at last; nothing that asks to go slower, which takes its time."""
    kind = dice.randrange(5)
    if kind == 0:
        return {"faults": [Fault(dice.randrange(size), CLOSE)]}
    if kind == 1:
        return {"faults": [Fault(dice.randrange(size), RESET)]}
    status = (500, 502, 504)[kind - 2]
    return {"answers": [(status, {"Retry-After": "0"} if dice.randrange(2) else {})]}


@pytest.mark.slow
def test_many_inputs_with_faults_count_as_without(tmp_path):
    dice = random.Random(5)
    things, unlucky = {}, 0
    for n in range(INPUTS):
        data = pack([warcinfo(), response(f"http://e.org/{n}", f"<p><x-{n % 50}>{dice.randbytes(200).hex()}".encode())])
        trouble = {}
        if dice.random() < 0.05:
            trouble, unlucky = misfortune(dice, len(data)), unlucky + 1
        things[f"/{n}.warc.gz"] = Thing(data, **trouble)
    assert unlucky > INPUTS * 0.03
    with FaultServer(things) as server:
        paths = tmp_path / "x.paths"
        paths.write_text("".join(f"{server.url}{path}\n" for path in things))
        command = [
            sys.executable,
            JOB,
            "-r",
            "local",
            "--num-cores",
            "2",
            "--no-progress",
            "--ledger",
            tmp_path / "ledger",
            paths,
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "NO_PROXY": "*"}, timeout=900
        )
        asked = len(server.seen)
    assert done.returncode == 0, done.stderr
    counts = dict(line.split("\t") for line in done.stdout.splitlines())
    assert counts == {'"p"': str(INPUTS), **{f'"x-{n}"': str(INPUTS // 50) for n in range(50)}}
    rows = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]
    assert len(rows) == INPUTS
    assert {row["outcome"] for row in rows} == {"ok"}
    assert INPUTS + unlucky <= asked <= INPUTS + 2 * unlucky  # one more for each failure, and nobody hammers
