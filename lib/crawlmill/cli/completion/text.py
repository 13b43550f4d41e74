"""Helps of options, cut to what fits beside an option in a menu."""

from __future__ import annotations

__all__ = ["brief"]

_WIDTH = 80


def brief(text: str) -> str:
    """The beginning of a help: without what stands in brackets at its end, and at most 80 characters."""
    text = text.partition(" (")[0].partition("; ")[0]
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH].rpartition(' ')[0]}…"
