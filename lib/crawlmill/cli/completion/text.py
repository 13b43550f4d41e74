"""Shortens the help of options for menus."""

from __future__ import annotations

__all__ = ["brief"]

_WIDTH = 80


def brief(text: str) -> str:
    """The beginning of a help text: without a final part in parentheses, and at most 80 characters."""
    text = text.partition(" (")[0].partition("; ")[0]
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH].rpartition(' ')[0]}…"
