"""The URL index of the sample crawl: a cluster, with Common Crawl's paths and layout.

    cc-index/collections/CC-SAMPLE-2026-01/indexes/cdx-00000.gz …
                                           indexes/cluster.idx
                                           metadata.yaml

Captures are made from the page and the place of its record: archives are not read again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from crawlmill.indexes.cdx.lines import cdxj_line
from crawlmill.indexes.cluster.shards import Member, ShardWriter, cluster_idx, metadata_yaml, shard_name
from crawlmill.sample import records
from crawlmill.sample.archives.warc import CRAWL
from crawlmill.sample.pages import Page
from crawlmill.sorting import sort_lines
from crawlmill.urls.surt import urlkey

__all__ = ["CrawlIndex"]

_ROOT: Final = f"cc-index/collections/{CRAWL}"
_LINES: Final = 50  # per member, so that even a small crawl has several; Common Crawl's have 3,000
_MEMORY: Final = 64 << 20


class CrawlIndex:
    """Takes the captures of a crawl in any order, then writes the cluster, in bounded memory."""

    def __init__(self, folder: Path) -> None:
        """`folder`: that of the crawl, which must exist."""
        self._folder = folder
        self._lines = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._captures = 0

    def add(self, page: Page, response: records.Record, member: records.Member, filename: str) -> None:
        """Add the capture of a page, with its response record in this member of a WARC file."""
        fields = {name.lower(): value for name, value in reversed(page.fields)}  # the first one if repeated
        status = page.status[:3]
        known = {
            "url": page.address.url,
            "mime": fields.get("content-type", "unk").replace(";", " ").split()[0],
            "mime-detected": page.payload_type,
            "status": status,
            "digest": response["WARC-Payload-Digest"].removeprefix("sha1:"),
            "length": str(member.length),
            "offset": str(member.offset),
            "filename": filename,
        }
        if page.document is not None:
            known["charset"] = page.document.charset
            known["languages"] = ",".join(language.iso for language in page.document.languages[:3])
        if status.startswith("3"):
            known["redirect"] = fields["location"]
        timestamp = datetime.fromtimestamp(page.date, UTC).strftime("%Y%m%d%H%M%S")
        line = cdxj_line(urlkey(page.address.url), timestamp, {name: value for name, value in known.items() if value})
        self._lines.write(line.encode("ascii") + b"\n")
        self._captures += 1

    def write(self, shards: int, publish: Callable[[Path], AbstractContextManager[BinaryIO]]) -> list[str]:
        """Write the cluster; returns the paths of its files, as listed in `cc-index.paths.gz`.

        Args:
            shards: At most as many as there are captures.
            publish: Opens a file that gets its name once it is complete.
        """
        self._lines.seek(0)
        members: list[tuple[str, Member]] = []
        paths = []
        with sort_lines(iter(partial(self._lines.read, 1 << 16), b""), self._folder, _MEMORY) as ordered:
            lines = iter(ordered)
            for number in range(shards):
                name = shard_name(number)
                first, end = (self._captures * edge // shards for edge in (number, number + 1))
                rest = islice(lines, end - first)
                paths.append(f"{_ROOT}/indexes/{name}")
                with publish(self._folder / paths[-1]) as stream:
                    shard = ShardWriter(stream, _LINES)
                    while some := [line[:-1] for line in islice(rest, _LINES)]:
                        members += ((name, member) for member in shard.write(some))
                    members += ((name, member) for member in shard.close())
        size = metadata_yaml(lines=self._captures, members=len(members), shards=shards, lines_per_member=_LINES)
        for name, pieces in (("indexes/cluster.idx", cluster_idx(members)), ("metadata.yaml", [size])):
            paths.append(f"{_ROOT}/{name}")
            with publish(self._folder / paths[-1]) as stream:
                stream.writelines(pieces)
        return paths

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
