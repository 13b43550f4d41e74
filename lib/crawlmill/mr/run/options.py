"""The options that jobs share, declared once; commands use the same declarations. Independent of mrjob.

Each `add_*` function takes a function that adds one option (`parser.add_argument`, or a job's `add_passthru_arg`, which
passes it on to tasks); other functions convert the parsed options for the layers below.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.storage import SSE, StorageOptions
from crawlmill.storage.coalesce import COALESCE
from crawlmill.storage.locations import absolute
from crawlmill.storage.mirrors import split_bases
from crawlmill.storage.shares import MAX_TASKS
from crawlmill.urls.matches import MATCHES

__all__ = [
    "RETRIES_ON_EMR",
    "Add",
    "BadLimit",
    "add_base_url",
    "add_ending",
    "add_lookup",
    "add_running",
    "add_s3",
    "add_storage",
    "check_lookup",
    "positive",
    "storage_options",
    "whole_number",
]

Add = Callable[..., Any]

RETRIES_ON_EMR: Final = 60
"""Tries of a task: S3 throttles a whole cluster for minutes, and half an hour without a byte ends a task."""


@dataclass(frozen=True, slots=True)
class BadLimit:
    """How many of a run's inputs may be bad (partial or failed): a number, or a share of the distinct inputs."""

    text: str
    number: int | None = None
    percent: float | None = None

    @classmethod
    def parse(cls, text: str) -> BadLimit:
        """Parse a limit such as `5` or `2.5%`; a type for argparse."""
        try:
            limit = cls(text, percent=float(text[:-1])) if text.endswith("%") else cls(text, number=int(text))
        except ValueError:
            limit = cls(text, number=-1)
        least, most = limit.number or limit.percent or 0, limit.percent or 0
        if not (0 <= least < math.inf and most <= 100):
            raise argparse.ArgumentTypeError(f"expected a number or a percentage such as 5 or 2.5%, got {text!r}")
        return limit

    def exceeded(self, bad: int, inputs: int) -> bool:
        """Whether this many bad inputs out of all exceed the limit."""
        if self.percent is not None:
            return bad * 100 > self.percent * inputs
        return bad > (self.number or 0)


def whole_number(least: int, what: str = "a whole number") -> Callable[[str], int]:
    """An argparse type: a whole number of at least `least`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= sys.maxsize:
            raise argparse.ArgumentTypeError(f"expected {what} of {least} or more, got {text!r}")
        return number

    return parse


def dropped_value(words: Iterable[str]) -> str | None:
    """What is wrong with a command line in which an option has the value `--`, which argparse may drop; else None."""
    options = takewhile(lambda word: word != "--", words)
    found = next((word for word in options if word.startswith("--") and word.partition("=")[2] == "--"), None)
    return found and f"argument {found.partition('=')[0]}: expected a value other than '--'"


def with_near_option(message: str, options: Iterable[str]) -> str:
    """A message of argparse; if it is about an unknown option, with a similar one of these."""
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

    unknown = re.match(r"unrecognized arguments: (?:.* )?(--[^= ]+)", message)
    near = unknown and get_close_matches(unknown[1], options, n=1)
    return f"{message}: did you mean {near[0]}?" if near else message


def positive(what: str) -> Callable[[str], float]:
    """An argparse type: a number greater than 0."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"expected {what} above 0, got {text!r}")
        return number

    return parse


