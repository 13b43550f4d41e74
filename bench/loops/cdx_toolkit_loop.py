"""Asks a CDX API for all captures of a pattern with cdx_toolkit, without its pauses between requests.

python cdx_toolkit_loop.py URL PATTERN      prints {"keys": captures, "total": captures}
"""

from __future__ import annotations

import json
import sys

import cdx_toolkit
from cdx_toolkit import myrequests


def ask(url: str, pattern: str) -> dict[str, int]:
    for waits in myrequests.retry_info.values():
        waits["minimum_interval"] = 0
    number = sum(1 for _ in cdx_toolkit.CDXFetcher(source=url).iter(pattern, pageSize=1))
    return {"keys": number, "total": number}


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], sys.argv[2])))
