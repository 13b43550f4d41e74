"""The network of a cluster: subnets and their zones, routes to the internet and to S3, the tags that EMR requires.

Spec: Amazon EC2 API, DescribeSubnets, DescribeRouteTables, DescribeVpcEndpoints and DescribeSecurityGroups; Amazon EMR
Management Guide, "Tagging resources to use managed policies" and "Working with Amazon EMR-managed security groups".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from crawlmill.mr.engines.emr.aws import Aws, AwsError

__all__ = ["TAG", "examine_routes", "examine_tags", "groups_of", "subnets_of"]

Found = tuple[str, str | None]

TAG: Final = "for-use-with-amazon-emr-managed-policies"
_NAT_DOLLARS_A_GB: Final = 0.045
# The names of the security groups that EMR creates, in public and in private subnets.
_OF_EMR: Final = (
    *("ElasticMapReduce-master", "ElasticMapReduce-slave"),
    *("ElasticMapReduce-Master-Private", "ElasticMapReduce-Slave-Private", "ElasticMapReduce-ServiceAccess"),
    *("ElasticMapReduce-Primary-Private", "ElasticMapReduce-Core-Private"),
)
_ONE_GROUP: Final = ("EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup", "ServiceAccessSecurityGroup")
_MORE_GROUPS: Final = ("AdditionalMasterSecurityGroups", "AdditionalSlaveSecurityGroups")


def subnets_of(aws: Aws, named: Any) -> list[dict[str, Any]]:
    """The named subnets, or those of the default VPC. Raises: AwsError."""
    if named:
        return list(
            aws.ask("ec2", "describe_subnets", SubnetIds=[named] if isinstance(named, str) else list(named))["Subnets"]
        )
    defaults = [{"Name": "default-for-az", "Values": ["true"]}]
    return list(aws.ask("ec2", "describe_subnets", Filters=defaults)["Subnets"])


def examine_routes(aws: Aws, subnets: list[dict[str, Any]], *, needs_internet: bool) -> Iterator[Found]:
    """Whether nodes can reach what they need, and at what cost. `needs_internet`: nodes install packages with pip."""
    try:
        for subnet in subnets:
            yield _route(aws, subnet, needs_internet)
    except AwsError as error:
        if error.denied:
            yield "routes of the network (not checked: not allowed)", None
        else:
            yield f"routes of the network: {error}", "try again"


def _route(aws: Aws, subnet: dict[str, Any], needs_internet: bool) -> Found:
    name, vpc = subnet["SubnetId"], subnet["VpcId"]
    table = _table(aws, name, vpc)
    routes = [each for each in table.get("Routes", ()) if each.get("State") != "blackhole"]
    way_out: dict[str, Any] = next((each for each in routes if each.get("DestinationCidrBlock") == "0.0.0.0/0"), {})
    by_nat = bool(way_out.get("NatGatewayId") or way_out.get("InstanceId") or way_out.get("NetworkInterfaceId"))
    filters = [
        {"Name": "vpc-id", "Values": [vpc]},
        {"Name": "service-name", "Values": [f"com.amazonaws.{aws.region}.s3"]},
    ]
    endpoints = aws.ask("ec2", "describe_vpc_endpoints", Filters=filters)["VpcEndpoints"]
    gateway = any(
        each.get("VpcEndpointType") == "Gateway" and table.get("RouteTableId") in each.get("RouteTableIds", ())
        for each in endpoints
    )
    table_name = table.get("RouteTableId", "of the subnet")
    make_gateway = f"make a gateway endpoint for S3 in {vpc} (it is free), and add it to the route table {table_name}"
    if by_nat and not gateway:
        return f"{name} reaches S3 through a NAT: some ${_NAT_DOLLARS_A_GB} for each GB read", make_gateway
    if not way_out and not gateway:
        return f"{name} has no way to S3", make_gateway
    if not way_out and needs_internet:
        return (
            f"{name} has no way to the internet, from which bootstrap installs packages",
            "use a PEX: see docs/shipping.md",
        )
    internet = "NAT" if by_nat else "internet gateway" if way_out else "no way to the internet"
    return f"{name} in {subnet['AvailabilityZone']}: {internet}{', gateway endpoint for S3' if gateway else ''}", None


def groups_of(instances: dict[str, Any]) -> list[str]:
    """The security groups named in a request for a cluster (in its `Instances`)."""
    named = {instances[name] for name in _ONE_GROUP if instances.get(name)}
    return sorted(named.union(*(instances.get(name, ()) for name in _MORE_GROUPS)))


def _groups(aws: Aws, vpcs: list[str], named: list[str]) -> list[dict[str, Any]]:
    """Descriptions of security groups from EC2: the named ones, else EMR's own in these VPCs. Raises: AwsError."""
    if not named and not vpcs:
        return []
    filters = [{"Name": "vpc-id", "Values": vpcs}, {"Name": "group-name", "Values": list(_OF_EMR)}]
    wanted: dict[str, Any] = {"GroupIds": named} if named else {"Filters": filters}
    return list(aws.ask("ec2", "describe_security_groups", **wanted)["SecurityGroups"])


def _table(aws: Aws, subnet: str, vpc: str) -> dict[str, Any]:
    """The route table of a subnet: its own, else the main one of the VPC."""
    for filters in (
        [{"Name": "association.subnet-id", "Values": [subnet]}],
        [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "association.main", "Values": ["true"]}],
    ):
        if found := aws.ask("ec2", "describe_route_tables", Filters=filters)["RouteTables"]:
            return dict(found[0])
    return {}


def examine_tags(
    aws: Aws, subnets: list[dict[str, Any]], cluster_tags: dict[str, Any], groups: Iterable[str] = ()
) -> Iterator[Found]:
    """Check the tags that the policy AmazonEMRServicePolicy_v2 requires of cluster, subnets, VPCs and security groups.

    `groups` are the ids of the named security groups. Without any, EMR uses its own, if an earlier cluster has left
    them in the VPC, or creates them.
    """
    if str(cluster_tags.get(TAG)).lower() != "true":
        yield (
            f"the cluster would not have the tag {TAG}=true, which the service role asks for",
            "add it to tags in mrjob.conf",
        )
    vpcs = sorted({subnet["VpcId"] for subnet in subnets})
    try:
        found = [*subnets, *(aws.ask("ec2", "describe_vpcs", VpcIds=vpcs)["Vpcs"] if vpcs else ())]
        found += _groups(aws, vpcs, list(groups))
    except AwsError as error:
        yield f"tags of {', '.join(vpcs)}: {error}", None if error.denied else "try again"
        return
    for each in found:
        name = each.get("SubnetId") or each.get("GroupId") or each["VpcId"]
        if {"Key": TAG, "Value": "true"} not in each.get("Tags", ()):
            yield (
                f"{name} does not have the tag {TAG}=true, which the service role asks for",
                f"aws ec2 create-tags --resources {name} --tags Key={TAG},Value=true",
            )
