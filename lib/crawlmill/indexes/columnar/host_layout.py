"""The layout of the host index: a table with a row for each host of a crawl, with the host in SURT form as key.

    crawl=CC-MAIN-2025-13/part-00000.gz.parquet

It summarises captures (`fetch_…` for pages and diagnostics, `robots_…` for robots.txt), the web graph (`hcrank`,
`prank`) and the crawler's own log (`nutch_…`). A host is written as in a urlkey, without a port: `commoncrawl.org` and
`www.commoncrawl.org` are `org,commoncrawl`; `www.com` stays `com,www`.

Spec: https://github.com/commoncrawl/cc-host-index (`cc-host-index-schema.json`, version 2)
"""

from __future__ import annotations

import re
from typing import Final

from crawlmill.indexes.columnar.layout import CODECS, Column
from crawlmill.urls.surt import urlkey

__all__ = ["HOST_COLUMNS", "HOST_TABLES", "OUTCOMES", "host_part_name", "surt_host_name"]

HOST_TABLES: Final = ("hostindex", "cchost_index_testing_v2")
"""The names by which statements know it: a short one, and that of the queries published with it."""

OUTCOMES: Final = ("200", "3xx", "4xx", "5xx", "gone", "notModified", "other", "redirPerm", "redirTemp")
"""What can become of a request, in the order of the columns `fetch_…` and `robots_…`."""

_NUTCH: Final = ("fetched", "gone", "notModified", "numRecords", "redirPerm", "redirTemp", "unfetched")
_WWW: Final = re.compile(r"(www[0-9]*)\.[^.]+\.?", re.IGNORECASE)


def _counts() -> list[str]:
    fetches = [f"fetch_{name}" for name in OUTCOMES]
    fetches[1:1] = ["fetch_200_lote", "fetch_200_lote_pct"]
    both = ((f"nutch_{name}", f"nutch_{name}_pct") for name in _NUTCH)
    nutch = [name for pair in both for name in pair if name != "nutch_numRecords_pct"]
    return [*fetches, *nutch, *(f"robots_{name}" for name in OUTCOMES)]


HOST_COLUMNS: Final = (
    Column("surt_host_name"),
    Column("url_host_registered_domain", nullable=True),
    Column("url_host_tld", nullable=True),
    *(Column(name, "double", nullable=True) for name in ("hcrank10", "prank10", "prank", "hcrank")),
    Column("warc_record_length_av", "int32", nullable=True),
    Column("warc_record_length_median", "int32", nullable=True),
    *(Column(name, "int32", nullable=True) for name in _counts()),
)
"""The columns of a file, in their order. What is not known of a host is null."""


def surt_host_name(host: str) -> str:
    """The key of a host: `www.commoncrawl.org` is `org,commoncrawl`."""
    bracketed = f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
    key = urlkey(f"http://{bracketed}/").rpartition(")")[0]
    found = _WWW.fullmatch(host)
    return f"{key},{found[1].lower()}" if found and "," not in key else key


def host_part_name(crawl: str, number: int, compression: str) -> str:
    """The name of a part: `crawl=…/part-00000.gz.parquet`."""
    return f"crawl={crawl}/part-{number:05}.{CODECS[compression]}.parquet"
