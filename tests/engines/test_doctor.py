"""`crawlmill doctor hadoop` on real daemons."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.mr.helpers import environment

pytestmark = pytest.mark.hadoop


def test_cluster_that_runs_is_fit(hadoop):
    done = subprocess.run(
        [sys.executable, "-m", "crawlmill", "doctor", "hadoop"],
        cwd="/",
        env=environment(**hadoop.environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert ": Hadoop 3." in done.stdout
    assert "ok: streaming jar: " in done.stdout
    assert "/.crawlmill can be written" in done.stdout
