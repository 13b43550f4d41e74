"""Options that would change nothing without another one are refused."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("doctor", "local", "--region", "eu-west-1"), "--region: only for emr, not for local"),
        (("doctor", "hadoop", "--cloud-tmp-dir", "s3://b/"), "--cloud-tmp-dir: only for emr, not for hadoop"),
        (("doctor", "spark", "--cluster-id", "j-1"), "--cluster-id: only for emr, not for spark"),
        (("ledger", "--base-url", "https://e.org/", "x"), "--base-url goes with --list"),
        (("ledger", "--failed", "--base-url", "https://e.org/", "x"), "--base-url goes with --list"),
        (("ledger", "--list", "x", "x"), "--list goes with --failed"),
        (("ledger", "--wait", "x"), "--wait goes with --collect"),
    ],
)
def test_option_without_its_other_is_refused_in_one_line(run, arguments, said):
    assert run(*arguments) == (1, b"", f"crawlmill: {said}\n")
