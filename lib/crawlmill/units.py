"""Numbers with units, as people read them."""

from __future__ import annotations

__all__ = ["size"]


def size(count: int) -> str:
    """A number of bytes in powers of 1000: `41.2 MB`."""
    amount, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{count} B" if unit == "B" else f"{amount:,.1f} {unit}"
