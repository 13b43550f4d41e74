"""Checks what `-r emr` needs: credentials, region, bucket, roles, release, network, machines, rights, a named cluster.

Spec: the APIs of STS, S3, IAM, EC2 and EMR, as cited in the modules of `examined`.
"""

from __future__ import annotations

import os
import posixpath
import secrets
from collections.abc import Iterator
from typing import Any, Final

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.mr.engines.emr.aws import COMMON_CRAWLS_REGION, Aws, AwsError
from crawlmill.mr.engines.emr.examined.network import examine_routes, examine_tags, groups_of, subnets_of
from crawlmill.mr.engines.emr.examined.recipe import examine_machines, examine_native, fleets_of, unseen
from crawlmill.mr.engines.emr.examined.rights import examine_rights, is_v2
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.mr.run.conf import with_s3_settings
from crawlmill.storage import Storage

__all__ = ["examine_emr"]

Found = tuple[str, str | None]

_SOMEWHERE: Final = "s3://-/"
_ROLES: Final = "make EMR's usual roles with `aws emr create-default-roles`, or name yours in mrjob.conf"


def examine_emr(conf_paths: list[str], storage: Storage, settings: dict[str, Any]) -> Iterator[Found]:
    """Yield the findings, each with advice, or None if all is well."""
    runner, complaint = _runner(conf_paths, settings)
    runner.lend_credentials()
    try:
        aws = runner.aws
    except UsageError as error:
        yield _bare(error), "run `aws configure`, or set AWS_PROFILE or AWS_ACCESS_KEY_ID"
        return
    if storage.options.s3_endpoint:
        aws.endpoints["s3"] = storage.options.s3_endpoint
    storage = Storage(with_s3_settings(storage.options, conf_paths, "emr"))
    try:
        caller = str(aws.ask("sts", "get_caller_identity")["Arn"])
        yield f"credentials: {caller}{_expiry(aws)}", None
    except AwsError as error:
        yield str(error), "look at the credentials"
        return
    where = (
        ""
        if aws.region == COMMON_CRAWLS_REGION
        else f" (Common Crawl's data is in {COMMON_CRAWLS_REGION}: reading them from here costs money)"
    )
    yield f"region: {aws.region}{where}", None
    if complaint:
        yield _bare(complaint), "make a bucket with `aws s3 mb s3://NAME`, and name it"
    elif runner.new_bucket:
        yield "no folder for temporary files is named: a bucket will be made for them", None
    else:
        yield from _bucket(aws, storage, runner)
    if runner.own_cluster:
        yield _seen(
            "iam:GetInstanceProfile",
            f"instance profile {_name(runner, 'iam_instance_profile')}",
            aws,
            "get_instance_profile",
            InstanceProfileName=_name(runner, "iam_instance_profile"),
        )
        yield _seen(
            "iam:GetRole",
            f"service role {_name(runner, 'iam_service_role')}",
            aws,
            "get_role",
            RoleName=_name(runner, "iam_service_role"),
        )
        yield _release(aws, str(runner.setting("release_label")))
        yield _network(aws, runner.setting("subnet"))
        yield from _own_cluster(aws, runner, caller)
    else:
        yield from _cluster(aws, str(runner.setting("cluster_id")))


def _expiry(aws: Aws) -> str:
    """What is known about when a session expires."""
    if not aws.of_a_session:
        return ""
    until = os.environ.get("AWS_CREDENTIAL_EXPIRATION")
    return f" (a session{f' until {until}' if until else ''}: runs that take longer can be collected after it)"


def _own_cluster(aws: Aws, runner: EmrRunner, caller: str) -> Iterator[Found]:
    """Check what a cluster of the job's own needs."""
    installs = " ".join(map(str, runner.setting("bootstrap")))
    instances = runner.cluster_alone()["Instances"]
    fleets = fleets_of(instances)
    try:
        subnets = subnets_of(aws, runner.setting("subnet"))
    except AwsError:
        subnets = []  # already reported
    yield from examine_machines(aws, fleets, sorted({each["AvailabilityZone"] for each in subnets}))
    pex = ".pex" in str(runner.setting("task_python_bin") or "")
    yield examine_native(aws, fleets, installed=pex or "crawlmill_native" in installs or "crawlmill-native" in installs)
    yield from examine_routes(aws, subnets, needs_internet="pip" in installs)
    service_role = _name(runner, "iam_service_role")
    if is_v2(aws, service_role):
        yield from examine_tags(aws, subnets, runner.setting("tags"), groups_of(instances))
    folder = str(runner.setting("cloud_tmp_dir"))
    bucket = (
        "" if runner.new_bucket or folder.startswith(_SOMEWHERE) else folder.removeprefix("s3://").partition("/")[0]
    )
    key = runner.storage_options.s3_sse_kms_key_id
    yield from examine_rights(aws, caller, service_role, _name(runner, "iam_instance_profile"), bucket, key)


