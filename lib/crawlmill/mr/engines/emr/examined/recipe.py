"""Compares what the configuration asks for with the account and the zones: vCPUs, machine types, the native core.

Spec: Amazon EC2 API, DescribeInstanceTypes and DescribeInstanceTypeOfferings; Service Quotas API, GetServiceQuota
("Running On-Demand Standard instances" and "All Standard Spot Instance Requests", both in vCPUs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.native import native_modules

__all__ = ["Fleet", "examine_machines", "examine_native", "fleets_of", "unseen"]

Found = tuple[str, str | None]

# The quotas on vCPUs of the standard families (A, C, D, H, I, M, R, T and Z), by their codes in
# `aws service-quotas list-service-quotas --service-code ec2`.
_QUOTAS: Final = {"on demand": "L-1216C47A", "spot": "L-34B43A08"}
_STANDARD: Final = re.compile(r"[acdhimrtz]\d")  # families covered by the two quotas
_CORES_OF_KINDS: Final = {"x86_64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Fleet:
    """The machines of one role: how many on each market, of any of these types."""

    role: str
    types: tuple[str, ...]
    wanted: dict[str, int]


def fleets_of(instances: dict[str, Any]) -> list[Fleet]:
    """The machines in a request for a cluster (in its `Instances`)."""
    found = []
    for fleet in instances.get("InstanceFleets") or ():
        types = tuple(each["InstanceType"] for each in fleet.get("InstanceTypeConfigs", ()))
        wanted = {"on demand": fleet.get("TargetOnDemandCapacity", 0), "spot": fleet.get("TargetSpotCapacity", 0)}
        found.append(Fleet(fleet["InstanceFleetType"].lower(), types, wanted))
    for group in instances.get("InstanceGroups") or ():
        market = "spot" if group.get("Market") == "SPOT" else "on demand"
        found.append(Fleet(group["InstanceRole"].lower(), (group["InstanceType"],), {market: group["InstanceCount"]}))
    return found


def examine_machines(aws: Aws, fleets: list[Fleet], zones: list[str]) -> Iterator[Found]:
    """Whether the account's quotas allow so many vCPUs, and the zones offer the types."""
    types = sorted({name for fleet in fleets for name in fleet.types})
    try:
        described = list(aws.pages("ec2", "describe_instance_types", "InstanceTypes", InstanceTypes=types))
    except AwsError as error:
        if error.code == "InvalidInstanceType":
            yield str(error), "change the types of machines in mrjob.conf"
        else:
            yield unseen("types of machines", error)
        return
    vcpus = {each["InstanceType"]: int(each["VCpuInfo"]["DefaultVCpus"]) for each in described}
    for market, code in _QUOTAS.items():
        yield from _quota(aws, fleets, vcpus, market, code)
    yield from _offered(aws, fleets, types, zones)


def _quota(aws: Aws, fleets: list[Fleet], vcpus: dict[str, int], market: str, code: str) -> Iterator[Found]:
    standard = [fleet for fleet in fleets if all(_STANDARD.match(name) for name in fleet.types)]
    needed = sum(
        fleet.wanted.get(market, 0) * max(vcpus.get(name, 0) for name in fleet.types)
        for fleet in standard
        if fleet.types
    )
    if not needed:
        return
    try:
        answer = aws.ask("service-quotas", "get_service_quota", ServiceCode="ec2", QuotaCode=code)
    except AwsError as error:
        yield unseen(f"quota of vCPUs {market}", error)
        return
    allowed = int(answer["Quota"]["Value"])
    what = f"vCPUs {market}: the recipe needs {needed}, the account may have {allowed}"
    enough = "ask for more in Service Quotas (EC2, {code}), or for fewer workers in mrjob.conf"
    yield what, None if needed <= allowed else enough.format(code=code)


def _offered(aws: Aws, fleets: list[Fleet], types: list[str], zones: list[str]) -> Iterator[Found]:
    if not zones:
        return
    filters = [{"Name": "instance-type", "Values": types}, {"Name": "location", "Values": zones}]
    try:
        found = list(
            aws.pages(
                "ec2",
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=filters,
            )
        )
    except AwsError as error:
        yield unseen(f"types of machines in {', '.join(zones)}", error)
        return
    by_zone = {zone: {each["InstanceType"] for each in found if each["Location"] == zone} for zone in zones}
    for fleet in fleets:
        if not any(set(fleet.types) & offered for offered in by_zone.values()):
            names = ", ".join(fleet.types)
            yield (
                f"{', '.join(zones)} offers no machine for {fleet.role}: {names}",
                "name other types in mrjob.conf, or a subnet in another zone",
            )
            return
    yield f"{', '.join(zones)}: a type for each of {', '.join(fleet.role for fleet in fleets)}", None


def examine_native(aws: Aws, fleets: list[Fleet], installed: bool) -> Found:
    """Whether tasks get the native core; `installed`: the user's bootstrap or PEX installs it."""
    if installed:
        return "native core: by bootstrap", None
    have = sorted(native_modules())
    workers = [fleet for fleet in fleets if fleet.role == "task"] or fleets
    types = sorted({name for fleet in workers for name in fleet.types})
    try:
        described = list(aws.pages("ec2", "describe_instance_types", "InstanceTypes", InstanceTypes=types))
    except AwsError:
        described = []
    kinds = {
        _CORES_OF_KINDS.get(kind, kind)
        for each in described
        for kind in each["ProcessorInfo"]["SupportedArchitectures"]
    }
    if missing := sorted(kinds - {"i386"} - set(have)) if have else sorted(kinds - {"i386"}) or ["the nodes"]:
        return (
            f"there is no native core for {', '.join(missing)}: jobs take several times as long",
            "`make wheel` on Linux of that kind writes one to dist/, from where it goes along",
        )
    return f"native core for {', '.join(have)} goes along", None


def unseen(what: str, error: AwsError) -> Found:
    """What to tell about a thing that could not be asked for."""
    if error.denied:
        return f"{what} (not checked: not allowed)", None
    return f"{what}: {error}", "try again"
