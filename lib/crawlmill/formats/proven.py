"""The way of a record from its archive to the job: it is verified, counted and selected.

Every reader of records passes them through `proven`. A record is yielded only once it is whole; of one larger than
`max_body`, only the first 64 KiB of the block are kept, but its digests are still checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.reader import Account, Request
from crawlmill.formats.record import HEAD_BYTES, Record
from crawlmill.formats.selectors.awaiting import Awaiting
from crawlmill.formats.selectors.facts import truncated_of
from crawlmill.later import later

__all__ = ["proven"]

_check_digests: Callable[[Record], Iterator[FormatError]] = later("crawlmill.formats.digests:check_digests")

_OF_FILES: Final = ("warcinfo", "filedesc")
_MAX_WAITING: Final = 10_000
_MAX_WAITING_BYTES: Final = 64 << 20


def proven(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    """Yield the selected whole records; count all whole ones.

    Args:
        records: The records of one input.
        request: What to read, and how.
        account: Notified of every record and every problem.
    """
    selection = request.selection
    if selection.awaits_metadata:
        awaiting = Awaiting(selection, account.leave_out)
        chosen = awaiting.chosen(_checked(records, replace(request, streamed=False), account))
        given = _refused_if_lacking(chosen, awaiting, account) if request.is_range else chosen
    else:
        given = _chosen(records, request, account)
    given = _cut_counted(given, account)
    return given if selection.formats is None else _once_known(given, account)


def _cut_counted(records: Iterator[Record], account: Account) -> Iterator[Record]:
    """Pass records on, counting those whose payload the crawler truncated."""
    for record in records:
        if truncated_of(record) is not None:
            account.cut(1)
        yield record


def _chosen(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    """Yield the records that are selected by their own properties."""
    wants, chooses = request.selection.wants, request.selection.chooses
    choosy = request.selection.is_choosy
    if request.selection.types is None and not choosy:
        return _checked(records, request, account)

    def takes(record: Record) -> bool:
        if not wants(record):
            return False
        if not choosy or chooses(record):
            return True
        if record.type not in _OF_FILES:
            account.leave_out(1)
        return False

    return _checked(records, request, account, takes)


def _refused_if_lacking(records: Iterator[Record], awaiting: Awaiting, account: Account) -> Iterator[Record]:
    yield from records
    if error := awaiting.lacking():
        account.refuse(error)


def _checked(
    records: Iterator[Record],
    request: Request,
    account: Account,
    takes: Callable[[Record], bool] | None = None,
) -> Iterator[Record]:
    options, streamed = request.options, request.streamed
    max_body, verify = options.max_body, options.verify
    count = account.count
    for record in records:
        record.max_body = max_body
        given = takes is None or takes(record)
        to_prove = record.block.streamed and not (streamed and given)
        wrong: Sequence[FormatError] = ()
        try:
            if to_prove:
                _hold(record)
            if verify:
                wrong = list(_check_digests(record))
            if to_prove:
                record.block.drain()
        except FormatError:
            continue  # it is not whole, which the block has reported
        count(1)  # a streamed record counts until it turns out not to be whole
        for error in wrong:
            account.lose(error.located(offset=record.offset))
        if given:
            yield record


def _hold(record: Record) -> None:
    """Hold in memory what a job may need of a streamed record; its declared length may be too small."""
    most = record.max_body + HEAD_BYTES
    record.block.hold(most + 1 if record.content_length <= most else HEAD_BYTES)


def _once_known(records: Iterator[Record], account: Account) -> Iterator[Record]:
    """Hold records back until the format is known, so that none of an unwanted format is yielded.

    These are the warcinfo records at the beginning of a WARC, WAT or WET.
    """
    waiting: list[Record] = []
    size = 0
    try:
        for record in records:
            waiting.append(record)
            if account.format is None:
                size += len(record.head) + record.content_length
                if len(waiting) < _MAX_WAITING and size < _MAX_WAITING_BYTES:
                    continue
                account.found("warc")  # no file written by Common Crawl has so many of them
            break
    except (FormatError, SourceError):
        yield from waiting  # they are counted already, and no other format will be found
        raise
    yield from waiting
    waiting.clear()
    yield from records
