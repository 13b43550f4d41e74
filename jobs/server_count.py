"""Count web servers by their Server header."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

try:
    from crawlmill.mr import CountJob
except ModuleNotFoundError:  # not installed: this is the project's own folder
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
    from crawlmill.mr import CountJob

from crawlmill.analysis.servers import servers_of_headers, wat_servers

if TYPE_CHECKING:
    from crawlmill.formats.record import Record
    from crawlmill.mr.counting import PairCounter


class ServerCount(CountJob):
    """Count web servers, as their Server headers name them.

    Reads WARC, ARC and WAT, and gives the same counts for the same pages. Each distinct value of a response counts
    once; a response without a value counts under null.

    A result line is a value and its count: "nginx"<TAB>12
    """

    formats = ("warc", "arc", "wat")
    types = ("response", "metadata")
    heads_suffice = True

    def count(self, record: Record, counter: PairCounter) -> None:
        """Count the servers of a response."""
        if record.type == "response":
            servers = servers_of_headers(record.http.get_all("Server")) if record.holds_http else None
        else:  # of WAT; the metadata records of a WARC are no JSON
            servers = wat_servers(record.body()) if record.content_type == "application/json" else None
        for server in servers or ():
            counter.add(server, 1)


if __name__ == "__main__":
    ServerCount.run()
