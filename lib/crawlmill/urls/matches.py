"""The names of what a URL pattern can mean; here alone, because every job declares them as an option's values."""

from __future__ import annotations

from typing import Final

__all__ = ["MATCHES"]

MATCHES: Final = ("exact", "prefix", "host", "domain")
