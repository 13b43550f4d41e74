"""The attributes of HTML that refer to other resources, with their names in WAT."""

from __future__ import annotations

from typing import Final

__all__ = ["ATTRIBUTES", "KINDS", "NAMES"]

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "a": ("href",),
    "area": ("href",),
    "link": ("href",),
    "img": ("src",),
    "iframe": ("src",),
    "frame": ("src",),
    "script": ("src",),
    "embed": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "source": ("src",),
    "track": ("src",),
    "form": ("action",),
    "input": ("src", "formaction"),
    "button": ("formaction",),
    "object": ("data",),
    "q": ("cite",),
    "blockquote": ("cite",),
    "del": ("cite",),
    "ins": ("cite",),
}
"""Attributes by element."""

ATTRIBUTES: Final = {
    element.encode(): {name.encode(): f"{element.upper()}@/{name}" for name in names}
    for element, names in NAMES.items()
}
"""The kind of each attribute, by element, as bytes."""

KINDS: Final = frozenset(kind for attributes in ATTRIBUTES.values() for kind in attributes.values())
"""All kinds: `A@/href`, `IMG@/src` and so on."""
