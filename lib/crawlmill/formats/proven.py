"""What becomes of a record between the bytes it was cut from and the job: it is proven, counted and selected.

Every reader of records passes them through `proven`. A record is given only once it is whole; of one that is larger
than `max_body`, the block's first 64 KiB are kept; its digests are checked all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.digests import check_digests
from crawlmill.formats.reader import Account, Request
from crawlmill.formats.record import HEAD_BYTES, Record
from crawlmill.formats.selectors.awaiting import Awaiting
from crawlmill.formats.selectors.facts import truncated_of

__all__ = ["proven"]

_OF_FILES: Final = ("warcinfo", "filedesc")
_MAX_WAITING: Final = 10_000
_MAX_WAITING_BYTES: Final = 64 << 20


def proven(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    """Of the records as they were cut, those that are selected and whole; all whole ones are counted.

    Args:
        records: The records of one input.
        request: What is asked for.
        account: Told of every record, and of every problem with one.
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
    """The records; those whose payload the crawler has cut are counted."""
    for record in records:
        if truncated_of(record) is not None:
            account.cut(1)
        yield record


def _chosen(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    """The records that are selected by what they say themselves."""
    wants, chooses = request.selection.wants, request.selection.chooses
    choosy = request.selection.is_choosy

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
    takes: Callable[[Record], bool] = lambda _: True,
) -> Iterator[Record]:
    options, streamed = request.options, request.streamed
    max_body, verify = options.max_body, options.verify
    count = account.count
    for record in records:
        record.max_body = max_body
        given = takes(record)
        to_prove = record.block.streamed and not (streamed and given)
        wrong: list[FormatError] = []
        try:
            if to_prove:
                _hold(record)
            if verify:
                wrong += check_digests(record)
            if to_prove:
                record.block.drain()
        except FormatError:
            continue  # it is not whole, which is accounted for by itself
        count(1)  # a streamed one until it turns out not to be whole
        for error in wrong:
            account.lose(error.located(offset=record.offset))
        if given:
            yield record


def _hold(record: Record) -> None:
    """Hold of a streamed record what a job may ask for; what it declares may be less than it has."""
    most = record.max_body + HEAD_BYTES
    record.block.hold(most + 1 if record.content_length <= most else HEAD_BYTES)


def _once_known(records: Iterator[Record], account: Account) -> Iterator[Record]:
    """The records, held back while the format is not known: none of a format that the job cannot count is given.

    Those are the warcinfos at the beginning of a WARC, WAT or WET.
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
                account.found("warc")  # what has so many of them is none that Common Crawl has written
            break
    except (FormatError, SourceError):
        yield from waiting  # they are counted, and no other format will be found
        raise
    yield from waiting
    waiting.clear()
    yield from records
