"""A task of EMR tells why it fails by the program `aws`, since its Python may lack all packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mr.helpers import PROJECT, Ended

from crawlmill.mr.engines.emr.encryption import with_report_options
from crawlmill.storage import StorageOptions

REPORT = "from crawlmill.mr.task.failure_report import report; report('Error:\\n what', 'trace\\n')"


def reported(tmp_path: Path, aws: str | None, query: str = "") -> Ended:
    """A task that reports, where this is what `aws` does."""
    if aws is not None:
        (tmp_path / "aws").write_text(f"#!/bin/sh\n{aws}\n")
        (tmp_path / "aws").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin" if aws is not None else str(tmp_path),
        "PYTHONPATH": str(PROJECT / "lib"),
        "PLACE": str(tmp_path),
        "crawlmill_reports": f"s3://b/run/reports{query}",
        "mapreduce_task_attempt_id": "attempt_1_2_m_3_4",
    }
    done = subprocess.run([sys.executable, "-S", "-c", REPORT], env=environment, capture_output=True, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_error_is_put_beside_the_run_under_the_attempts_name(tmp_path):
    ended = reported(tmp_path, 'echo "$@" > "$PLACE/args"; cat > "$PLACE/put"; echo "noise$PYTHONPATH"')
    assert (ended.code, ended.out) == (0, "")
    assert (tmp_path / "args").read_text() == "s3 cp --only-show-errors - s3://b/run/reports/attempt_1_2_m_3_4\n"
    assert (tmp_path / "put").read_text() == "Error: what\ntrace\n"
    assert ended.err == "noise\n"  # the PYTHONPATH of tasks is not for the Python of `aws`


def test_report_is_encrypted_as_its_bucket_demands(tmp_path):
    options = StorageOptions(s3_sse="aws:kms", s3_sse_kms_key_id="arn:aws:kms:us-east-1:1:key/k")
    query = with_report_options("", options)
    assert reported(tmp_path, 'echo "$@" > "$PLACE/args"', query).code == 0
    assert (tmp_path / "args").read_text() == (
        "s3 cp --only-show-errors --sse=aws:kms --sse-kms-key-id=arn:aws:kms:us-east-1:1:key/k - "
        "s3://b/run/reports/attempt_1_2_m_3_4\n"
    )
    assert with_report_options("s3://b/run/reports", StorageOptions()) == "s3://b/run/reports"


@pytest.mark.parametrize("aws", ["exit 3", None])
def test_report_that_does_not_arrive_is_said_and_no_error(tmp_path, aws):
    ended = reported(tmp_path, aws)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("could not tell the launcher why this task fails: ")
    assert ended.err.count("\n") == 1