class _BaseUrls(argparse.Action):
    """`--base-url A,B,…`: A is the base URL; storage looks for files missing there below the others."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        """Store the value."""
        bases = split_bases(str(values))
        setattr(namespace, self.dest, bases[0])
        namespace.bases = [absolute(base, os.getcwd()) for base in bases]  # noqa: PTH109


_BASE_OF_LISTS: Final = (
    "base for relative lines of a list, any kind of location (default: https://data.commoncrawl.org/ for keys of "
    "Common Crawl, the list's own folder for all others); in A,B,… what is not found below A is looked for below B, "
    "and so on"
)


def add_base_url(add: Add, what: str = _BASE_OF_LISTS) -> None:
    """Declare --base-url: where relative lines of a list resolve, or what `what` says."""
    add("--base-url", action=_BaseUrls, metavar="LOCATION", help=what)


def add_storage(add: Add) -> None:
    """Declare how bytes are fetched."""
    add(
        "--read-timeout",
        type=positive("a number of seconds"),
        default=60.0,
        metavar="S",
        help="retry a read after this many seconds without a byte (default: 60)",
    )
    add(
        "--retries",
        type=whole_number(0),
        metavar="N",
        help=f"give up on an input after this many retries without progress (default: {StorageOptions.retries}; in "
        f"tasks on EMR {RETRIES_ON_EMR}, about ten minutes)",
    )
    add(
        "--max-requests-per-second",
        type=positive("a number"),
        metavar="N",
        help="most requests a second to one HTTP or S3 host, from all processes together; on a cluster, each of N "
        "running tasks gets an Nth of it (default: 5 to data.commoncrawl.org, 1 to CDX APIs, else "
        "no limit)",
    )
    add(
        "--max-connections-per-host",
        type=whole_number(1),
        metavar="N",
        help="most connections to one HTTP or S3 host, from all processes; on a cluster, no more tasks "
        "than that run at a time (default: 8 to data.commoncrawl.org, 2 to CDX APIs, else no limit)",
    )
    add("--s3-requester-pays", action="store_true", help="pay for requests to S3 buckets that require it")
    add(
        "--s3-sse",
        choices=SSE,
        help="ask S3 to encrypt what is written, for buckets that demand the header (default: the bucket's own "
        "setting)",
    )
    add("--s3-sse-kms-key-id", metavar="KEY", help="with --s3-sse aws:kms: the KMS key, as an ARN (default: aws/s3)")
    add("--webhdfs", metavar="URL", help="WebHDFS address of the NameNode (default: from HADOOP_CONF_DIR)")


def add_s3(add: Add) -> None:
    """Declare the endpoint of S3; jobs have these two options from mrjob."""
    add("--s3-endpoint", metavar="URL", help="an S3 server other than Amazon's, such as MinIO")
    add("--s3-region", metavar="REGION", help="the region of the S3 buckets (default: from the AWS configuration)")


def add_ending(add: Add) -> None:
    """Declare how a run ends."""
    add(
        "--on-bad-input",
        choices=("skip", "fail"),
        default="skip",
        help="skip: count what can be read and exit with 2; fail: fail the job (default: skip)",
    )
    add(
        "--max-bad-inputs",
        type=BadLimit.parse,
        default=BadLimit("100%", percent=100.0),
        metavar="N|P%",
        help="fail the job if more inputs than this are bad, that is, partial or failed (default: 100%%)",
    )
    add(
        "--ledger",
        metavar="FILE",
        help="where to write the ledger, one JSON line per input (default: OUTPUT_DIR/_ledger.jsonl)",
    )


def add_running(add: Add) -> None:
    """Declare how the work is divided and watched."""
    add(
        "--inputs-per-task",
        type=whole_number(1),
        metavar="N",
        help="inputs per map task (default: one whole file; ranges in batches)",
    )
    add(
        "--coalesce",
        type=whole_number(0),
        default=COALESCE,
        metavar="BYTES",
        help="fetch two ranges of a file with one request if the gap between them is at most this, and no larger than "
        f"the ranges themselves (default: {COALESCE >> 10} KiB)",
    )
    add(
        "--max-running-tasks",
        type=whole_number(1),
        metavar="N",
        help=f"on a cluster: map tasks that may run at a time, so that together they respect host limits (default: "
        f"{MAX_TASKS} if an input is on a web server, else as many as the cluster runs)",
    )
    add(
        "--task-retries",
        type=whole_number(0),
        default=2,
        metavar="N",
        help="how often a failed task is retried, by the local runner, or by Spark without a master (default: 2)",
    )
    add(
        "--checkpoint",
        metavar="DIR",
        help="inline and local: keep the output of finished tasks in DIR; a later run of the same job with the same "
        "options and version reuses it and does not read those inputs again",
    )
    add(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="show progress (default: yes; every ten seconds if stderr is not a terminal)",
    )


def add_lookup(add: Add, *, times: bool = True) -> None:
    """Declare which captures of which indexes to select; `times`: also by time, which jobs can do for all records."""
    add(
        "--index",
        action="append",
        default=[],
        metavar="INDEX",
        help="where to look up: a file, a cluster, a crawl or a CDX API (may be repeated)",
    )
    add(
        "--match",
        choices=MATCHES,
        help="how patterns match, whatever their wildcards (default: as these say, else exact)",
    )
    add("--key", action="store_true", help="patterns are urlkeys such as com,example)/path")
    if times:
        add("--from", dest="start", metavar="TS", help="captures from this time on (1 to 14 digits, such as 202401)")
        add("--to", dest="end", metavar="TS", help="captures up to this time, inclusive")
    add(
        "--filter",
        action="append",
        default=[],
        metavar="[!][=|~]FIELD:VALUE",
        help="captures whose field contains, equals (=) or matches from the left (~) a value, or does not (!); "
        "may be repeated",
    )
    add("--newest", action="store_true", help="only the newest capture of each URL")
    add("--distinct", metavar="FIELD", help="only the first capture of each value of a field, such as digest, per URL")
    add("--limit", type=whole_number(0), metavar="N", help="at most N captures of each pattern")
    add("--index-url", metavar="URL", help="where collinfo.json is (default: https://index.commoncrawl.org/)")


_OF_LOOKUP: Final = {
    "match": "--match",
    "key": "--key",
    "filter": "--filter",
    "newest": "--newest",
    "distinct": "--distinct",
    "limit": "--limit",
    "index_url": "--index-url",
}


def check_lookup(options: argparse.Namespace) -> None:
    """Check that options of a look-up are only used with a look-up.

    Raises:
        UsageError: One of them is used without.
    """
    if options.index:
        return
    for name, option in _OF_LOOKUP.items():
        value = getattr(options, name)
        if value is not None and value is not False and value != []:
            raise UsageError(f"{option} is for look-ups: name an index with --index")


def storage_options(options: argparse.Namespace, **more: Any) -> StorageOptions:
    """The storage options; `more` are settings without a command-line option."""
    return StorageOptions(
        read_timeout_s=options.read_timeout,
        retries=StorageOptions.retries if options.retries is None else options.retries,
        max_requests_per_second=options.max_requests_per_second,
        max_connections_per_host=options.max_connections_per_host,
        s3_endpoint=options.s3_endpoint,
        s3_region=options.s3_region,
        s3_requester_pays=options.s3_requester_pays,
        s3_sse=options.s3_sse,
        s3_sse_kms_key_id=options.s3_sse_kms_key_id,
        webhdfs=options.webhdfs,
        bases=tuple(getattr(options, "bases", ())),  # set only for commands with --base-url, if it is given
        **more,
    )
