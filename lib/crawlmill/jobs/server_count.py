"""Count web servers by their Server header."""

from __future__ import annotations

from crawlmill.analysis.servers import ServerCounter, servers_of_headers, wat_servers
from crawlmill.formats.crawl2012.valid import valid_metadata
from crawlmill.mr import Columns, CountJob, Record, counted_natively

__all__ = ["ServerCount"]


class ServerCount(CountJob):
    """Count web servers by their Server headers.

    Reads WARC, ARC, WAT, and metadata of 2012. The first three give the same counts for the same pages: each distinct
    value of a response counts once. Metadata contain only the last value. A response without a value counts under null.

    A result line is a value and its count: "nginx"<TAB>12
    """

    columns = Columns({"server": "string"}, {"count": "int64"})
    formats = ("warc", "arc", "wat", "metadata")
    types = ("response", "metadata")
    heads_suffice = True

    def make_counter(self) -> ServerCounter:
        """A counter of servers."""
        return ServerCounter()

    @counted_natively
    def count(self, record: Record, counter: ServerCounter) -> None:
        """Count the servers of a response."""
        if record.type == "response":
            servers = servers_of_headers(record.http.get_all("Server")) if record.holds_http else None
        elif record.format == "sequencefile":  # metadata of 2012; failed attempts have no headers
            headers = valid_metadata(record.body()).fields.get("http_headers")
            servers = None if headers is None else servers_of_headers([headers.get("server", "")])
        else:  # WAT; the metadata records of a WARC file are not JSON
            servers = wat_servers(record.body()) if record.content_type == "application/json" else None
        counter.add(servers or ())


if __name__ == "__main__":
    ServerCount.run()
