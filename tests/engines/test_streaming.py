"""The commands that Hadoop streaming is given for a job's tasks."""

from __future__ import annotations

import pytest

from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.mr.engines.hadoop.runner import HadoopRunner


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.mark.parametrize(("kind", "settings"), [(HadoopRunner, {}), (EmrRunner, {"cloud_tmp_dir": "s3://b/tmp/"})])
def test_empty_values_of_options_reach_tasks(kind, settings):
    """Hadoop's own splitting of commands drops empty arguments, quoted or not, so none may stand alone."""
    given = ["--siblings", "", "--dir-root", "a b", "--top", "3", "--strip", ""]
    runner = kind(conf_paths=[], extra_args=given, input_paths=["x"], mr_job_script=__file__, **settings)
    passed = runner._args_for_task(0, "mapper")
    assert passed == ["--step-num=0", "--mapper", "--siblings=", "--dir-root", "a b", "--top", "3", "--strip="]
