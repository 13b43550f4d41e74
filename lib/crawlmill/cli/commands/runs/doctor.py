"""Check whether a runner works from here, and how to fix it: a line for each thing it needs, with `ok` or what to do.

The exit code is 1 if there is a problem. Nothing is started, and no files are left.

Examples:
  crawlmill doctor emr
  crawlmill doctor emr --cloud-tmp-dir s3://my-bucket/crawlmill/ --region us-east-1
  crawlmill doctor hadoop
"""

from __future__ import annotations

import argparse
import sys

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.mr.engines.doctor import examinable, examine
from crawlmill.mr.engines.registry import ENGINES
from crawlmill.mr.run.conf import conf_paths
from crawlmill.terminal.text import visible_lines

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("engine", metavar="ENGINE", choices=examinable(), help=f"the runner: {', '.join(examinable())}")
    parser.add_argument(
        "-c",
        "--conf-path",
        action="append",
        dest="conf_paths",
        metavar="FILE",
        help="the mrjob.conf to read (default: the one that jobs find)",
    )
    emr = parser.add_argument_group("for EMR, if mrjob.conf does not set it")
    emr.add_argument("--region", metavar="REGION", help="the region of the cluster")
    emr.add_argument("--cloud-tmp-dir", metavar="S3", help="the folder for temporary files")
    emr.add_argument("--cluster-id", metavar="ID", help="a cluster that is already running")


def run(options: argparse.Namespace) -> int:
    """Run the checks and print the findings."""
    settings = {name: getattr(options, name) for name in ("region", "cloud_tmp_dir", "cluster_id")}
    for name, given in settings.items():
        if given is not None and name not in ENGINES[options.engine].settings:
            whose = ", ".join(engine.name for engine in ENGINES.values() if name in engine.settings)
            raise UsageError(f"--{name.replace('_', '-')}: only for {whose}, not for {options.engine}")
    problems = 0
    with make_storage(options) as storage:
        for finding in examine(options.engine, conf_paths(options.conf_paths, None), storage, settings):
            sys.stdout.write(f"{visible_lines(str(finding))}\n")
            sys.stdout.flush()
            problems += finding.advice is not None
    return int(problems > 0)
