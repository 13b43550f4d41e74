"""The tables of `metadata_statistics`: what a metadata record of 2012 counts for, in which table.

    >>> metadata_tables("http://www.example.com/", {"disposition": "FAILURE", "failure_reason": "DNSFailure"})[:2]
    [('disposition', 'FAILURE', 1), ('failure', 'DNSFailure', 1)]

| table | item | of |
|---|---|---|
| disposition | "SUCCESS", "FAILURE" | every record |
| failure | reason | failures |
| status | HTTP status | responses |
| redirect | HTTP status of the redirect, 0 if there was no answer | redirected attempts |
| server | Server header without surrounding blanks, null if absent | responses (of the URL, not of the redirect) |
| host | "name", "ipv4", "ipv6"; null if the URL has no host | every record |
| tld | last label of the host; null for addresses and if there is no host | every record |
| domain | registered domain (see `urls.suffixes`); null like tld, and for suffixes themselves | every record |
| mime | media type | bodies of status 2xx |
| charset | charset by Java's name | texts |
| detector | 0 HTTP header, 1 meta tag, 2 ICU, 10 nothing found | texts |
| parsed | "html", "rss", "atom" | parsed bodies |
| gzip | "none", "gunzipped", "failed" | bodies of status 2xx |
| truncated | true, false: whether the download was truncated | bodies of status 2xx |
| content_len | bytes downloaded, see below | responses |
| download_size | the same | bodies of status 2xx |
| gunzip_content_len | bytes after decompression, see below | gunzipped bodies |
| links | `type` of a link: the tag, or the element's own type attribute | links of HTML pages |
| pages_with_links | the same, each once per page | HTML pages |
| links_per_page | number of links, see below | HTML pages |

Numbers are grouped by powers of two: the item 4096 stands for 4096 to 8191, 1 for 1, 0 for 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from crawlmill.analysis.servers import servers_of_headers
from crawlmill.urls.hosts import host_kind, host_of, top_level_domain
from crawlmill.urls.suffixes import registered_domain

__all__ = ["Count", "Item", "metadata_tables", "size_class"]

Item = str | int | bool | None
Count = tuple[str, Item, int]

# (table, key of the record): the value is used as it is.
_AS_STORED: Final = (
    ("disposition", "disposition"),
    ("failure", "failure_reason"),
    ("status", "http_result"),
    ("mime", "mime_type"),
    ("charset", "charset_detected"),
    ("detector", "charset_detector"),
)
_SIZES: Final = ("content_len", "download_size", "gunzip_content_len")
_PARSED: Final = {"html-doc": "html", "rss-feed": "rss", "atom-feed": "atom"}


def metadata_tables(url: str, fields: Mapping[str, Any]) -> list[Count]:
    """What a record counts for, as (table, item, number). `fields` are those of a valid record, `url` is its key."""
    found: list[Count] = [(table, fields[key], 1) for table, key in _AS_STORED if key in fields]
    if "redirect_from" in fields:
        found.append(("redirect", fields["redirect_from"].get("http_result", 0), 1))
    if "http_headers" in fields:
        server = fields["http_headers"].get("server")
        found.append(("server", servers_of_headers([] if server is None else [server])[0], 1))
    found += _of_host(url)
    found += [(key, size_class(fields[key]), 1) for key in _SIZES if key in fields]
    if "download_size" in fields:
        failed, gzipped = fields.get("gunzip_failed"), fields.get("content_is_gzip")
        found.append(("gzip", "failed" if failed else "gunzipped" if gzipped else "none", 1))
        found.append(("truncated", fields.get("download_truncated", False), 1))
    if "content" in fields:
        found += _of_content(fields["content"], fields.get("parsed_as"))
    return found


def size_class(number: int) -> int:
    """The largest power of two that is not greater than a number; 0 for 0."""
    return 1 << number.bit_length() - 1 if number else 0


def _of_host(url: str) -> list[Count]:
    host = host_of(url)
    if host is None:
        return [("host", None, 1), ("tld", None, 1), ("domain", None, 1)]
    return [("host", host_kind(host), 1), ("tld", top_level_domain(host), 1), ("domain", registered_domain(host), 1)]


def _of_content(content: Mapping[str, Any], parsed_as: str | None) -> list[Count]:
    kind = content.get("type", parsed_as)
    found: list[Count] = [("parsed", _PARSED.get(kind, kind), 1)]
    if kind == "html-doc":
        types = Counter(link.get("type") for link in content.get("links", ()))
        found += [("links", kind, number) for kind, number in types.items()]
        found += [("pages_with_links", kind, 1) for kind in types]
        found.append(("links_per_page", size_class(types.total()), 1))
    return found
