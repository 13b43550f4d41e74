"""`crawlmill doctor`: a line for each look, and an exit code that says whether all is well."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tests.mr.helpers import environment

from crawlmill.cli import main

CONF = {"region": "us-east-1", "cloud_tmp_dir": "s3://tmp/runs/", "release_label": "emr-7.10.0"}


@pytest.fixture
def aws(tmp_path, monkeypatch):
    from tests.engines.emr.double import emr_double  # noqa: PLC0415 - moto takes a second to import

    with emr_double(tmp_path / "emr") as double:
        for name, value in double.environment.items():
            monkeypatch.setenv(name, value)
        iam = double.client("iam")
        iam.create_role(RoleName="EMR_DefaultRole", AssumeRolePolicyDocument="{}")
        iam.create_instance_profile(InstanceProfileName="EMR_EC2_DefaultRole")
        ec2 = double.client("ec2")
        vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        table = ec2.describe_route_tables()["RouteTables"][0]["RouteTableId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        ec2.create_route(RouteTableId=table, GatewayId=gateway, DestinationCidrBlock="0.0.0.0/0")
        monkeypatch.setattr(  # moto knows none of EC2's
            "moto.servicequotas.models.ServiceQuotasBackend.get_service_quota", lambda _, **__: {"Value": 64.0}
        )
        yield double


def examined(capsys, tmp_path: Path, engine: str, *options: str, **conf: object) -> tuple[int, list[str], list[str]]:
    """Exit code, lines of what is well, and of what is not."""
    path = tmp_path / "mrjob.conf"
    path.write_text(json.dumps({"runners": {"emr": {**CONF, **conf}}}))
    code = main(["doctor", engine, "-c", str(path), *options])
    lines = capsys.readouterr().out.splitlines()
    well = [line.removeprefix("ok: ") for line in lines if line.startswith("ok: ")]
    ill = [line.removeprefix("problem: ") for line in lines if line.startswith("problem: ")]
    assert len(well) + len(ill) == len(lines)
    assert all(" — " in line for line in ill)
    assert code == (1 if ill else 0)
    return code, well, ill


def test_emr_with_everything_in_place(aws, capsys, tmp_path):
    code, well, ill = examined(capsys, tmp_path, "emr")
    assert (code, ill) == (0, [])
    for line in (
        "region: us-east-1",
        "s3://tmp/runs/ can be written",
        "tmp is in us-east-1 too",
        "release emr-7.10.0",
        "instance profile EMR_EC2_DefaultRole",
        "service role EMR_DefaultRole",
    ):
        assert line in well
    assert any(line.startswith("credentials: arn:aws:") for line in well)
    assert any(line.startswith("default VPC vpc-") for line in well)
    assert aws.keys("s3://tmp/") == []


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        ({"cloud_tmp_dir": "s3://nobodys/x/"}, "s3://nobodys/x/ cannot be written"),
        ({"release_label": "emr-9.9.9"}, "there is no release emr-9.9.9 in us-east-1"),
        (
            {"iam_instance_profile": "arn:aws:iam::1:instance-profile/nobodys"},
            "instance profile nobodys does not exist",
        ),
        ({"iam_service_role": "nobodys"}, "service role nobodys does not exist"),
        ({"subnet": "subnet-12345678"}, "there is no subnet subnet-12345678"),
        ({"cluster_id": "j-NOBODYS"}, "cluster j-NOBODYS: EMR refuses DescribeCluster"),
    ],
)
def test_emr_with_one_thing_missing(aws, capsys, tmp_path, conf, problem):
    _, _, ill = examined(capsys, tmp_path, "emr", **conf)
    assert [line for line in ill if line.startswith(problem)] == ill
    assert len(ill) == 1


def test_emr_without_a_folder_for_temporary_files_will_make_a_bucket(aws, capsys, tmp_path):
    _, well, ill = examined(capsys, tmp_path, "emr", cloud_tmp_dir=None)
    assert ill == []
    assert "no folder for temporary files is named: a bucket will be made for them" in well
    assert [bucket["Name"] for bucket in aws.client("s3").list_buckets()["Buckets"]] == ["tmp", "mine"]


def test_emr_with_the_bucket_far_away(aws, capsys, tmp_path):
    far = aws.client("s3")
    far.create_bucket(Bucket="far", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    _, _, ill = examined(capsys, tmp_path, "emr", "--cloud-tmp-dir", "s3://far/tmp/")
    assert ill == ["far is in eu-west-1, the cluster in us-east-1 — name a bucket in the cluster's region"]


def test_emr_without_a_default_network(aws, capsys, tmp_path):
    ec2 = aws.client("ec2")
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    for subnet in ec2.describe_subnets()["Subnets"]:
        ec2.delete_subnet(SubnetId=subnet["SubnetId"])
    ec2.delete_vpc(VpcId=vpc)
    _, _, ill = examined(capsys, tmp_path, "emr")
    assert [line.partition(" — ")[0] for line in ill] == ["there is no default VPC in us-east-1"]


def test_emr_on_a_cluster_that_waits_needs_no_roles(aws, capsys, tmp_path):
    cluster = aws.waiting_cluster(AutoTerminationPolicy={"IdleTimeout": 1800}, StepConcurrencyLevel=2)
    _, well, ill = examined(capsys, tmp_path, "emr", "--cluster-id", cluster)
    assert ill == []
    assert not any("role" in line for line in well)
    assert f"cluster {cluster} ends after 30 minutes without work" in well
    assert f"cluster {cluster} runs 2 steps at a time: it takes jobs of one step only" in well
    _, _, ill = examined(capsys, tmp_path, "emr", "--cluster-id", aws.waiting_cluster())
    assert [re.sub(" j-[A-Z0-9]+", "", line).partition(" — ")[0] for line in ill] == [
        "cluster has no termination policy: it costs until somebody ends it"
    ]


def test_emr_ends_where_nothing_more_can_be_looked_at(aws, capsys, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    _, _, ill = examined(capsys, tmp_path, "emr")
    assert [line.startswith("no AWS credentials are found") for line in ill] == [True]


def test_emr_without_a_region_takes_that_of_the_data(aws, capsys, tmp_path):
    _, well, ill = examined(capsys, tmp_path, "emr", region=None)
    assert ill == []
    assert "region: us-east-1" in well


def test_this_machine_is_fit(capsys, tmp_path):
    code, well, _ = examined(capsys, tmp_path, "local")
    assert code == 0
    assert well[0].startswith(f"Python {sys.version_info[0]}.{sys.version_info[1]}")


@pytest.mark.parametrize(("engine", "problem"), [("hadoop", "no hadoop was found"), ("spark", "no spark-submit")])
def test_engine_without_its_program(capsys, tmp_path, monkeypatch, engine, problem):
    for name in ("HADOOP_HOME", "HADOOP_PREFIX", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", environment(PATH="/nonexistent")["PATH"])
    _, _, ill = examined(capsys, tmp_path, engine)
    assert [line.startswith(problem) for line in ill] == [True]
