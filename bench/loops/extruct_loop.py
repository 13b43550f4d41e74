"""Extracts the structured data of pages with a straightforward loop: extruct on the records of FastWARC.

python extruct_loop.py structured FILE…        prints {"keys": pages with any, "total": items}
"""

from __future__ import annotations

import extruct
from fastwarc.warc import ArchiveIterator, WarcRecordType
from peer_work import is_html, print_answer

_SYNTAXES = ["microdata", "rdfa", "json-ld", "microformat"]


def _count(paths: list[str]) -> dict[str, int]:
    keys = total = 0
    for path in paths:
        for record in ArchiveIterator(path, record_types=WarcRecordType.response):
            if is_html(record.http_content_type):
                url = record.headers["WARC-Target-URI"]
                found = extruct.extract(record.reader.read(), base_url=url, syntaxes=_SYNTAXES, errors="ignore")
                number = sum(map(len, found.values()))
                keys += number > 0
                total += number
    return {"keys": keys, "total": total}


if __name__ == "__main__":
    print_answer({"structured": _count})