def _runner(conf_paths: list[str], settings: dict[str, Any]) -> tuple[EmrRunner, UsageError | None]:
    """The runner; if there is no folder on S3, one with a placeholder, and the error about that."""
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
        make = f"make the bucket with `aws s3 mb s3://{bucket}`, or name another"
        allow = "see docs/policies/; if the bucket demands a header for encryption, set s3_sse in mrjob.conf"
        denied = isinstance(error, SourceError) and error.reason == "denied"
        yield f"{folder} cannot be written: {error}", allow if denied else make
        return
    yield f"{folder} can be written", None
    try:
        region = aws.region_of(bucket)
    except AwsError as error:
        yield unseen(f"region of {bucket}", error)
        return
    if region == aws.region:
        yield f"{bucket} is in {region} too", None
    else:
        yield f"{bucket} is in {region}, the cluster in {aws.region}", "name a bucket in the cluster's region"


def _seen(permission: str, what: str, aws: Aws, operation: str, **arguments: Any) -> Found:
    try:
        aws.ask("iam", operation, **arguments)
    except AwsError as error:
        if error.denied:
            return f"{what} (not checked: {permission} is not allowed)", None
        if error.code == "NoSuchEntity":
            return f"{what} does not exist", _ROLES
        return f"{what}: {error}", "try again"
    return what, None


def _release(aws: Aws, label: str) -> Found:
    """Whether EMR has the release."""
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
        return unseen(f"release {label}", error)
    newest = f"; the first that EMR names is {known[0]}" if known else ""
    return f"there is no release {label} in {aws.region}", f"set release_label in mrjob.conf{newest}"


def _network(aws: Aws, subnets: Any) -> Found:
    """Whether there is a subnet for the cluster."""
    try:
        if subnets:
            wanted = [subnets] if isinstance(subnets, str) else list(subnets)
            aws.ask("ec2", "describe_subnets", SubnetIds=wanted)
            return f"subnet {', '.join(wanted)}", None
        found = aws.ask("ec2", "describe_vpcs", Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    except AwsError as error:
        if error.code.startswith("InvalidSubnet"):
            return f"there is no subnet {subnets} in {aws.region}", "set subnet in mrjob.conf"
        return unseen("network", error)
    if not found:
        return f"there is no default VPC in {aws.region}", "name a subnet in mrjob.conf: subnet: subnet-…"
    return f"default VPC {found[0]['VpcId']}", None


def _cluster(aws: Aws, name: str) -> Iterator[Found]:
    try:
        cluster = aws.ask("emr", "describe_cluster", ClusterId=name)["Cluster"]
    except AwsError as error:
        yield f"cluster {name}: {error}", "check its name and region"
        return
    state = str(cluster["Status"]["State"])
    if state.startswith("TERMINAT"):
        yield f"cluster {name} takes no steps: it is {state.lower()}", "name another with --cluster-id"
        return
    yield f"cluster {name} is {state.lower()}", None
    if (at_a_time := int(cluster.get("StepConcurrencyLevel") or 1)) > 1:
        yield f"cluster {name} runs {at_a_time} steps at a time: it takes jobs of one step only", None
    try:
        idle = aws.ask("emr", "get_auto_termination_policy", ClusterId=name).get("AutoTerminationPolicy", {})
    except AwsError as error:
        yield unseen(f"termination policy of {name}", error)
        return
    if seconds := idle.get("IdleTimeout"):
        yield f"cluster {name} ends after {seconds // 60} minutes without work", None
    elif cluster.get("AutoTerminate"):
        yield f"cluster {name} ends after its last step", None
    else:
        yield (
            f"cluster {name} has no termination policy: it costs until somebody ends it",
            f"aws emr put-auto-termination-policy --cluster-id {name} --auto-termination-policy IdleTimeout=1800",
        )


def _name(runner: EmrRunner, option: str) -> str:
    """A role's name, from its name or ARN."""
    return str(runner.setting(option)).rpartition("/")[2]
