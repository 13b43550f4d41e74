"""The policies of the docs allow what the code does, and the recipe is what EMR's interface takes."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.validate import validate_parameters
from tests.aws import boto3
from tests.mr.helpers import PROJECT

from crawlmill.mr.engines.emr.runner import EmrRunner

ENGINE = PROJECT / "lib" / "crawlmill" / "mr" / "engines" / "emr"
POLICIES = PROJECT / "docs" / "policies"
# RunJobFlow asks for these besides, as its request names tags and a policy of when to end.
BESIDES = {"AddTags", "PutAutoTerminationPolicy"}


def client(service: str):
    return boto3.client(service, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def words_of(path: Path) -> set[str]:
    """The strings in a module."""
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if type(node) is ast.Constant and isinstance(node.value, str)
    }


def statements(name: str) -> dict[str, dict]:
    return {each["Sid"]: each for each in json.loads((POLICIES / name).read_text())["Statement"]}


def test_launcher_may_do_what_a_run_asks_of_emr_and_nothing_else():
    operations = {xform_name(name): name for name in client("emr").meta.service_model.operation_names}
    used = {
        operations[word]
        for path in ENGINE.glob("*.py")
        if not path.name.startswith("doctor")
        for word in words_of(path)
        if word in operations
    }
    allowed = statements("emr-launcher.json")["Clusters"]["Action"]
    assert sorted(allowed) == sorted(f"elasticmapreduce:{name}" for name in used | BESIDES)


def test_roles_are_passed_to_the_services_that_take_them_only():
    of = statements("emr-launcher.json")
    passed = {of[sid]["Condition"]["StringEquals"]["iam:PassedToService"] for sid in ("ServiceRole", "NodesRole")}
    assert passed == {"elasticmapreduce.amazonaws.com", "ec2.amazonaws.com"}
    assert {action for each in of.values() for action in [each["Action"]] if isinstance(action, str)} == {
        "iam:PassRole",
        "iam:CreateServiceLinkedRole",
    }


@pytest.mark.parametrize("name", ["emr-launcher.json", "emr-nodes.json"])
def test_bucket_can_be_read_written_and_cleaned(name):
    of = statements(name)
    assert {"s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:AbortMultipartUpload"} == set(
        of["Objects"]["Action"]
    )
    assert "s3:ListBucket" in of["Bucket"]["Action"]
    assert of["CommonCrawl"]["Resource"] == ["arn:aws:s3:::commoncrawl", "arn:aws:s3:::commoncrawl/*"]


@pytest.mark.parametrize("waiting", [True, False])
def test_recipe_is_a_request_that_emr_takes(monkeypatch, waiting):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    runner = EmrRunner(conf_paths=[str(PROJECT / "mrjob.conf")], cloud_tmp_dir="s3://b/", input_paths=["x"])
    request = runner.waiting_cluster() if waiting else runner.cluster_alone()
    validate_parameters(request, client("emr").meta.service_model.operation_model("RunJobFlow").input_shape)
    assert (request["ReleaseLabel"], request["Applications"]) == ("emr-7.14.0", [{"Name": "Hadoop"}])
    assert request.get("AutoTerminationPolicy") == ({"IdleTimeout": 1800} if waiting else None)
    assert "idle timeout" not in [action["Name"] for action in request["BootstrapActions"]]
    fleets = {fleet["InstanceFleetType"]: fleet for fleet in request["Instances"]["InstanceFleets"]}
    assert all(len(fleet["InstanceTypeConfigs"]) >= 3 for fleet in fleets.values())
    assert fleets["TASK"]["LaunchSpecifications"]["SpotSpecification"]["TimeoutAction"] == "SWITCH_TO_ON_DEMAND"
    assert all(
        each["EbsConfiguration"]["EbsBlockDeviceConfigs"][0]["VolumeSpecification"]["SizeInGB"] == 100
        for kind in ("CORE", "TASK")
        for each in fleets[kind]["InstanceTypeConfigs"]
    )
    (yarn,) = request["Configurations"]
    assert yarn["Properties"]["yarn.node-labels.am.default-node-label-expression"] == "CORE"
    assert {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"} in request["Tags"]
