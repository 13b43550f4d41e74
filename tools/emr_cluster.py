"""Start a cluster on EMR that waits for jobs, as mrjob.conf describes it, and print its id.

It ends by itself after `max_mins_idle` minutes without work (30, unless mrjob.conf says otherwise). Jobs that name it
with --cluster-id never end it; `aws emr terminate-clusters --cluster-ids ID` does.

    python tools/emr_cluster.py --cloud-tmp-dir s3://YOUR-BUCKET/crawlmill/
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from crawlmill.errors import CrawlmillError
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.mr.run.conf import conf_paths
from crawlmill.storage import Storage


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-c", "--conf-path", action="append", dest="conf_paths", metavar="FILE")
    parser.add_argument("--cloud-tmp-dir", metavar="S3", help="the folder for temporary files")
    parser.add_argument("--region", metavar="REGION")
    options = parser.parse_args(arguments)
    settings = {"cloud_tmp_dir": options.cloud_tmp_dir, "region": options.region}
    try:
        runner = runner_of(options.conf_paths, settings)
        print(start(runner, runner.waiting_cluster))
    except CrawlmillError as error:
        print(f"emr_cluster: {error}", file=sys.stderr)
        return 1
    return 0


def runner_of(paths: list[str] | None, settings: dict[str, Any]) -> EmrRunner:
    """What writes the request. Raises: UsageError."""
    runner = EmrRunner(conf_paths=conf_paths(paths, None), input_paths=["none"], **settings)
    runner.lend_credentials()
    return runner


def start(runner: EmrRunner, request: Any) -> str:
    """Put the bootstrap on S3, and ask for the cluster; its id. Raises: CrawlmillError."""
    runner.prepare_cluster()
    with Storage(runner.storage_options) as storage:
        runner.upload(storage)
    return str(runner.aws.ask_once("emr", "run_job_flow", **request())["JobFlowId"])


if __name__ == "__main__":
    sys.exit(main())
