"""`--max-running-tasks`: what the launcher tells an engine and its tasks, so that they keep to the limits of hosts."""

from __future__ import annotations

import pytest
from tests.mr.helpers import run_here
from tests.mr.test_counting import HostCount
from tests.mr.test_engines import engine  # noqa: F401 - a fixture
from tests.storage.faults import FaultServer, Thing

from crawlmill.mr.task.task_list import limited


@pytest.fixture
def web(crawl):
    with FaultServer() as server:
        server.lines = []
        for number in range(4):
            server.things[f"/{number}"] = Thing(crawl.warc(f"w{number}", "http://e.org/").read_bytes())
            server.lines.append(f"{server.url}/{number}")
        yield server


@pytest.fixture
def told(engine, monkeypatch):  # noqa: F811
    """What tasks were given, and how many may run."""
    found = {}
    run = engine.run

    def spy(self):
        found["storage"] = self.job(["--mapper", self.for_tasks.argument()]).storage.options
        run(self)

    monkeypatch.setattr(engine, "run", spy)
    return found


@pytest.mark.parametrize(
    ("options", "share", "said"),
    [
        ((), 4, False),  # no more than there are tasks
        (("--max-running-tasks", "3"), 3, False),
        (("--max-running-tasks", "3", "--max-connections-per-host", "2"), 2, True),
        (("--max-connections-per-host", "2", "--quiet"), 2, False),
        (("--max-connections-per-host", "9"), 4, False),
        (("--inputs-per-task", "2"), 2, False),
    ],
)
def test_tasks_share_the_limits_and_no_more_of_them_run(crawl, web, told, options, share, said) -> None:
    result = run_here(HostCount, "-r", "emr", *options, crawl.list(*web.lines))
    assert result.code == 0, result.err
    assert told["storage"].share == share
    assert told["storage"].limits_folder is None
    assert (
        f"at most {share} map tasks run at a time: more connections to 127.0.0.1 are not allowed" in result.err
    ) is said


def test_inputs_that_are_on_no_web_server_are_not_limited(crawl, told) -> None:
    assert run_here(HostCount, "-r", "emr", crawl.list(crawl.warc("a", "http://e.org/"))).code == 0
    assert told["storage"].share == 1


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_on_one_machine_there_is_nothing_to_share(crawl, runner) -> None:
    result = run_here(HostCount, "-r", runner, "--max-running-tasks", 3, crawl.list(crawl.warc("a", "http://e.org/")))
    assert result.code == 1
    assert "--max-running-tasks" in result.err


@pytest.mark.parametrize(("given", "limit"), [(None, 8), ("5", 5), (5, 5), ("50", 8), ("0", 8), ("-1", 8), ("many", 8)])
def test_lower_limit_of_the_user_stands(given, limit) -> None:
    name = "mapreduce.job.running.map.limit"
    properties = {"x": "y", **({name: given} if given is not None else {})}
    assert limited(properties, 8) == {"x": "y", name: limit}
