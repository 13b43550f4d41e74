r"""The sitemaps named in a robots.txt file.

Lines are parsed by RFC 9309: they end with CR, LF or both, `#` begins a comment, a byte order mark is ignored, and keys
may be in any case with blanks around them. `Sitemap` is not part of that RFC, which allows it among "other records";
https://www.sitemaps.org/protocol.html#submit_robots defines it.

    >>> list(sitemaps_in(b"User-agent: *\nSITEMAP : /a.xml # ours\n", "http://example.com/robots.txt"))
    ['http://example.com/a.xml']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crawlmill.urls.standard import Resolver, parse_url

__all__ = ["is_robots_txt", "sitemaps_in"]

_MARK: Final = b"\xef\xbb\xbf"
_LINE: Final = re.compile(rb"(?:\A|[\r\n])[ \t]*+sitemap[ \t]*+:([^\r\n#]*+)", re.IGNORECASE)


def is_robots_txt(url: str) -> bool:
    """Whether the path of a URL is `/robots.txt`."""
    if "/robots.txt" not in url:
        return False
    parsed = parse_url(url)
    return parsed is not None and parsed.pathname == "/robots.txt"


def sitemaps_in(body: bytes, url: str) -> Iterator[str]:
    """Yield the URLs of sitemaps, in order, as often as they are named.

    Args:
        body: The whole file, in UTF-8; invalid bytes become U+FFFD.
        url: The URL of the file, for resolving relative references. Invalid URLs are left out.
    """
    resolver = Resolver(url)
    for found in _LINE.finditer(body.removeprefix(_MARK)):
        reference = found[1].strip()
        target = resolver.resolve(reference.decode("utf-8", "replace")) if reference else None
        if target is not None:
            yield target
