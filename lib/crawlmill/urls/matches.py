"""The names of the kinds of URL patterns; in a module of their own, since every job declares them."""

from __future__ import annotations

from typing import Final

__all__ = ["MATCHES"]

MATCHES: Final = ("exact", "prefix", "host", "domain")
