"""Estimate what a run over an input list would cost, before you read anything: inputs, bytes, requests, time.

A cluster (its folder, or its cluster.idx) stands for its shards, in a list as well. A CDX or CDXJ file is a list of
captures; with --index-files it is an input itself, as it is to url_index.

Bytes are the sizes of ranges, and an estimate for whole files from a sample of 200; a host that does not answer several
times in a row is not asked again. Time is what the network needs at --bandwidth, and what the processors need at
--speed, in compressed bytes a second per core.

Examples:
  crawlmill plan input_lists/sample.paths
  crawlmill plan --bandwidth 500 --cores 64 warc.paths.gz
  crawlmill plan --index-files old-cluster/ new.cdxj.gz
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from functools import partial

from crawlmill.cli.arguments import make_storage
from crawlmill.inputs.lists import read_lists
from crawlmill.inputs.sizes import Sizes, ask_sizes
from crawlmill.mr.run.index_inputs import read_index_lists
from crawlmill.mr.run.options import add_base_url, positive, whole_number
from crawlmill.terminal.text import tell
from crawlmill.units import size

__all__ = ["add_arguments", "run"]

_SAMPLE = 200
_MAX_LINES = 10
_DEVIATIONS = 1.96  # of a normal distribution, for 95 %


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("lists", nargs="+", metavar="LIST", help="input lists; - is stdin")
    parser.add_argument(
        "--bandwidth",
        type=positive("a number"),
        default=50.0,
        metavar="MB/S",
        help="the speed of your network (default 50 MB/s)",
    )
    parser.add_argument(
        "--speed",
        type=positive("a number"),
        default=50.0,
        metavar="MB/S",
        help="compressed bytes that a core processes (default 50 MB/s, as tag_count does)",
    )
    parser.add_argument("--cores", type=whole_number(1), default=2, metavar="N", help="processor cores (default 2)")
    parser.add_argument(
        "--index-files",
        action="store_true",
        help="index files are inputs, as jobs such as url_index read them, not lists",
    )
    add_base_url(parser.add_argument)


def run(options: argparse.Namespace) -> int:
    """Print the plan."""
    storage = make_storage(options)
    read = partial(read_lists, storage=storage, base_url=options.base_url, stdin=sys.stdin.buffer)
    inputs = read_index_lists(options.lists, storage, read, files=options.index_files)
    ranges = [item for item in inputs if item.length is not None]
    files = [item for item in inputs if item.length is None]
    chosen = files if len(files) <= _SAMPLE else random.Random(1).sample(files, _SAMPLE)  # noqa: S311 - no secret
    asked = ask_sizes(chosen, storage)
    _print_problems(asked)
    sizes, missing = asked.found, len(asked.missing)
    unknown = len(chosen) - len(sizes) - missing
    known = bool(sizes) or not unknown
    exact = sum(item.length or 0 for item in ranges)
    mean = sum(sizes) / len(sizes) if sizes else 0.0
    whole = len(files) - round(missing * len(files) / max(len(sizes) + missing, 1))
    total = exact + mean * whole
    error = 0.0
    if 1 < len(sizes) < whole:
        variance = sum((each - mean) ** 2 for each in sizes) / (len(sizes) - 1)
        error = _DEVIATIONS * math.sqrt(variance / len(sizes) * (1 - len(sizes) / whole)) * whole
    about = size(round(total)) + (f", give or take {size(round(error))} (95 %)" if error else "")
    lines = [
        ("inputs", f"{len(inputs):,}: {len(files):,} files, {len(ranges):,} ranges"),
        ("bytes", about if known else "unknown: no file could be asked for"),
        ("requests", f"{len(files) + len({item.location for item in ranges}):,} at least"),
    ]
    if known:
        cores = f"{options.cores} cores at {options.speed:g} MB/s each"
        lines += [
            ("network", f"{_time(total / options.bandwidth / 1e6)} at {options.bandwidth:g} MB/s"),
            ("processors", f"{_time(total / options.speed / 1e6 / options.cores)} with {cores}"),
        ]
    if inputs.repeated:
        lines.append(("repeated", f"{inputs.repeated:,} lines, left out"))
    if missing:
        lines.append(("missing", f"{missing:,} of {len(sizes) + missing:,} files checked"))
    if unknown:
        lines.append(("unknown", f"{unknown:,} of {len(chosen):,} files checked"))
    for name, text in lines:
        sys.stdout.write(f"{name:11}{text}\n")
    return 2 if missing or unknown else 0


def _print_problems(asked: Sizes) -> None:
    """Print which files are missing, and for each host that could not be asked the reason, once."""
    lines = [f"{error.reason}: {error}" for error in asked.missing]
    if len(lines) > _MAX_LINES:
        lines[_MAX_LINES:] = [f"and {len(lines) - _MAX_LINES:,} more"]
    lines += [f"{len(errors):,} of the sample could not be asked for: {errors[0]}" for errors in asked.unknown.values()]
    tell(*lines)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:,.0f} min"
    return f"{seconds / 3600:,.1f} h"
