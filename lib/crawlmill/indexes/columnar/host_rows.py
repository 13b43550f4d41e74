r"""Rows of the host index, from captures: lines for the shuffle, and the summary of a host's sorted lines.

    HOST NUL f OUTCOME LOTE NUL LENGTH      a fetch: the number of its outcome in `OUTCOMES`, 1 for a page that is not
                                            primarily English; the size of its record in bytes, if it is a page
    HOST NUL r OUTCOME                      a fetch of robots.txt

HOST is the key of the host. Lines of a host are together; hosts are in the order of their bytes, since no byte of a
host is less than NUL.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.indexes.capture import disk_fields
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.columnar.host_layout import OUTCOMES, surt_host_name
from crawlmill.indexes.columnar.layout import partition_of
from crawlmill.urls.hosts import host_kind, host_of
from crawlmill.urls.suffixes import registered_domain

__all__ = ["HostLines", "host_rows", "outcome_of"]

_CLASSES: Final = {
    301: "redirPerm",
    308: "redirPerm",
    302: "redirTemp",
    307: "redirTemp",
    304: "notModified",
    404: "gone",
    410: "gone",
}
_HUNDREDS: Final = {2: "200", 3: "3xx", 4: "4xx", 5: "5xx"}
_PLACES: Final = {name: place for place, name in enumerate(OUTCOMES)}
_PORT: Final = re.compile(rb"([^:]*):[0-9]+")
_ENGLISH: Final = "eng"


def outcome_of(status: object) -> str:
    """The outcome of a request, one of `OUTCOMES`, by its HTTP status: `200` stands for 200 to 299."""
    text = str(status)
    number = int(text) if len(text) == 3 and text.isascii() and text.isdigit() else 0
    return _CLASSES.get(number) or _HUNDREDS.get(number // 100) or "other"


class HostLines:
    """Makes lines from captures, by crawl.

    Args:
        crawl: For captures in files whose names are not in Common Crawl's layout.
    """

    def __init__(self, crawl: str) -> None:
        self._default = crawl

    def of(self, block: Block, lose: Callable[[FormatError], None]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the lines of a block, each with the name of its crawl first.

        Args:
            block: Captures.
            lose: Called with `bad-header` for each line that is not a capture with a host.
        """
        lines: dict[str, list[bytes]] = {}
        for index, line in enumerate(block.data.split(b"\n")[:-1]):
            try:
                crawl, made = self._line(line)
            except FormatError as error:
                error.what = f"line {block.number_of(index)} is not a capture of a host: {error.what}"
                error.reason = "bad-header"
                lose(error.located(offset=block.offset))
            else:
                lines.setdefault(crawl, []).append(made)
        for crawl, some in lines.items():
            yield f"crawl={crawl}".encode(), b"".join(some)

    def _line(self, line: bytes) -> tuple[str, bytes]:
        key, _, fields = disk_fields(line)
        host = _host_of_key(key, fields.get("url"))
        found = partition_of(str(fields.get("filename") or ""))
        crawl = found.crawl if found else self._default
        outcome = outcome_of(fields.get("status"))
        if found and found.subset == "robotstxt":
            return crawl, b"%b\0r%d\n" % (host, _PLACES[outcome])
        languages, length = str(fields.get("languages") or ""), str(fields.get("length") or "")
        if outcome != "200":
            return crawl, b"%b\0f%d0\0\n" % (host, _PLACES[outcome])
        lote = languages not in ("", "-") and not languages.startswith(_ENGLISH)
        size = length if length.isascii() and length.isdigit() and len(length) < 19 else ""
        return crawl, b"%b\0f%d%d\0%b\n" % (host, _PLACES[outcome], lote, size.encode())


def _host_of_key(key: bytes, url: object) -> bytes:
    host, bracket, _ = key.partition(b")")
    if not bracket or not host or host.startswith(b"dns:"):
        raise FormatError("no host in its key", reason="bad-header")
    if (found := _PORT.fullmatch(host)) is not None:
        host = found[1]
    if b"," in host or b":" in host:
        return host
    name = host_of(str(url)) if url else None  # `www.com` and `com` have the same key
    return surt_host_name(name).encode("utf-8", "replace") if name else host


def host_rows(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the row of each host from sorted lines without line ends; values that captures do not have are missing.

    Memory is needed for the lengths of one host's pages, 8 bytes each.
    """
    for host, some in groupby(lines, lambda line: line.partition(b"\0")[0]):
        counts = {"f": [0] * len(OUTCOMES), "r": [0] * len(OUTCOMES)}
        lengths = array("q")
        lote = 0
        for line in some:
            _, said, *size = line.split(b"\0")
            counts[chr(said[0])][said[1] - 48] += 1
            lote += said[2:] == b"1"
            if size and size[0]:
                lengths.append(int(size[0]))
        row: dict[str, Any] = {"surt_host_name": host.decode("utf-8", "replace"), **_names(host)}
        for kind, prefix in (("f", "fetch"), ("r", "robots")):
            row.update({f"{prefix}_{name}": n for name, n in zip(OUTCOMES, counts[kind], strict=True)})
        pages = row["fetch_200"]
        row["fetch_200_lote"] = lote
        if pages:
            row["fetch_200_lote_pct"] = (200 * lote + pages) // (2 * pages)
        if lengths:
            row["warc_record_length_av"] = sum(lengths) // len(lengths)
            row["warc_record_length_median"] = _median(lengths)
        yield row


def _median(lengths: array[int]) -> int:
    ordered, middle = sorted(lengths), len(lengths) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def _names(host: bytes) -> dict[str, str | None]:
    labels = host.decode("utf-8", "replace").split(",")
    name = ".".join(reversed(labels))
    if host_kind(name) != "name":
        return {}
    return {"url_host_registered_domain": registered_domain(name, unknown=False), "url_host_tld": labels[0]}
