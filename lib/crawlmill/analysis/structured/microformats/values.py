"""Values of microformats2 properties: texts, URLs and times of elements.

Spec: https://microformats.org/wiki/microformats2-parsing; https://microformats.org/wiki/value-class-pattern
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from crawlmill.analysis.structured.page import BLANKS, Page, names_in, text_nodes

__all__ = ["Step", "plain_text", "text_value", "time_value", "url_value"]

Step = Callable[[], None]

_URLS: Final = {
    "a": ("href",),
    "area": ("href",),
    "link": ("href",),
    "img": ("src",),
    "audio": ("src",),
    "source": ("src",),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "object": ("data",),
}
_TITLED: Final = {
    "p": {"abbr": "title", "link": "title", "data": "value", "input": "value", "img": "alt", "area": "alt"},
    "u": {"abbr": "title", "data": "value", "input": "value"},
    "dt": {
        "time": "datetime",
        "ins": "datetime",
        "del": "datetime",
        "abbr": "title",
        "data": "value",
        "input": "value",
    },
}
_PARTS: Final = {
    "img": "alt",
    "area": "alt",
    "data": "value",
    "abbr": "title",
    "time": "datetime",
    "ins": "datetime",
    "del": "datetime",
}
_OF_ITEM: Final = re.compile(r"(?:h|p|u|dt|e)-[a-z0-9-]+")
_DATE: Final = re.compile(r"[0-9]{4}-(?:[0-9]{3}|[0-9]{2}(?:-[0-9]{2})?)")
_ZONE: Final = re.compile(r"Z|[+-][0-9]{1,2}:?(?:[0-9]{2})?")
_TIME: Final = re.compile(
    r"([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}))?(?:\.[0-9]+)?[ \t]*(?:([aApP])\.?[mM]\.?)?"
    r"[ \t]*(Z|[+-][0-9]{1,2}:?(?:[0-9]{2})?)?"
)
_NOON: Final = 12
_MAX_PARTS: Final = 100


def plain_text(element: Any, step: Step, image: Callable[[Any], str] | None = None) -> str:
    """The text of an element, without surrounding blanks; scripts and styles are dropped.

    Args:
        element: The element.
        step: Called for each node that is visited, to limit their number.
        image: Returns the text that replaces an image below it; None: images are dropped, too.
    """
    if element.select_one("script,style,img,template") is None:
        return str(element.text).strip(BLANKS)
    pieces: list[str] = []
    for node in text_nodes(element, step):
        if type(node).__name__ == "Text":
            if getattr(node.parent, "tag", None) not in ("script", "style"):
                pieces.append(node.text)
        elif node.tag == "img" and image is not None:
            pieces.append(image(node))
    return "".join(pieces).strip(BLANKS)


def text_value(element: Any, page: Page, step: Step) -> str:
    """The value of a `p-` property; an image below its element is replaced by its `alt`, or else by its address."""

    def image(each: Any) -> str:
        alt, src = each.attr("alt"), each.attr("src")
        if alt is not None or src is None:
            return alt or ""
        return f" {page.resolve(src) or src} "

    parts = _value_parts(element, step)
    if parts:
        return "".join(parts).strip(BLANKS)
    given = _attribute(element, _TITLED["p"])
    return plain_text(element, step, image) if given is None else given


def url_value(element: Any, page: Page, step: Step) -> str:
    """The value of a `u-` property: a URL, or a text that cannot be resolved to one."""
    given = None
    for name in _URLS.get(element.tag, ()):
        given = element.attr(name) if given is None else given
    if given is None:
        parts = _value_parts(element, step)
        given = "".join(parts) if parts else _attribute(element, _TITLED["u"])
    if given is None:
        given = plain_text(element, step)
    given = given.strip(BLANKS)
    return page.resolve(given) or given


def time_value(element: Any, date: str, step: Step) -> tuple[str, str]:
    """The value of a `dt-` property, and its date, or else the given one, which completes a time without a date.

    Args:
        element: The element.
        date: The date of the previous property, or "".
        step: As in `plain_text`.
    """
    parts = _value_parts(element, step)
    if not parts:
        given = _attribute(element, _TITLED["dt"])
        value = plain_text(element, step) if given is None else given
        found = _DATE.match(value)
        if found is None and date and (time := _time_of(value.strip(BLANKS))):
            return f"{date} {time}", date
        return value, found[0] if found else date
    day = time = zone = ""
    for part in (each.strip(BLANKS) for each in parts):
        if found := _DATE.match(part):
            rest = part[found.end() :].lstrip("T ")
            if not rest:
                day = day or found[0]
                continue
            day, part = day or found[0], rest
        if _ZONE.fullmatch(part):
            zone = zone or _zone(part)
        elif not time:
            time = _time_of(part)
    if not (day or time):
        return "".join(parts).strip(BLANKS), date
    day = day or date
    if time and zone and not time.endswith("Z") and not re.search(r"[+-][0-9]", time):
        time += zone
    return " ".join(each for each in (day, time) if each), day


def _time_of(text: str) -> str:
    """A time as `HH:MM[:SS][zone]`; "" if it is not a time."""
    found = _TIME.fullmatch(text)
    if found is None or (found[2] is None and found[4] is None):
        return ""
    hour = int(found[1])
    if found[4]:
        hour = hour % _NOON + (_NOON if found[4] in "pP" else 0)
    seconds = f":{found[3]}" if found[3] else ""
    return f"{hour:02}:{found[2] or '00'}{seconds}{_zone(found[5] or '')}"


def _zone(text: str) -> str:
    if len(text) < 2:
        return text
    hours, minutes = text[1:].replace(":", "")[:-2], text[1:].replace(":", "")[-2:]
    if len(text.replace(":", "")) <= 3:
        hours, minutes = text[1:], "00"
    return f"{text[0]}{int(hours or 0):02}{minutes}"


def _attribute(element: Any, names: dict[str, str]) -> str | None:
    name = names.get(element.tag)
    return element.attr(name) if name else None


def _value_parts(element: Any, step: Step) -> list[str]:
    """The values of an element's parts with the class `value` or `value-title`, except those of nested properties."""
    parts: list[str] = []
    for part in element.select(".value:not(template),.value-title:not(template)")[:_MAX_PARTS]:
        if _is_of_other(part, element):
            continue
        if part.has_class("value-title"):
            parts.append(part.attr("title") or "")
        else:
            given = _attribute(part, _PARTS)
            parts.append(plain_text(part, step) if given is None else given)
    return parts


def _is_of_other(part: Any, element: Any) -> bool:
    """Whether a part of an element is inside another part, another property or item, or a template."""
    above = part.parent
    while above is not None and above != element:
        if type(above).__name__ == "DocumentFragment":
            return True
        classes = names_in(above.attr("class")) if hasattr(above, "attr") else ()
        if any(name in ("value", "value-title") or _OF_ITEM.fullmatch(name) for name in classes):
            return True
        above = above.parent
    return False
