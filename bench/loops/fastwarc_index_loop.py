"""Writes CDXJ lines of WARC files with a loop over FastWARC 2 and `surt`, since FastWARC has no indexer of its own.

    python fastwarc_index_loop.py FILE…     prints lines with url, mime, status, digest, offset and filename

The lines say less than those of `crawlmill index` and cdxj-indexer: no length, charset, languages or redirect.
Digests are not computed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from fastwarc.warc import ArchiveIterator, WarcRecordType
from surt import surt

INDEXED = WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.resource


def lines(path: str) -> Iterator[str]:
    for record in ArchiveIterator(path, record_types=INDEXED):
        headers, http = record.headers, record.http_headers
        url, date = headers["WARC-Target-URI"], headers["WARC-Date"]
        fields = {
            "url": url,
            "mime": record.http_content_type,
            "status": str(http.status_code) if http is not None else None,
            "digest": (headers.get("WARC-Payload-Digest") or "").removeprefix("sha1:"),
            "offset": str(record.stream_pos),
            "filename": path,
        }
        digits = "".join(digit for digit in date if digit.isdigit())
        yield f"{surt(url)} {digits[:14]} {json.dumps(fields)}\n"


if __name__ == "__main__":
    for path in sys.argv[1:]:
        sys.stdout.writelines(lines(path))
