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


@pytest.mark.parametrize(("kind", "settings"), [(HadoopRunner, {}), (EmrRunner, {"cloud_tmp_dir": "s3://b/tmp/"})])
@pytest.mark.parametrize(("by_user", "wanted"), [({}, ["1", "3"]), ({"mapreduce.job.reduces": "5"}, ["1", "5"])])
def test_number_of_reducers_is_set_where_neither_the_step_nor_the_user_sets_it(kind, settings, by_user, wanted):
    script = {"type": "script"}
    step = {"type": "streaming", "mapper": script, "reducer": script}
    steps = [{**step, "jobconf": {"mapreduce.job.reduces": 1}}, step]
    runner = kind(conf_paths=[], jobconf=by_user, input_paths=["x"], mr_job_script=__file__, steps=steps, **settings)
    runner.set_reducers(3)
    assert [str(runner._jobconf_for_step(number)["mapreduce.job.reduces"]) for number in range(2)] == wanted
