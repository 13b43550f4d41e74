"""Finds the cluster and the steps of a run on EMR by the run's name, which both carry."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from crawlmill.mr.engines.emr.aws import Aws
from crawlmill.mr.engines.emr.record import EmrRun, Step

__all__ = ["submitted"]

_CLOCKS_DIFFER: Final = timedelta(hours=1)


def submitted(aws: Aws, run: EmrRun) -> EmrRun:
    """Complete a run's record with its cluster and steps, found by the run's name; without steps if there are none.

    Raises: AwsError.
    """
    cluster = run.cluster
    if cluster is None:
        since = datetime.fromtimestamp(run.info.began_s, UTC) - _CLOCKS_DIFFER
        found = aws.pages("emr", "list_clusters", "Clusters", CreatedAfter=since)
        cluster = next((str(each["Id"]) for each in found if each["Name"] == run.key), None)
    return replace(run, cluster=cluster, steps=_steps_of(aws, run.key, cluster) if cluster is not None else ())


def _steps_of(aws: Aws, key: str, cluster: str) -> tuple[Step, ...]:
    """The steps of a run, in order."""
    found = []
    for step in aws.pages("emr", "list_steps", "Steps", ClusterId=cluster):
        whose, _, name = step["Name"].partition(": ")
        if whose == key:
            found.append(Step(step["Id"], name))
    # "Step 2 of 3"; a step that prepares the master has another name, and comes first.
    found.sort(key=lambda step: [int(number) for number in re.findall(r"\d+", step.name)])
    return tuple(found)
