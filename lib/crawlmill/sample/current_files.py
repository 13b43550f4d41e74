"""A WARC file and the WAT and WET files made from it, as far as requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import BinaryIO

from crawlmill.sample.archives.warc import page_records, warcinfo
from crawlmill.sample.archives.wat import page_envelopes, wat_info, wat_of_warcinfo
from crawlmill.sample.archives.wet import conversion, wet_info
from crawlmill.sample.pages import Page
from crawlmill.sample.records import Member, MemberWriter, Record

__all__ = ["CURRENT_FORMATS", "SUFFIXES", "CurrentFiles", "OnCapture"]

OnCapture = Callable[[Page, Record, Member], None]
"""Called with a page, the record of its response, and where in the WARC file that is."""

CURRENT_FORMATS = ("warc", "wat", "wet")
SUFFIXES = {"warc": ".warc.gz", "wat": ".warc.wat.gz", "wet": ".warc.wet.gz"}

_EXTRACTED = int(datetime(2026, 1, 20, 12, 30, 45, tzinfo=UTC).timestamp())


class CurrentFiles:
    """The files, by format; pages are added one after another."""

    def __init__(
        self, seed: int, names: Mapping[str, str], start: int, streams: Mapping[str, BinaryIO], index: OnCapture | None
    ) -> None:
        """`names`: the names of the files; `start`: of their segment, in seconds since 1970."""
        self._warc_name = names["warc"]
        self._index = index
        # The others state the places of the WARC records, so those are computed even without a WARC file.
        self._needs_warc = index is not None or bool(streams.keys() & {"warc", "wat"})
        self._warc = MemberWriter(streams.get("warc"))
        self._wat = MemberWriter(streams["wat"]) if "wat" in streams else None
        self._wet = MemberWriter(streams["wet"]) if "wet" in streams else None
        info = warcinfo(seed, self._warc_name, start)
        self._warcinfo_id = info["WARC-Record-ID"]
        placed = info, self._warc.write_record(info)
        if self._wat:
            self._wat.write_record(wat_info(seed, names["wat"], _EXTRACTED))
            self._wat.write_record(wat_of_warcinfo(seed, placed, _EXTRACTED))
        if self._wet:
            self._wet.write_record(wet_info(seed, names["wet"], _EXTRACTED))

    def add(self, page: Page) -> None:
        """Write the records of a page."""
        if self._needs_warc:
            records = page_records(page, self._warcinfo_id)
            members = [self._warc.write_record(part) for part in (records.request, records.response, records.metadata)]
            if self._index:
                self._index(page, records.response, members[1])
            if self._wat:
                for envelope in page_envelopes(page, records, members, self._warc_name, _EXTRACTED):
                    self._wat.write_record(envelope)
        if self._wet and page.document is not None:
            self._wet.write_record(conversion(page, page.document))
