"""The options that jobs share, declared once; commands use the same declarations. Knows nothing of mrjob.

Each `add_*` function takes what adds one option (`parser.add_argument`, or a job's `add_passthru_arg`, with which a
task gets it too); the functions after them make of the parsed options what the layers below want.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.formats.selectors import options as values
from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.inputs.reading import ReadOptions
from crawlmill.storage import SSE, StorageOptions
from crawlmill.storage.coalesce import COALESCE
from crawlmill.storage.locations import absolute
from crawlmill.storage.mirrors import split_bases
from crawlmill.storage.shares import MAX_TASKS
from crawlmill.urls.matches import MATCHES

__all__ = [
    "RETRIES_ON_EMR",
    "BadLimit",
    "add_base_url",
    "add_ending",
    "add_lookup",
    "add_reading",
    "add_running",
    "add_s3",
    "add_selecting",
    "add_storage",
    "check_lookup",
    "criteria_of",
    "positive",
    "read_options",
    "storage_options",
    "whole_number",
]

Add = Callable[..., Any]

_MAX_BODY_MIB: Final = 64
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
        """The limit that `5` or `2.5%` stands for; made for argparse."""
        try:
            limit = cls(text, percent=float(text[:-1])) if text.endswith("%") else cls(text, number=int(text))
        except ValueError:
            limit = cls(text, number=-1)
        least, most = limit.number or limit.percent or 0, limit.percent or 0
        if not (0 <= least < math.inf and most <= 100):
            raise argparse.ArgumentTypeError(f"expected a number or a percentage such as 5 or 2.5%, got {text!r}")
        return limit

    def exceeded(self, bad: int, inputs: int) -> bool:
        """Whether so many bad ones of so many inputs are too many."""
        if self.percent is not None:
            return bad * 100 > self.percent * inputs
        return bad > (self.number or 0)


def whole_number(least: int, what: str = "a whole number") -> Callable[[str], int]:
    """An argparse type: a whole number of at least so much."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= sys.maxsize:
            raise argparse.ArgumentTypeError(f"expected {what} of {least} or more, got {text!r}")
        return number

    return parse


