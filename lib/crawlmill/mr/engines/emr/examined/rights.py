"""The permissions of the launcher and the nodes, by IAM's policy simulator; and roles that EMR needs.

Spec: IAM API, SimulatePrincipalPolicy; Amazon EMR Management Guide, "Using service-linked roles"; Amazon S3 API,
GetBucketEncryption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from crawlmill.mr.engines.emr.aws import Aws, AwsError

__all__ = ["examine_rights", "is_v2"]

Found = tuple[str, str | None]

_LINKED: Final = {"AWSServiceRoleForEMRCleanup": "EMR", "AWSServiceRoleForEC2Spot": "EC2's spot market"}
_V2: Final = "AmazonEMRServicePolicy_v2"
_POLICIES: Final = "see docs/policies/"


def is_v2(aws: Aws, service_role: str) -> bool:
    """Whether the EMR role has the policy that requires tags."""
    try:
        attached = aws.ask("iam", "list_attached_role_policies", RoleName=service_role)["AttachedPolicies"]
    except AwsError:
        return service_role.endswith("_V2")
    return any(each["PolicyName"] == _V2 for each in attached)


def examine_rights(
    aws: Aws, caller: str, service_role: str, profile: str, bucket: str, key: str | None = None
) -> Iterator[Found]:
    """Check for missing permissions. `caller`: the launching identity from STS; `key`: the requested KMS key."""
    yield from _linked_roles(aws)
    try:
        roles = {role: aws.ask("iam", "get_role", RoleName=role)["Role"]["Arn"] for role in (service_role,)}
        of_nodes = aws.ask("iam", "get_instance_profile", InstanceProfileName=profile)["InstanceProfile"]["Roles"][0][
            "Arn"
        ]
    except (AwsError, IndexError):
        return  # already reported
    who = re.sub(r"^arn:(aws[\w-]*):sts::(\d+):assumed-role/([^/]+)/.*$", r"arn:\1:iam::\2:role/\3", caller)
    if not who.endswith(":root"):
        for arn, service in ((roles[service_role], "elasticmapreduce"), (of_nodes, "ec2")):
            context = [
                {
                    "ContextKeyName": "iam:PassedToService",
                    "ContextKeyType": "string",
                    "ContextKeyValues": [f"{service}.amazonaws.com"],
                }
            ]
            yield from _may(aws, who, "you", ["iam:PassRole"], [arn], context)
    yield from _may(aws, of_nodes, "nodes", ["s3:GetObject"], ["arn:aws:s3:::commoncrawl/*"])
    if bucket:
        objects = [f"arn:aws:s3:::{bucket}/*"]
        yield from _may(aws, of_nodes, "nodes", ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], objects)
        key = key or _key(aws, bucket)
    if key and key.startswith("arn:"):
        for arn, name in ((of_nodes, "nodes"), (who, "you")):
            if not arn.endswith(":root"):  # the account itself cannot be simulated, and may do anything
                yield from _may(aws, arn, name, ["kms:GenerateDataKey", "kms:Decrypt"], [key])


def _linked_roles(aws: Aws) -> Iterator[Found]:
    for role, whose in _LINKED.items():
        try:
            aws.ask("iam", "get_role", RoleName=role)
        except AwsError as error:
            if error.code == "NoSuchEntity":
                made = "the first cluster makes it, for which you need iam:CreateServiceLinkedRole"
                yield f"service-linked role {role} of {whose} is not there yet: {made}", None


def _may(
    aws: Aws, who: str, name: str, actions: list[str], resources: list[str], context: list[dict[str, Any]] | None = None
) -> Iterator[Found]:
    """Whether all of the actions are allowed on all of the resources."""
    what = f"{name} may {', '.join(actions)} on {', '.join(resources)}"
    try:
        results = list(
            aws.pages(
                "iam",
                "simulate_principal_policy",
                "EvaluationResults",
                PolicySourceArn=who,
                ActionNames=actions,
                ResourceArns=resources,
                ContextEntries=context or [],
            )
        )
    except AwsError as error:
        yield f"{what} (not checked: {'iam:SimulatePrincipalPolicy is not allowed' if error.denied else error})", None
        return
    refused = sorted({each["EvalActionName"] for each in results if each["EvalDecision"] != "allowed"})
    if refused:
        yield f"{name} may not {', '.join(refused)} on {', '.join(resources)}", _POLICIES
    else:
        yield what, None


def _key(aws: Aws, bucket: str) -> str | None:
    """The ARN of the KMS key that encrypts the objects of a bucket, if its use needs permission."""
    try:
        rules = aws.ask("s3", "get_bucket_encryption", Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    except AwsError:
        return None
    for rule in rules:
        key = str(rule.get("ApplyServerSideEncryptionByDefault", {}).get("KMSMasterKeyID") or "")
        if key.startswith("arn:") and "alias/aws/s3" not in key:
            return key
    return None
