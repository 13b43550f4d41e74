"""Implied properties of microformats2 items: name, photo and URL of items that are little more than a root.

Spec: https://microformats.org/wiki/microformats2-parsing, "parsing for implied properties".
"""

from __future__ import annotations

from typing import Any, Final

from crawlmill.analysis.structured.microformats.classes import item_types
from crawlmill.analysis.structured.microformats.values import Step, plain_text
from crawlmill.analysis.structured.page import names_in

__all__ = ["implied_name", "implied_photo", "implied_url"]

_NAMES: Final = {"img": "alt", "area": "alt", "abbr": "title"}
_PHOTOS: Final = {"img": "src", "object": "data"}
_URLS: Final = {"a": "href", "area": "href"}


def implied_name(element: Any, step: Step) -> str:
    """The name of an item without a name property; `step` is called for each node that is visited for its text."""
    if (own := _own(element, _NAMES)) is not None:
        return own
    for parent in (element, _only_child(element)):
        if parent is None or (parent != element and _is_item(parent)):
            break
        child = _only_child(parent)
        if child is not None and not _is_item(child) and (found := _own(child, _NAMES)):
            return found
    return plain_text(element, step, lambda image: image.attr("alt") or "")


def implied_photo(element: Any) -> str | None:
    """The address of an item's photo, if there is one; else None."""
    return _implied(element, _PHOTOS)


def implied_url(element: Any) -> str | None:
    """The address that an item links to, if there is one; else None."""
    return _implied(element, _URLS)


def _implied(element: Any, attributes: dict[str, str]) -> str | None:
    if (own := _own(element, attributes)) is not None:
        return own
    child = _only_child(element)
    for parent in (element, None if child is None or _is_item(child) else child):
        if parent is None:
            continue
        for tag, name in attributes.items():
            of_tag = [each for each in _elements(parent) if each.tag == tag]
            if len(of_tag) == 1 and not _is_item(of_tag[0]) and (found := of_tag[0].attr(name)) is not None:
                return str(found)
    return None


def _own(element: Any, attributes: dict[str, str]) -> str | None:
    name = attributes.get(element.tag)
    return element.attr(name) if name else None


def _only_child(element: Any) -> Any | None:
    children = _elements(element)
    return children[0] if len(children) == 1 else None


def _elements(element: Any) -> list[Any]:
    return [node for node in element.children if type(node).__name__ == "Element" and node.tag != "template"]


def _is_item(element: Any) -> bool:
    return bool(item_types(names_in(element.attr("class"))))
