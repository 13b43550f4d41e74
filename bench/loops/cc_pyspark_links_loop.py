"""Finds the links in WAT files with the unchanged `ExtractLinksJob` of cc-pyspark, from a checkout in FOLDER.

    python cc_pyspark_links_loop.py FOLDER FILE…        prints {"keys": files, "total": links}

As in cc-pyspark's jobs, its methods process the records that warcio reads, but without Spark: the time that Spark needs
to start, to shuffle and to write is not measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from warcio.archiveiterator import ArchiveIterator


def main(folder: str, paths: list[str]) -> None:
    """Print how many links there are."""
    sys.path.insert(0, folder)
    from wat_extract_links import ExtractLinksJob  # type: ignore[import-not-found]

    def add(_: int) -> None:
        """Count what Spark would count."""

    job = ExtractLinksJob()
    for name in dir(job):
        if name.startswith("records_") or name == "link_count":
            setattr(job, name, SimpleNamespace(add=add))
    links = 0
    for path in paths:
        with Path(path).open("rb") as stream:
            records = ArchiveIterator(stream, no_record_parse=not job.warc_parse_http_header, arc2warc=True)
            links += sum(1 for _ in job.iterate_records(path, records))
    print(json.dumps({"keys": len(paths), "total": links}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
