"""Cancels a run on EMR, so that no part of it keeps running.

A cluster of the run's own is terminated. On a named cluster, only the steps of the run are cancelled. EMR ends a
running step by killing its process on the master; but the job that this process submitted to YARN continues. So jobs
carry a tag, and one more step ends all jobs with that tag.

Spec: Amazon EMR Management Guide, "Cancel steps"; Hadoop 3.4, `mapreduce.job.tags` (YARN compares tags in lower case,
of at most 100 ASCII characters) and "YARN Commands", `yarn application`.
"""

from __future__ import annotations

import time
from typing import Any, Final

from crawlmill.mr.engines.emr.aws import Aws
from crawlmill.mr.engines.emr.record import EmrRun
from crawlmill.mr.engines.emr.steps import submitted
from crawlmill.mr.engines.hadoop.yarn import tag_of

__all__ = ["cancel"]

_WITHIN_S: Final = 120.0
_EVERY_S: Final = 2.0
_HAS_ENDED: Final = ("COMPLETED", "FAILED", "INTERRUPTED")
_END_JOBS: Final = (
    "found=$(yarn application -list -appTags {tag}) || exit 1; "
    'for each in $(echo "$found" | grep -o "application_[0-9]*_[0-9]*" | sort -u); do '
    'yarn application -kill "$each"; done'
)


def cancel(aws: Aws, run: EmrRun, *, every_s: float = _EVERY_S, within_s: float = _WITHIN_S) -> str | None:
    """End the cluster of a run, or its steps and their jobs; returns a message if their end could not be awaited.

    Raises: AwsError.
    """
    known = run.cluster is not None if run.own_cluster else bool(run.steps)
    run = run if known else submitted(aws, run)
    if run.own_cluster:
        if run.cluster is not None:
            aws.ask("emr", "terminate_job_flows", JobFlowIds=[run.cluster])
        return None
    ids = [step.id for step in run.steps]
    if not ids:
        return None
    aws.ask("emr", "cancel_steps", ClusterId=run.cluster, StepIds=ids, StepCancellationOption="TERMINATE_PROCESS")
    steps = aws.pages("emr", "list_steps", "Steps", ClusterId=run.cluster, StepIds=ids)
    if not any(_was_killed(step["Status"]) for step in steps):
        return None
    answer = aws.ask_once("emr", "add_job_flow_steps", JobFlowId=run.cluster, Steps=[_end_jobs(run)])
    return _wait(aws, run, answer["StepIds"][0], every_s, within_s)


def _was_killed(status: dict[str, Any]) -> bool:
    """Whether a step was running when it was cancelled."""
    return status["State"] not in _HAS_ENDED and bool(status.get("Timeline", {}).get("StartDateTime"))


def _end_jobs(run: EmrRun) -> dict[str, Any]:
    """The step that ends the jobs of a run."""
    script = _END_JOBS.format(tag=tag_of(run.key))
    return {
        "Name": f"end of {run.key}",
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["bash", "-c", script]},
    }


def _wait(aws: Aws, run: EmrRun, step: str, every_s: float, within_s: float) -> str | None:
    until = time.monotonic() + within_s
    by_hand = f"end its jobs there with `yarn application -list -appTags {tag_of(run.key)}` and `-kill`"
    while True:
        state = aws.ask("emr", "describe_step", ClusterId=run.cluster, StepId=step)["Step"]["Status"]["State"]
        if state == "COMPLETED":
            return None
        if state not in ("PENDING", "RUNNING"):
            return (
                f"step {step} was to end the jobs of this run on cluster {run.cluster}, but {state.lower()}; {by_hand}"
            )
        if time.monotonic() >= until:
            return (
                f"the jobs of this run on cluster {run.cluster} may still run until step {step} has ended them "
                f"(it is {state.lower()}), or {by_hand}"
            )
        time.sleep(every_s)
