"""Return the metadata of the 2012 crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crawlmill.analysis.metadata_fields import project, where
from crawlmill.analysis.text_join import METADATA, TEXT, with_texts
from crawlmill.formats.crawl2012.valid import invalid_metadata, valid_metadata
from crawlmill.mr import Columns, CrawlJob, FormatError, MRStep, RawValueProtocol, Reading, Record, UsageError

__all__ = ["CrawlMetadata"]


class CrawlMetadata(CrawlJob):
    """Return what the crawler of 2012 noted about each attempt to fetch a URL, as it is stored.

    Reads metadata files. A record that breaks its JSON Schema is dropped, and its input is partial, unless
    --invalid says otherwise. With --locate the results are an input list of the pages themselves, in their ARC files:
    all pages of a top-level domain are two commands. With --with-text each record comes with the texts of its URL,
    found by URL, from the textData files of a second list.

    A result line is a URL (after redirects) and a record: "http://example.com/"<TAB>{"attempt_time":1341708194671,...}
    with --with-text: "http://example.com/"<TAB>{"metadata":{...},"texts":["Example Domain ..."]}
    with --locate: parse-output/segment/1346823845675/1346864469604_0.arc.gz<TAB>157<TAB>899
    """

    columns: Columns | None = Columns({"url": "string"}, {"record": "json"})
    formats: tuple[str, ...] = ("metadata",)
    types = ("metadata", "text_data")

    def configure_args(self) -> None:
        """Declare the options of this job."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--fields", metavar="A,B.C", help="only these fields, under these names; absent ones are left out")
        add(
            "--where",
            action="append",
            metavar="FIELD=VALUE",
            help="records whose field has this value; host, domain and tld are the URL's; may be repeated",
        )
        add(
            "--invalid",
            choices=("drop", "keep", "fail"),
            default="drop",
            help="drop invalid records, keep them (with what is wrong with them), or fail (default: drop)",
        )
        add("--with-text", metavar="LIST", help="join the texts of these textData files by URL")
        add("--locate", action="store_true", help="return an input list of the pages, one ARC record per line")

    def load_args(self, args: list[str]) -> None:
        """Refuse options that do not go together."""
        super().load_args(args)
        options = self.options
        self.matches = where(options.where or ())
        if options.fields == "":
            raise UsageError("--fields: expected names separated by commas, got ''")
        self.fields = options.fields.split(",") if options.fields else None
        if options.locate and (options.fields or options.with_text or options.invalid == "keep"):
            raise UsageError("--locate returns no records: use it without --fields, --with-text and --invalid keep")
        if options.locate:
            self.columns = None
        if options.with_text:
            self.formats = ("metadata", "text_data")

    def run_job(self) -> None:
        """Run the job; with a join, read the list of files to join as well."""
        if self.options.with_text and self.options.args:
            self.options.args.append(self.options.with_text)
        super().run_job()

    def steps(self) -> list[MRStep]:
        """One map step, plus a reduce step if there is a join."""
        return [MRStep(mapper=self.mapper, reducer=self.join) if self.options.with_text else MRStep(mapper=self.mapper)]

    def output_protocol(self) -> Any:
        """Plain lines for --locate, whose results are not pairs."""
        return RawValueProtocol() if self.options.locate else super().output_protocol()

    def read(self, reading: Reading) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs of one input; with --invalid fail, the first invalid record raises."""
        for record in self.watched(reading):
            try:
                pairs = list(self.process(record))
            except FormatError as error:
                invalid = record.type == "metadata" and error.reason in ("bad-json", "bad-encoding")
                if invalid and self.options.invalid == "fail":
                    raise error.located(source=reading.item.shown, offset=record.offset) from None
                reading.lose(error, record)
                continue
            yield from pairs

    def process(self, record: Record) -> Iterator[tuple[Any, Any]]:
        """Yield the URL and the record, in the form that the options select."""
        url = record.uri
        if record.type == "text_data":
            yield url, (TEXT, record.text())
            return
        value = record.body()
        try:
            metadata = valid_metadata(value)
        except FormatError:
            if self.options.invalid != "keep":
                raise
            found = invalid_metadata(value)
        else:
            if not self.matches(url or "", metadata.fields):
                return
            if self.options.locate:
                if metadata.archive is not None:
                    yield None, metadata.archive.input_line
                return
            found = metadata.fields if self.fields is None else project(metadata.fields, self.fields)
        yield url, (METADATA, found) if self.options.with_text else found

    def join(self, url: str, values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Yield the records of a URL together with its texts."""
        for found in with_texts(values):
            if found["metadata"] is not None or not self.options.where:
                yield url, found


if __name__ == "__main__":
    CrawlMetadata.run()
