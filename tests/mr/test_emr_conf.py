"""The project's mrjob.conf: what it has nodes install is what the project needs."""

from __future__ import annotations

import configparser
import shlex

from tests.mr.helpers import PROJECT

from crawlmill.mr.compat import load_conf
from crawlmill.mr.engines.emr.runner import EmrRunner

# mrjob travels with the job; the others are for Pythons that the nodes do not have.
NOT_FOR_NODES = ("mrjob", "setuptools", "standard-pipes")


def installed() -> list[set[str]]:
    """The requirements of each `pip install` of the bootstrap."""
    conf = load_conf((PROJECT / "mrjob.conf").read_text(encoding="utf-8"))
    lines = [line.partition("||")[0] for line in conf["runners"]["emr"]["bootstrap"]]
    return [set(shlex.split(line)[5:]) for line in lines if " pip install " in line]


def test_nodes_install_what_the_project_requires():
    project = configparser.ConfigParser()
    project.read(PROJECT / "setup.cfg")
    wanted = set(project["options"]["install_requires"].strip().splitlines())
    fast = set(project["options.extras_require"]["fast"].strip().splitlines())
    tables = set(project["options.extras_require"]["columnar"].strip().splitlines())
    structured = set(project["options.extras_require"]["structured"].strip().splitlines())
    of_tasks = {each for each in tables if each.startswith("pyarrow")}  # the rest is for queries, which no task makes
    assert installed() == [{each for each in wanted if not each.startswith(NOT_FOR_NODES)}, fast, of_tasks, structured]


def test_cluster_is_asked_for_as_the_file_says(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    runner = EmrRunner(conf_paths=[str(PROJECT / "mrjob.conf")], cloud_tmp_dir="s3://b/t/", input_paths=["x"])
    runner.prepare()
    asked = runner.cluster()
    assert asked["ReleaseLabel"] == "emr-7.14.0"
    assert asked["JobFlowRole"] == "EMR_EC2_DefaultRole"
    assert asked["ServiceRole"] == "EMR_DefaultRole"
    assert asked["LogUri"] == "s3://b/t/logs/"
    assert not asked["Instances"].get("KeepJobFlowAliveWhenNoSteps")
    fleets = {fleet["InstanceFleetType"]: fleet for fleet in asked["Instances"]["InstanceFleets"]}
    wanted = ("TargetOnDemandCapacity", "TargetSpotCapacity")
    assert {role: [fleet.get(market, 0) for market in wanted] for role, fleet in fleets.items()} == {
        "MASTER": [1, 0],
        "CORE": [1, 0],
        "TASK": [0, 4],
    }
    assert [action["Name"] for action in asked["BootstrapActions"]] == ["master"]