def positive(what: str) -> Callable[[str], float]:
    """An argparse type: a number above 0."""

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
    """`--base-url A,B,…`: A is the base URL, and all of them are where storage looks for what A lacks."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        """Take the value."""
        bases = split_bases(str(values))
        setattr(namespace, self.dest, bases[0])
        namespace.bases = [absolute(base, os.getcwd()) for base in bases]  # noqa: PTH109


_BASE_OF_LISTS: Final = (
    "base for relative lines of a list, any kind of location (default: https://data.commoncrawl.org/ for keys of "
    "Common Crawl, the list's own folder for all others); in A,B,… what is not found below A is looked for below B, "
    "and so on"
)


def add_base_url(add: Add, what: str = _BASE_OF_LISTS) -> None:
    """Where relative lines of a list resolve, or whatever else the help says."""
    add("--base-url", action=_BaseUrls, metavar="LOCATION", help=what)


def add_storage(add: Add) -> None:
    """How bytes are fetched."""
    add("--read-timeout", type=positive("a number of seconds"), default=60.0, metavar="S",
        help="retry a read after this many seconds without a byte (default: 60)")  # fmt: skip
    add("--retries", type=whole_number(0), metavar="N",
        help=f"give up on an input after this many retries without progress (default: {StorageOptions.retries}; in "
        f"tasks on EMR {RETRIES_ON_EMR}, about ten minutes)")  # fmt: skip
    add("--max-requests-per-second", type=positive("a number"), metavar="N",
        help="most requests a second to one HTTP or S3 host, from all processes together; on a cluster, each of N "
        "running tasks gets an Nth of it (default: 5 to data.commoncrawl.org, 1 to CDX APIs, else "
        "no limit)")  # fmt: skip
    add("--max-connections-per-host", type=whole_number(1), metavar="N",
        help="most connections to one HTTP or S3 host, from all processes; on a cluster, no more tasks "
        "than that run at a time (default: 8 to data.commoncrawl.org, 2 to CDX APIs, else no limit)")  # fmt: skip
    add("--s3-requester-pays", action="store_true", help="pay for requests to S3 buckets that require it")
    add("--s3-sse", choices=SSE,
        help="ask S3 to encrypt what is written, for buckets that demand the header (default: the bucket's own "
        "setting)")  # fmt: skip
    add("--s3-sse-kms-key-id", metavar="KEY", help="with --s3-sse aws:kms: the KMS key, as an ARN (default: aws/s3)")
    add("--webhdfs", metavar="URL", help="WebHDFS address of the NameNode (default: from HADOOP_CONF_DIR)")


def add_s3(add: Add) -> None:
    """Where S3 answers; a job has these two from mrjob."""
    add("--s3-endpoint", metavar="URL", help="an S3 server other than Amazon's, such as MinIO")
    add("--s3-region", metavar="REGION", help="the region of the S3 buckets (default: from the AWS configuration)")


def add_reading(add: Add) -> None:
    """What is proven about an input, and taken of it."""
    add("--verify", action="store_true", help="also check the block and payload digests in records")
    add("--heads-only", action="store_true",
        help="for jobs that need no bodies: verify only boundaries and lengths, which is faster")  # fmt: skip
    add("--max-body", type=whole_number(1, "a number of bytes"), default=_MAX_BODY_MIB << 20, metavar="BYTES",
        help=f"largest body to read, before and after decoding; larger ones are skipped as too-large "
        f"(default: {_MAX_BODY_MIB} MiB)")  # fmt: skip


def add_ending(add: Add) -> None:
    """How a run ends."""
    add("--on-bad-input", choices=("skip", "fail"), default="skip",
        help="skip: count what can be read and exit with 2; fail: fail the job (default: skip)")  # fmt: skip
    add("--max-bad-inputs", type=BadLimit.parse, default=BadLimit("100%", percent=100.0), metavar="N|P%",
        help="fail the job if more inputs than this are bad, that is, partial or failed (default: 100%%)")  # fmt: skip
    add("--ledger", metavar="FILE",
        help="where to write the ledger, one JSON line per input (default: OUTPUT_DIR/_ledger.jsonl)")  # fmt: skip


def add_running(add: Add) -> None:
    """How the work is cut and watched."""
    add("--inputs-per-task", type=whole_number(1), metavar="N",
        help="inputs per map task (default: one whole file; ranges in batches)")  # fmt: skip
    add("--coalesce", type=whole_number(0), default=COALESCE, metavar="BYTES",
        help="fetch two ranges of a file with one request if the gap between them is at most this, and no larger than "
        f"the ranges themselves (default: {COALESCE >> 10} KiB)")  # fmt: skip
    add("--max-running-tasks", type=whole_number(1), metavar="N",
        help=f"on a cluster: map tasks that may run at a time, so that together they respect host limits (default: "
        f"{MAX_TASKS} if an input is on a web server, else as many as the cluster runs)")  # fmt: skip
    add("--task-retries", type=whole_number(0), default=2, metavar="N",
        help="how often a failed task is retried, by the local runner, or by Spark without a master "
        "(default: 2)")  # fmt: skip
    add("--checkpoint", metavar="DIR",
        help="inline and local: keep the output of finished tasks in DIR; a later run of the same job with the same "
        "options and version reuses it and does not read those inputs again")  # fmt: skip
    add("--progress", action=argparse.BooleanOptionalAction, default=True,
        help="show progress (default: yes; every ten seconds if stderr is not a terminal)")  # fmt: skip


def add_lookup(add: Add, *, times: bool = True) -> None:
    """Which captures of which indexes are wanted; `times`: also of which time, which jobs ask of all records."""
    add("--index", action="append", default=[], metavar="INDEX",
        help="where to look up: a file, a cluster, a crawl or a CDX API (may be repeated)")  # fmt: skip
    add("--match", choices=MATCHES,
        help="what a pattern means, whatever its wildcards (default: as they say, or exact)")  # fmt: skip
    add("--key", action="store_true", help="patterns are urlkeys, as com,example)/path")
    if times:
        add("--from", dest="start", metavar="TS", help="captures from this time on (1 to 14 digits, such as 202401)")
        add("--to", dest="end", metavar="TS", help="captures up to this time, inclusive")
    add("--filter", action="append", default=[], metavar="[!][=|~]FIELD:VALUE",
        help="captures whose field contains, equals (=) or matches from the left (~) a value, or does not (!); "
        "may be repeated")  # fmt: skip
    add("--newest", action="store_true", help="only the newest capture of each URL")
    add("--distinct", metavar="FIELD", help="only the first capture of each value of a field, such as digest, per URL")
    add("--limit", type=whole_number(0), metavar="N", help="at most so many captures of each pattern")
    add("--index-url", metavar="URL", help="where collinfo.json lies (default: https://index.commoncrawl.org/)")


_OF_LOOKUP: Final = {
    "match": "--match", "key": "--key", "filter": "--filter", "newest": "--newest", "distinct": "--distinct",
    "limit": "--limit", "index_url": "--index-url",
}  # fmt: skip


def add_selecting(add: Add) -> None:
    """Which pages are wanted of what is read; made into `Criteria` by `criteria_of`."""

    def several(name: str, dest: str, parse: Callable[[str], Any], metavar: str, text: str) -> None:
        add(name, dest=dest, action="append", default=[], type=_worded(parse), metavar=metavar, help=text)

    several("--host", "hosts", values.parse_host, "H", "pages of this host (may be repeated, as all of these)")
    several("--domain", "domains", values.parse_host, "D", "pages of this domain and of all hosts below it")
    several("--tld", "tlds", values.parse_host, "T", "pages of hosts below this top-level domain or suffix, such as uk")
    several("--url-regex", "expressions", values.parse_expression, "RE", "pages in whose URL this is found")
    several("--status", "statuses", values.parse_statuses, "N,…", "pages with these HTTP statuses, such as 200,3xx")
    several("--mime", "mimes", values.parse_mime, "M", "pages sent as this media type, such as text/html or text/*")
    several("--detected-mime", "detected_mimes", values.parse_mime, "M",
            "pages that the crawler found to be of this media type")  # fmt: skip
    several("--language", "languages", values.parse_language, "L",
            "pages in this language, one of up to three that the crawler found (ISO 639-3, such as eng)")  # fmt: skip
    several("--charset", "charsets", values.parse_charset, "C", "pages that the crawler found to be in this charset")
    time = _worded(values.parse_time)
    add(
        "--from", dest="start", type=time, metavar="TS", help="pages from this time on (1 to 14 digits, such as 202401)"
    )
    add("--to", dest="end", type=time, metavar="TS", help="pages up to this time, inclusive")
    add("--truncated", choices=("only", "none"), help="only, or none of, the pages whose payload the crawler has cut")
    add("--sample-records", dest="sample", type=_worded(values.parse_sample), metavar="P%",
        help="a sample of the pages, chosen by their URLs: the same pages in every format")  # fmt: skip


def _worded(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """An argparse type of a function whose ValueErrors say what was expected."""

    def parse_or_say(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"expected {error}, got {text!r}") from None

    return parse_or_say


def criteria_of(options: argparse.Namespace) -> Criteria:
    """What the options of `add_selecting` ask of pages."""
    names = ("hosts", "domains", "tlds", "mimes", "detected_mimes", "languages", "charsets")
    given = {name: frozenset(getattr(options, name)) for name in names}
    return Criteria(
        **given,
        expressions=tuple(options.expressions),
        statuses=tuple(each for some in options.statuses for each in some),
        start=options.start,
        end=options.end,
        truncated=None if options.truncated is None else options.truncated == "only",
        sample=options.sample,
    )


def check_lookup(options: argparse.Namespace) -> None:
    """Find options of a look-up where nothing is looked up.

    Raises:
        UsageError: There is one.
    """
    if options.index:
        return
    for name, option in _OF_LOOKUP.items():
        value = getattr(options, name)
        if value is not None and value is not False and value != []:
            raise UsageError(f"{option} is of a look-up: name an index with --index")


def storage_options(options: argparse.Namespace, **more: Any) -> StorageOptions:
    """What storage is to do; `more` are settings that have no option."""
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
        bases=tuple(getattr(options, "bases", ())),  # of those commands that have --base-url, if it is given
        **more,
    )


def read_options(options: argparse.Namespace) -> ReadOptions:
    """How inputs are to be read.

    Raises:
        UsageError: Options that exclude each other.
    """
    if options.heads_only and options.verify:
        raise UsageError("--heads-only and --verify exclude each other: digests are of whole records")
    return ReadOptions(heads_only=options.heads_only, verify=options.verify, max_body=options.max_body)
