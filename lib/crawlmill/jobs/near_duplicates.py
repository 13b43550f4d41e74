"""Find pages that are nearly the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from crawlmill.analysis.near_duplicates import MAX_DISTANCE, Group, blocks, group, pairs_in
from crawlmill.analysis.simhash import package_simhash, text_simhash
from crawlmill.formats.crawl2012.valid import valid_metadata
from crawlmill.mr import CrawlJob, MRStep, Record, whole_number

__all__ = ["NearDuplicates"]


_FOUR_LETTERS = re.compile(r"\w(?:\W*\w){3}")


class NearDuplicates(CrawlJob):
    """Find all pairs of pages whose similarity hashes (simhash, 64 bits) differ in few bits.

    Reads WET and textData, computing the hash of each text, and metadata of 2012, which contains that of the body.
    Left out, and counted (see --verbose), are records without a hash, with hash 0, and texts too short for one. All
    pairs within --max-distance are found, each once; a page is not paired with itself.

    A result line is a pair of URLs and the number of bits that differ: ["http://a.com/","http://b.com/"]<TAB>2
    If more than --max-group URLs share a hash, they get one line, ["group",-4034250112487190]<TAB>["http://c.com/",...],
    and take part in other pairs by their first URL alone.
    """

    formats: tuple[str, ...] = ("wet", "text_data", "metadata")
    types = ("conversion", "text_data", "metadata")

    def configure_args(self) -> None:
        """Declare the options of this job."""
        super().configure_args()
        add = self.add_passthru_arg
        add(
            "--max-distance",
            type=int,
            choices=range(MAX_DISTANCE + 1),
            default=3,
            metavar="BITS",
            help=f"how many bits may differ, 0 to {MAX_DISTANCE} (default: 3)",
        )
        add(
            "--max-group",
            type=whole_number(1),
            default=1000,
            metavar="N",
            help="most URLs with the same hash that are still returned as pairs (default: 1000)",
        )
        add(
            "--hash",
            choices=("2012", "package"),
            default="2012",
            help="hash for texts: Common Crawl's of 2012, or of the package simhash (default: 2012)",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line; hashes published in metadata are those of 2012."""
        super().load_args(args)
        if self.options.hash == "package":
            self.formats = ("wet", "text_data")

    def steps(self) -> list[MRStep]:
        """The three steps described in `crawlmill.analysis.near_duplicates`."""
        return [
            MRStep(mapper_init=self.begin, mapper=self.mapper, mapper_final=self.end, reducer=self.gather),
            MRStep(reducer=self.compare),
            MRStep(reducer=self.nearest),
        ]

    def begin(self) -> None:
        """Start with nothing left out."""
        self.left_out = 0

    def end(self) -> Iterator[Any]:
        """Report how many records were left out."""
        self.increment_counter("near_duplicates", "left out", self.left_out)
        yield from ()

    def process(self, record: Record) -> Iterator[tuple[int, str]]:
        """Yield the hash and the URL of a record."""
        number, url = self.hash_of(record), record.uri
        if number and url is not None:
            yield number, url
        else:
            self.left_out += 1

    def hash_of(self, record: Record) -> int | None:
        """The hash of a record, or None if it has none."""
        if record.type == "metadata":
            return valid_metadata(record.body()).text_simhash
        text = record.text()
        if self.options.hash == "2012":
            return text_simhash(text)
        return package_simhash(text) if _FOUR_LETTERS.search(text) else None

    def gather(self, number: int, urls: Iterable[str]) -> Iterator[tuple[Any, Any]]:
        """Yield the URLs of one hash, and the blocks in which it is compared with other hashes."""
        found = group(number, urls)
        if len(found.urls) > self.options.max_group:
            yield ("group", number), found.urls
            found = found.by_first()
        yield from found.pairs()
        for block in blocks(number, self.options.max_distance):
            yield block, found

    def compare(self, key: list[Any], values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the near pairs of a block; pairs found earlier pass through unchanged."""
        if isinstance(key[0], int):
            yield from pairs_in(key[0], (Group(*value) for value in values), self.options.max_distance)
        else:
            yield from ((key, value) for value in values)

    def nearest(self, key: list[Any], values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each pair once, with its smallest distance: a page fetched twice may be near another in two ways."""
        yield key, min(values)


if __name__ == "__main__":
    NearDuplicates.run()
