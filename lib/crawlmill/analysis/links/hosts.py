"""Hosts of URLs for links: by the URL standard, in punycode, without a dot at the end."""

from __future__ import annotations

import re
from typing import Final

from crawlmill.urls.standard import parse_url

__all__ = ["host_of_url"]

_USUAL: Final = re.compile(r"https?://([a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.[a-z][a-z-]*)(?::[0-9]{1,4})?(?=[/?#]|\Z)")


def host_of_url(url: str) -> str | None:
    """The host, without its port; None if the URL has none, or is not valid.

    >>> host_of_url("http://Bücher.Example.:8080/")
    'xn--bcher-kva.example'
    """
    usual = _USUAL.match(url)
    if usual is not None:
        return usual[1]
    parsed = parse_url(url)
    return parsed.host.removesuffix(".") or None if parsed is not None and parsed.host else None
