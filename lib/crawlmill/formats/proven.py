"""What becomes of a record between the bytes it was cut from and the job: it is proven, counted and selected.

Every reader of records passes them through `proven`. A record is given only once it is whole; of one that is larger
than `max_body`, the block's first 64 KiB are kept; its digests are checked all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.digests import check_digests
from crawlmill.formats.reader import Account, Request
from crawlmill.formats.record import HEAD_BYTES, Record

__all__ = ["proven"]

_MAX_WAITING: Final = 10_000
_MAX_WAITING_BYTES: Final = 64 << 20


def proven(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    """Of the records as they were cut, those that are selected and whole; all whole ones are counted.

    Args:
        records: The records of one input.
        request: What is asked for.
        account: Told of every record, and of every problem with one.
    """
    checked = _checked(records, request, account)
    return checked if request.selection.formats is None else _once_known(checked, account)


def _checked(records: Iterator[Record], request: Request, account: Account) -> Iterator[Record]:
    options, streamed = request.options, request.streamed
    max_body, verify = options.max_body, options.verify
    takes, count = request.selection.takes, account.count
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
