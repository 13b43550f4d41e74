"""What a launcher tells its tasks reaches them whole, once, and is all that changes between launcher and tasks."""

from __future__ import annotations

import copy
import io

import pytest
from tests.mr.test_counting import HostCount

from crawlmill.mr.task.settings import OPTION, TaskSettings
from crawlmill.storage import StorageOptions

OPTIONS = StorageOptions(read_timeout_s=7.5, retries=3, s3_endpoint="http://h:1", limits_folder="/l", share=4)


@pytest.mark.parametrize("settings", [TaskSettings(StorageOptions()), TaskSettings(OPTIONS, "s3://b/left 1")])
def test_settings_reach_a_task(settings):
    job = HostCount(["--mapper", "--step-num=0", settings.argument()])
    assert job.options.task_settings == settings
    assert job.storage.options == settings.storage


def test_tasks_of_a_process_share_what_opens_inputs():
    jobs = [HostCount(["--mapper", TaskSettings(OPTIONS).argument()]) for _ in range(2)]
    assert jobs[0].storage is jobs[1].storage
    assert HostCount(["--mapper", TaskSettings(StorageOptions()).argument()]).storage is not jobs[0].storage


def test_launch_changes_no_option_of_its_job(crawl, monkeypatch):
    monkeypatch.setenv("CRAWLMILL_CORE", "python")
    lst = str(crawl.list(crawl.warc("a", "http://e.org/1")))
    job = HostCount(["--no-conf", "--no-progress", "-r", "inline", "--cmdenv", "A=b", lst])
    before, out = copy.deepcopy(vars(job.options)), io.BytesIO()
    job.sandbox(stdout=out)
    job.run_job()
    assert b'"e.org"\t' in out.getvalue()
    assert vars(job.options) == before
    assert not [argument for argument in job._cl_args if argument.startswith(OPTION)]
