"""Counts how many of a cluster's workers have started: spot machines may come late, or never.

Spec: Amazon EMR API, ListInstanceFleets and ListInstanceGroups.
"""

from __future__ import annotations

import time
from typing import Any, Final

from crawlmill.mr.engines.emr.aws import Aws, AwsError

__all__ = ["Workers"]

_EVERY_S: Final = 60.0
# By whether the cluster uses instance fleets.
_RUNNING: Final[dict[bool, tuple[str, ...]]] = {
    True: ("ProvisionedOnDemandCapacity", "ProvisionedSpotCapacity"),
    False: ("RunningInstanceCount",),
}
_WANTED: Final[dict[bool, tuple[str, ...]]] = {
    True: ("TargetOnDemandCapacity", "TargetSpotCapacity"),
    False: ("RequestedInstanceCount",),
}


class Workers:
    """The workers of a cluster: its task nodes, or else its core nodes; requested once a minute."""

    def __init__(self, aws: Aws, cluster: str) -> None:
        self._aws, self._cluster = aws, cluster
        self._text, self._due = "", 0.0

    def said(self, cluster: dict[str, Any]) -> str:
        """`, 2 of 4 workers`; empty if all have started, or if unknown. `cluster` is EMR's description of it."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _EVERY_S
            try:
                running, wanted = self._count(cluster)
            except AwsError as error:
                self._due, self._text = self._due if error.transient else float("inf"), ""
            else:
                self._text = f", {running} of {wanted} workers" if running < wanted else ""
        return self._text

    def _count(self, cluster: dict[str, Any]) -> tuple[int, int]:
        """The numbers of running and of requested workers."""
        fleets = cluster.get("InstanceCollectionType") == "INSTANCE_FLEET"
        what = "InstanceFleet" if fleets else "InstanceGroup"
        operation = "list_instance_fleets" if fleets else "list_instance_groups"
        found = list(self._aws.pages("emr", operation, f"{what}s", ClusterId=self._cluster))
        of_kind = ([each for each in found if each.get(f"{what}Type") == kind] for kind in ("TASK", "CORE"))
        workers = next(filter(None, of_kind), [])
        return _sum(workers, _RUNNING[fleets]), _sum(workers, _WANTED[fleets])


def _sum(found: list[dict[str, Any]], names: tuple[str, ...]) -> int:
    return sum(int(each.get(name) or 0) for each in found for name in names)
