"""The graph of hosts that link to each other: counted, numbered and joined in three passes over sorted lines.

Hosts are written in reverse (`org.example.www`), so that those of a domain are together. Names are divided into fixed
ranges by their first letters; a line carries the number of its range as a label, and a reducer gets the lines of a
label in the order of their bytes. A blank sorts before all characters of names.

    pass 1  in   FROM           0            the host of a page
                 FROM TO        links        a link to another host, with the number of such links
                    out  HOST                        each host that links or has a page, once, in the range of HOST
                         TO FROM        links        each edge once, in the range of TO
    pass 2  out  HOST           rank         its position in its range, from 0
                 FROM TOPLACE   links        each edge, in the range of FROM; TOPLACE is range and rank of TO
                 (blank) RANGE  hosts        to every range, the number of hosts in this one
    pass 3  out  vertices and edges, with numbers: the hosts of earlier ranges plus the rank

So numbers follow the order of names, and edges are ordered by their numbers. Only the numbers of hosts per range are
held in memory.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

__all__ = ["LABEL", "RANGES", "count_edges", "graph_host", "label_of", "number_graph", "rank_hosts"]

LABEL: Final = 5
"""Digits of a label."""

# Each range has about the same share of the hosts of a broad crawl; results do not depend on the ranges.
_STARTS: Final = (
    b"b",
    b"cn",
    b"com.c",
    b"com.f",
    b"com.k",
    b"com.n",
    b"com.s",
    b"com.w",
    b"de",
    b"eu",
    b"in",
    b"it",
    b"net",
    b"org",
    b"ru",
)
RANGES: Final = len(_STARTS) + 1
"""How many ranges there are."""

_LABELS: Final = tuple(b"%0*d" % (LABEL, number) for number in range(RANGES))
_RANK: Final = 12
_TARGET: Final = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:\[\]]+)")
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = re.compile(rf"(?:{_LABEL}\.)+(?![0-9]+\Z|0x[0-9a-f]*\Z){_LABEL}")
_MAX_HOST: Final = 253


def graph_host(url: str, *, strip_www: bool = False) -> str | None:
    """The host of an http or https URL, in reverse; None if the graph does not include it.

    Excluded are addresses, single labels, and names with a label not made of letters, digits and inner hyphens.

    Args:
        url: A URL as serialized by the URL standard.
        strip_www: Whether to remove a leading `www.` if at least two labels follow.
    """
    found = _TARGET.match(url)
    return None if found is None or len(found[1]) > _MAX_HOST + 1 else _reversed(found[1], strip_www)


@lru_cache(maxsize=1 << 16)
def _reversed(host: str, strip_www: bool) -> str | None:
    host = host.removesuffix(".")
    if len(host) > _MAX_HOST or not _HOST.fullmatch(host):
        return None
    if strip_www and host.startswith("www.") and host.count(".") > 1:
        host = host[4:]
    return ".".join(host.split(".")[::-1])


def label_of(name: bytes) -> bytes:
    """The label of a reversed host's range."""
    return _LABELS[bisect_right(_STARTS, name)]


def count_edges(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pass 1: takes labelled lines, sorted, in chunks of whole lines; yields labelled lines."""
    last_key, last_from, links = b"", b"", 0
    out: list[bytes] = []
    for chunk in chunks:
        for line in chunk.split(b"\n"):
            if not line:
                continue
            key, _, number = line.rpartition(b"\t")
            if key == last_key:
                links += int(number)
                continue
            if last_key:
                last_from = _edge(last_key[LABEL + 1 :], links, last_from, out)
            last_key, links = key, int(number)
        yield b"".join(out)
        out.clear()
    if last_key:
        _edge(last_key[LABEL + 1 :], links, last_from, out)
    yield b"".join(out)


def _edge(text: bytes, links: int, last_from: bytes, out: list[bytes]) -> bytes:
    source, _, target = text.partition(b" ")
    if source != last_from:
        out.append(b"%b\t%b\t0\n" % (label_of(source), source))
    if target:
        out.append(b"%b\t%b %b\t%d\n" % (label_of(target), target, source, links))
    return source


def rank_hosts(label: bytes, texts: Iterable[bytes]) -> Iterator[bytes]:
    """Pass 2: takes the sorted lines of a label, without it; yields labelled lines."""
    rank, last = -1, b""
    for text in texts:
        name, _, links = text.partition(b"\t")
        host, _, source = name.partition(b" ")
        if host != last:
            rank, last = rank + 1, host
            yield b"%b\t%b\t%d\n" % (label, host, rank)
        if source:
            yield b"%b\t%b %b%0*d\t%b\n" % (label_of(source), source, label, _RANK, rank, links)
    for each in _LABELS:
        yield b"%b\t %b\t%d\n" % (each, label, rank + 1)


def number_graph(
    label: bytes,
    texts: Iterable[bytes],
    write_vertex: Callable[[bytes], object],
    write_edge: Callable[[bytes], object],
    *,
    weights: bool,
) -> None:
    """Pass 3: takes the sorted lines of a label, without it; writes vertices and edges as lines."""
    firsts: list[int] | None = None
    hosts = [0] * RANGES
    number = 0
    for text in texts:
        name, _, value = text.partition(b"\t")
        if name.startswith(b" "):
            hosts[int(name)] = int(value)
            continue
        if firsts is None:
            firsts = [sum(hosts[:at]) for at in range(RANGES)]
        host, blank, place = name.partition(b" ")
        if not blank:
            number = firsts[int(label)] + int(value)
            write_vertex(b"%d\t%b\n" % (number, host))
            continue
        target = firsts[int(place[:LABEL])] + int(place[LABEL:])
        write_edge(b"%d\t%d\t%b\n" % (number, target, value) if weights else b"%d\t%d\n" % (number, target))
