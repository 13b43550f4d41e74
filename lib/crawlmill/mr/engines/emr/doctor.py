"""What `-r emr` needs, looked at: credentials, region, bucket, roles, release, network, the cluster if one is named.

Spec: the APIs of STS, S3, IAM, EC2 and EMR.
"""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Iterator
from typing import Any, Final

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.mr.engines.emr.aws import COMMON_CRAWLS_REGION, Aws, AwsError
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.storage import Storage

__all__ = ["examine_emr"]

Found = tuple[str, str | None]

_SOMEWHERE: Final = "s3://-/"
_ROLES: Final = "make EMR's usual roles with `aws emr create-default-roles`, or name yours in mrjob.conf"


def examine_emr(conf_paths: list[str], storage: Storage, settings: dict[str, Any]) -> Iterator[Found]:
    """What was found, each with what to do about it, or None where all is well."""
    runner, complaint = _runner(conf_paths, settings)
    runner.lend_credentials()
    try:
        aws = runner.aws
    except UsageError as error:
        yield _bare(error), "run `aws configure`, or set AWS_PROFILE or AWS_ACCESS_KEY_ID"
        return
    if storage.options.s3_endpoint:
        aws.endpoints["s3"] = storage.options.s3_endpoint
    try:
        yield f"credentials: {aws.ask('sts', 'get_caller_identity')['Arn']}", None
    except AwsError as error:
        yield str(error), "look at the credentials"
        return
    where = (
        ""
        if aws.region == COMMON_CRAWLS_REGION
        else f" (Common Crawl's data lie in {COMMON_CRAWLS_REGION}: reading them from here costs money)"
    )
    yield f"region: {aws.region}{where}", None
    if complaint:
        yield _bare(complaint), "make a bucket with `aws s3 mb s3://NAME`, and name it"
    elif runner.new_bucket:
        yield "no folder for temporary files is named: a bucket will be made for them", None
    else:
        yield from _bucket(aws, storage, runner)
    if runner.own_cluster:
        yield _seen("iam:GetInstanceProfile", f"instance profile {_name(runner, 'iam_instance_profile')}", aws,
                    "get_instance_profile", InstanceProfileName=_name(runner, "iam_instance_profile"))  # fmt: skip
        yield _seen("iam:GetRole", f"service role {_name(runner, 'iam_service_role')}", aws,
                    "get_role", RoleName=_name(runner, "iam_service_role"))  # fmt: skip
        yield _release(aws, str(runner.setting("release_label")))
        yield _network(aws, runner.setting("subnet"))
    else:
        yield _cluster(aws, str(runner.setting("cluster_id")))


def _runner(conf_paths: list[str], settings: dict[str, Any]) -> tuple[EmrRunner, UsageError | None]:
    """The runner; if it finds no folder on S3, one with a folder that nobody has, and the complaint about that."""
    try:
        return EmrRunner(conf_paths=conf_paths, **settings), None
    except UsageError as error:
        return EmrRunner(conf_paths=conf_paths, **{**settings, "cloud_tmp_dir": _SOMEWHERE}), error


def _bare(error: UsageError) -> str:
    return str(error).removeprefix("-r emr: ")


def _bucket(aws: Aws, storage: Storage, runner: EmrRunner) -> Iterator[Found]:
    folder = str(runner.setting("cloud_tmp_dir"))
    bucket = folder.removeprefix("s3://").partition("/")[0]
    name = posixpath.join(folder, f"doctor-{secrets.token_hex(6)}")
    try:
        with storage.write(name) as file:
            file.write(b"")
        storage.remove(name)
    except (SourceError, CrawlmillError) as error:
        yield f"{folder} cannot be written: {error}", f"make the bucket with `aws s3 mb s3://{bucket}`, or name another"
        return
    yield f"{folder} can be written", None
    try:
        region = aws.region_of(bucket)
    except AwsError as error:
        yield _unseen(f"region of {bucket}", error)
        return
    if region == aws.region:
        yield f"{bucket} lies in {region} too", None
    else:
        yield f"{bucket} lies in {region}, the cluster in {aws.region}", "name a bucket in the cluster's region"


def _seen(permission: str, what: str, aws: Aws, operation: str, **arguments: Any) -> Found:
    try:
        aws.ask("iam", operation, **arguments)
    except AwsError as error:
        if error.denied:
            return f"{what} (not looked at: {permission} is not allowed)", None
        if error.code == "NoSuchEntity":
            return f"{what} is not there", _ROLES
        return f"{what}: {error}", "try again"
    return what, None


def _release(aws: Aws, label: str) -> Found:
    """Whether EMR knows the release."""
    more: dict[str, str] = {}
    known: list[str] = []
    try:
        while True:
            answer = aws.ask("emr", "list_release_labels", **more)
            known += answer.get("ReleaseLabels", ())
            if label in known:
                return f"release {label}", None
            if not answer.get("NextToken"):
                break
            more = {"NextToken": answer["NextToken"]}
    except AwsError as error:
        return _unseen(f"release {label}", error)
    newest = f"; the first that EMR names is {known[0]}" if known else ""
    return f"there is no release {label} in {aws.region}", f"set release_label in mrjob.conf{newest}"


def _network(aws: Aws, subnets: Any) -> Found:
    """Whether there is a subnet to put the cluster in."""
    try:
        if subnets:
            wanted = [subnets] if isinstance(subnets, str) else list(subnets)
            aws.ask("ec2", "describe_subnets", SubnetIds=wanted)
            return f"subnet {', '.join(wanted)}", None
        found = aws.ask("ec2", "describe_vpcs", Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    except AwsError as error:
        if error.code.startswith("InvalidSubnet"):
            return f"there is no subnet {subnets} in {aws.region}", "set subnet in mrjob.conf"
        return _unseen("network", error)
    if not found:
        return f"there is no default VPC in {aws.region}", "name a subnet in mrjob.conf: subnet: subnet-…"
    return f"default VPC {found[0]['VpcId']}", None


def _cluster(aws: Aws, name: str) -> Found:
    try:
        state = aws.ask("emr", "describe_cluster", ClusterId=name)["Cluster"]["Status"]["State"]
    except AwsError as error:
        return f"cluster {name}: {error}", "look at its name and region"
    if str(state).startswith("TERMINAT"):
        return f"cluster {name} takes no steps: it is {state.lower()}", "name another with --cluster-id"
    return f"cluster {name} is {state.lower()}", None


def _unseen(what: str, error: AwsError) -> Found:
    if error.denied:
        return f"{what} (not looked at: it is not allowed)", None
    return f"{what}: {error}", "try again"


def _name(runner: EmrRunner, option: str) -> str:
    """A role's name, out of its name or ARN."""
    return str(runner.setting(option)).rpartition("/")[2]
