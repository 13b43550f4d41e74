"""Run a job that comes with Crawlmill, just like its script in `jobs/`.

Examples:
  crawlmill run tag_count crawl.paths
  crawlmill run word_count --top 10 -r spark --output-dir out crawl.wet.paths.gz
  crawlmill run tag_count --help
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from crawlmill.cli.jobs import job_names, load_job, summary_of

__all__ = ["READS", "add_arguments", "run"]

READS: Final = False
"""The job has options for its storage of its own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("job", metavar="JOB", help="the name of the job (see the list)")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="options and lists of the job")
    shown = "\n".join(f"  {name:22}{summary_of(name)}" for name in job_names())
    parser.description = f"{parser.description}\nJobs:\n{shown}\n"


def run(options: argparse.Namespace) -> int:
    """Run the job, which exits the process itself if its exit code is not 0."""
    job = load_job(options.job)
    sys.argv = [str(job.shown_as), *options.arguments]
    job.run()
    return 0
