"""The workflow of GitHub and the recipe of the image: what they name exists. Neither can be run here."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml
from tests.docs.pages import PROJECT

WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^\.PHONY: (.*)$", (PROJECT / "Makefile").read_text(), re.MULTILINE)[0].split())
INSTRUCTIONS = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request):
    text = request.param.read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    loaded["on"] = loaded.pop(True)  # as YAML 1.1 reads it
    return loaded


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_a_workflow():
    assert WORKFLOWS


def test_workflow_has_what_github_asks_of_it(workflow):
    assert set(workflow) <= {"name", "on", "permissions", "concurrency", "env", "jobs"}
    assert set(workflow["on"]) <= {"push", "pull_request", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert {"runs-on", "steps", "timeout-minutes"} <= set(job), name
        assert set(job.get("needs", [])) <= set(workflow["jobs"]), name
    for step in steps(workflow):
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), step


def test_workflow_runs_lint_quick_tests_and_the_site_by_make(workflow):
    called = {word for step in steps(workflow) for word in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))}
    assert called >= {"lint", "test-quick", "site"}
    assert called <= TARGETS


def test_workflow_makes_wheels_for_linux_and_macos_and_installs_them(workflow):
    native = workflow["jobs"]["native"]["strategy"]["matrix"]["include"]
    assert {entry["os"].partition("-")[0] for entry in native} == {"ubuntu", "macos"}
    assert set(workflow["jobs"]["installed"]["needs"]) == {"wheel", "native"}


def test_values_of_the_matrix_that_a_job_names_are_there(workflow):
    for name, job in workflow["jobs"].items():
        matrix = job.get("strategy", {}).get("matrix", {})
        known = set(matrix) | {key for entry in matrix.get("include", []) for key in entry}
        assert set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", yaml.safe_dump(job))) <= known, name


def test_oldest_python_of_the_workflow_is_the_oldest_that_is_supported(workflow):
    oldest = re.search(r"python_requires = >=(3\.\d+)", (PROJECT / "setup.cfg").read_text())[1]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"][0] == oldest


def instructions():
    text = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in lines.splitlines() if line.strip()]


def test_image_is_not_roots_and_its_command_is_crawlmill():
    found = instructions()
    assert {name for name, _ in found} <= INSTRUCTIONS
    last = dict(found[max(number for number, (name, _) in enumerate(found) if name == "FROM") :])
    assert last["USER"] == "crawlmill"
    assert last["ENTRYPOINT"] == '["crawlmill"]'
    assert last["FROM"].startswith("python:${PYTHON}-slim")


def test_image_copies_what_exists_and_is_not_ignored():
    ignored = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    for name, arguments in instructions():
        if name == "COPY":
            *sources, _ = shlex.split(arguments)
            for source in sources:
                assert (PROJECT / source).exists(), source
                assert f"!{source}" in ignored, source


def test_image_is_built_of_all_that_a_wheel_needs():
    copied = {word for name, arguments in instructions() if name == "COPY" for word in shlex.split(arguments)[:-1]}
    assert copied >= {"lib", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "docs/crawlmill.1", "native"}
    assert copied >= {"mrjob.conf"}, "lib/crawlmill/mrjob.conf is a link to it"
