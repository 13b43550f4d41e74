"""What `doctor emr` finds in accounts of many kinds. AWS answers by rote here; requests and answers must have the shapes
of AWS' own description of its interfaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import get_session
from botocore.validate import validate_parameters

from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.examined import recipe
from crawlmill.mr.engines.emr.examined.network import examine_routes, examine_tags, groups_of
from crawlmill.mr.engines.emr.examined.recipe import examine_machines, examine_native, fleets_of
from crawlmill.mr.engines.emr.examined.rights import examine_rights, is_v2

DENIED = AwsError("IAM refuses it", code="AccessDenied")
GONE = AwsError("no such role", code="NoSuchEntity")


class Account(Aws):
    """AWS, as far as the answers go: by operation, a dict or what makes one of the arguments."""

    def __init__(self, **answers: Any) -> None:
        self.region, self.answers = "us-east-1", answers

    def ask(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        model = get_session().get_service_model(service)
        shape = next(model.operation_model(name) for name in model.operation_names if xform_name(name) == operation)
        validate_parameters(arguments, shape.input_shape)
        answer = self.answers[operation]
        answer = answer(**arguments) if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        validate_parameters(answer, shape.output_shape)
        return answer

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> Iterator[Any]:
        yield from self.ask(service, operation, **arguments)[key]


FLEETS = fleets_of({"InstanceFleets": [
    {"InstanceFleetType": "MASTER", "TargetOnDemandCapacity": 1, "InstanceTypeConfigs": [{"InstanceType": "m6i.xlarge"}]},
    {"InstanceFleetType": "TASK", "TargetSpotCapacity": 4,
     "InstanceTypeConfigs": [{"InstanceType": "m6i.2xlarge"}, {"InstanceType": "m5.2xlarge"}]},
]})  # fmt: skip


def machine(name: str, vcpus: int, kind: str = "x86_64") -> dict[str, Any]:
    return {"InstanceType": name, "VCpuInfo": {"DefaultVCpus": vcpus},
            "ProcessorInfo": {"SupportedArchitectures": [kind]}}  # fmt: skip


def ec2(offered: dict[str, list[str]], spot: float = 64) -> dict[str, Any]:
    quotas = {"L-1216C47A": 4.0, "L-34B43A08": spot}
    types = [machine("m6i.xlarge", 4), machine("m6i.2xlarge", 8), machine("m5.2xlarge", 8)]
    return {
        "describe_instance_types": {"InstanceTypes": types},
        "get_service_quota": lambda **asked: {"Quota": {"Value": quotas[asked["QuotaCode"]]}},
        "describe_instance_type_offerings": {"InstanceTypeOfferings": [
            {"InstanceType": name, "Location": zone} for zone, names in offered.items() for name in names
        ]},
    }  # fmt: skip


def problems(found: Iterator[tuple[str, str | None]]) -> list[str]:
    return [what for what, advice in found if advice is not None]


def test_machines_that_the_account_may_have_and_the_zone_offers():
    account = Account(**ec2({"us-east-1a": ["m6i.xlarge", "m5.2xlarge"]}))
    assert [*examine_machines(account, FLEETS, ["us-east-1a"])] == [
        ("vCPUs on demand: the recipe needs 4, the account may have 4", None),
        ("vCPUs spot: the recipe needs 32, the account may have 64", None),
        ("us-east-1a: a type for each of master, task", None),
    ]


def test_quota_that_is_too_small_and_zone_without_a_type():
    account = Account(**ec2({"us-east-1e": ["m6i.xlarge"]}, spot=16))
    assert problems(examine_machines(account, FLEETS, ["us-east-1e"])) == [
        "vCPUs spot: the recipe needs 32, the account may have 16",
        "us-east-1e offers no machine for task: m6i.2xlarge, m5.2xlarge",
    ]


def test_what_may_not_be_looked_at_is_said_and_no_problem():
    account = Account(**{**ec2({}), "describe_instance_types": DENIED})
    assert [*examine_machines(account, FLEETS, [])] == [("types of machines (not checked: not allowed)", None)]


@pytest.mark.parametrize(("have", "kind", "installed", "problem"), [
    (["x86_64"], "x86_64", False, None),
    (["x86_64"], "arm64", False, "there is no native core for aarch64"),
    ([], "x86_64", False, "there is no native core for x86_64"),
    ([], "x86_64", True, None),
])  # fmt: skip
def test_native_core_for_the_kind_of_machine(monkeypatch, have, kind, installed, problem):
    monkeypatch.setattr(recipe, "native_modules", lambda: dict.fromkeys(have, ("x.so", b"")))
    account = Account(describe_instance_types={"InstanceTypes": [machine("m6i.2xlarge", 8, kind)]})
    what, advice = examine_native(account, FLEETS, installed=installed)
    assert (advice is None) == (problem is None)
    assert problem is None or what.startswith(problem)


NAT = {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1"}
IGW = {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-1"}
SUBNET = {"SubnetId": "subnet-1", "VpcId": "vpc-1", "AvailabilityZone": "us-east-1a"}


def network(route: dict[str, str] | None, *, gateway: bool, main: bool = False) -> Account:
    table = {"RouteTableId": "rtb-1", "Routes": [route] if route else []}

    def tables(Filters: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        own = Filters[0]["Name"] == "association.subnet-id"
        return {"RouteTables": [] if own and main else [table]}

    endpoint = {"VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-1"]}
    return Account(describe_route_tables=tables, describe_vpc_endpoints={"VpcEndpoints": [endpoint] if gateway else []})


@pytest.mark.parametrize(("route", "gateway", "internet", "said"), [
    (IGW, False, True, None),
    (NAT, True, True, None),
    (NAT, False, True, "subnet-1 reaches S3 through a NAT: some $0.045 for each GB read"),
    (None, False, False, "subnet-1 has no way to S3"),
    (None, True, True, "subnet-1 has no way to the internet, from which bootstrap installs packages"),
    (None, True, False, None),
    ({**NAT, "State": "blackhole"}, True, True, "subnet-1 has no way to the internet, from which bootstrap installs packages"),
])  # fmt: skip
@pytest.mark.parametrize("main", [True, False])
def test_way_to_the_internet_and_to_s3(route, gateway, internet, said, main):
    account = network(route, gateway=gateway, main=main)
    assert problems(examine_routes(account, [SUBNET], needs_internet=internet)) == ([said] if said else [])


def test_tags_that_the_second_policy_of_emr_asks_for():
    tag = {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"}
    asked: list[dict[str, Any]] = []

    def groups(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"SecurityGroups": [{"GroupId": "sg-1", "Tags": [tag]}, {"GroupId": "sg-2"}]}

    account = Account(
        describe_vpcs={"Vpcs": [{"VpcId": "vpc-1", "Tags": [tag]}]}, describe_security_groups={"SecurityGroups": []}
    )
    assert problems(examine_tags(account, [{**SUBNET, "Tags": [tag]}], {tag["Key"]: "true"})) == []
    account.answers["describe_security_groups"] = groups
    said = problems(examine_tags(account, [SUBNET], {}))
    assert [what.partition(" ")[0] for what in said] == ["the", "subnet-1", "sg-2"]
    problems(examine_tags(account, [SUBNET], {}, ["sg-1", "sg-2"]))
    of_emr, named = asked
    assert {"ElasticMapReduce-master", "ElasticMapReduce-slave"} <= {*of_emr["Filters"][1]["Values"]}
    assert named == {"GroupIds": ["sg-1", "sg-2"]}


def test_security_groups_that_a_request_names():
    instances = {"EmrManagedMasterSecurityGroup": "sg-2", "EmrManagedSlaveSecurityGroup": "sg-1",
                 "AdditionalMasterSecurityGroups": ["sg-3"], "Ec2SubnetId": "subnet-1"}  # fmt: skip
    assert groups_of(instances) == ["sg-1", "sg-2", "sg-3"]
    assert groups_of({}) == []


@pytest.mark.parametrize(("answer", "v2"), [
    ({"AttachedPolicies": [{"PolicyName": "AmazonEMRServicePolicy_v2"}]}, True),
    ({"AttachedPolicies": [{"PolicyName": "AmazonElasticMapReduceRole"}]}, False),
    (DENIED, False),
])  # fmt: skip
def test_second_policy_of_emr_is_known_by_what_is_attached(answer, v2):
    assert is_v2(Account(list_attached_role_policies=answer), "EMR_DefaultRole") == v2
    assert is_v2(Account(list_attached_role_policies=DENIED), "EMR_DefaultRole_V2")


KEY = "arn:aws:kms:us-east-1:1:key/k"


def iam(refused: tuple[str, ...] = (), key: str = "") -> tuple[Account, list[dict[str, Any]]]:
    asked: list[dict[str, Any]] = []

    def simulate(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        decisions = {name: "implicitDeny" if name in refused else "allowed" for name in arguments["ActionNames"]}
        return {
            "EvaluationResults": [{"EvalActionName": name, "EvalDecision": said} for name, said in decisions.items()]
        }

    def role(RoleName: str) -> Any:  # noqa: N803
        if RoleName.startswith("AWSServiceRole"):
            return GONE
        return {"Role": {"Path": "/", "RoleName": RoleName, "RoleId": "R" * 16, "CreateDate": "2020-01-01T00:00:00Z",
                         "Arn": f"arn:aws:iam::123456789012:role/{RoleName}"}}  # fmt: skip

    profile = {"Path": "/", "InstanceProfileName": "nodes", "InstanceProfileId": "P" * 16, "CreateDate": 0,
               "Arn": "arn:aws:iam::123456789012:instance-profile/nodes", "Roles": [role("nodes-role")["Role"]]}  # fmt: skip
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}} if key else {}
    account = Account(
        get_role=role, get_instance_profile={"InstanceProfile": profile}, simulate_principal_policy=simulate,
        get_bucket_encryption={"ServerSideEncryptionConfiguration": {"Rules": [rule]}},
    )  # fmt: skip
    return account, asked


ME = "arn:aws:sts::123456789012:assumed-role/admin/me"


def test_rights_that_are_there():
    account, asked = iam(key=KEY)
    found = [*examine_rights(account, ME, "EMR_DefaultRole", "nodes", "mine")]
    assert problems(iter(found)) == []
    assert [what for what, _ in found if "service-linked role" in what] != []
    assert [
        (each["PolicySourceArn"].rpartition("/")[2], each["ActionNames"], each["ResourceArns"]) for each in asked
    ] == [
        ("admin", ["iam:PassRole"], ["arn:aws:iam::123456789012:role/EMR_DefaultRole"]),
        ("admin", ["iam:PassRole"], ["arn:aws:iam::123456789012:role/nodes-role"]),
        ("nodes-role", ["s3:GetObject"], ["arn:aws:s3:::commoncrawl/*"]),
        ("nodes-role", ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], ["arn:aws:s3:::mine/*"]),
        ("nodes-role", ["kms:GenerateDataKey", "kms:Decrypt"], [KEY]),
        ("admin", ["kms:GenerateDataKey", "kms:Decrypt"], [KEY]),
    ]
    passed = [each["ContextEntries"][0]["ContextKeyValues"] for each in asked[:2]]
    assert passed == [["elasticmapreduce.amazonaws.com"], ["ec2.amazonaws.com"]]


def test_rights_that_are_missing_are_problems():
    account, _ = iam(refused=("iam:PassRole", "s3:PutObject", "kms:Decrypt"), key=KEY)
    said = problems(examine_rights(account, ME, "EMR_DefaultRole", "nodes", "mine"))
    assert [re.sub(" on .*", "", what) for what in said] == [
        "you may not iam:PassRole", "you may not iam:PassRole", "nodes may not s3:PutObject", "nodes may not kms:Decrypt",
        "you may not kms:Decrypt",
    ]  # fmt: skip


def test_key_that_is_asked_for_is_the_one_that_matters_and_nobody_simulates_an_accounts_owner():
    account, asked = iam(key=KEY)
    problems(examine_rights(account, "arn:aws:iam::123456789012:root", "EMR_DefaultRole", "nodes", "mine", f"{KEY}-2"))
    kms = [each for each in asked if each["ActionNames"][0].startswith("kms:")]
    assert [(each["PolicySourceArn"].rpartition("/")[2], each["ResourceArns"]) for each in kms] == [
        ("nodes-role", [f"{KEY}-2"])
    ]
