"""The runners there are, by the names that `-r` takes."""

from __future__ import annotations

from typing import Any

from crawlmill.mr.engines.machine.runner import InlineRunner, LocalRunner

__all__ = ["runner_class"]


def runner_class(alias: str | None) -> type[Any]:
    """The class of the runner that is called so; the default is `local`."""
    ours = {runner.alias: runner for runner in (InlineRunner, LocalRunner)}
    alias = alias or LocalRunner.alias
    if alias in ours:
        return ours[alias]
    # Each of these imports all of mrjob's runner.
    if alias == "hadoop":
        from crawlmill.mr.engines.hadoop.runner import HadoopRunner  # noqa: PLC0415

        return HadoopRunner
    if alias == "emr":
        from crawlmill.mr.engines.emr.runner import EmrRunner  # noqa: PLC0415

        return EmrRunner
    from crawlmill.mr.engines.spark.runner import SparkRunner  # noqa: PLC0415

    return SparkRunner
