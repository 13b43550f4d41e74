r"""What pages refer to, declared once and listed twice: as WAT records do today, and as the metadata of 2012 did.

WAT names the attribute that holds the address (`A@/href`), as it is written, and few of the others; scripts and `link`
elements only where they stand in the head. The metadata of 2012 makes the address absolute and keeps every attribute;
its `type` is the element's name unless there is an attribute of that name. Forms are no links to it.

Fragments serve many pages, so where in the metadata an address begins is left open: `\u0001` stands for the page's
scheme and host, `\u0002` for the folder that the page is in. `made_absolute` fills that in.

Deviation: in September 2012 addresses were also canonicalised (fragments, session IDs and path parameters dropped), by
rules that nobody knows any more. Here they are made absolute only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawlmill.formats.crawl2012.strict_json import compact_json
from crawlmill.sample.org_json import dumps

__all__ = ["Head", "Link", "made_absolute", "metadata_links", "wat_head", "wat_links"]

_WAT_BODY = {"a": "href", "img": "src", "form": "action", "area": "href", "iframe": "src"}
_WAT_ATTRIBUTES = ("title", "rel", "alt", "type", "method", "shape")


@dataclass(frozen=True, slots=True)
class Link:
    """An element that refers to something.

    `url` is the address as written, `attributes` all others in their order, `text` what a reader sees within.
    """

    element: str
    url: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a page says: its title with the words to be counted for it, its meta tags, its base address."""

    title: str = ""
    words: str = ""
    metas: tuple[Mapping[str, str], ...] = ()
    base: str = ""


def wat_links(links: Iterable[Link]) -> str:
    """The links of a body, as the JSON texts of a list's items."""
    return dumps([_wat_link(link, _WAT_BODY[link.element]) for link in links if link.element in _WAT_BODY])[1:-1]


def wat_head(head: Head, links: Iterable[Link]) -> str:
    """The head, as the JSON text of an object; of these links, those that stand in the head."""
    parts: dict[str, Any] = {
        "Title": head.title,
        "Metas": [meta for meta in head.metas if "content" in meta],
        "Link": [_wat_link(link, "href") for link in links if link.element == "link"],
        "Scripts": [_wat_link(link, "src") for link in links if link.element == "script"],
        "Base": head.base,
    }
    return dumps({name: part for name, part in parts.items() if part})


def _wat_link(link: Link, attribute: str) -> dict[str, str]:
    others = {name: value for name, value in link.attributes.items() if value and name in _WAT_ATTRIBUTES}
    text = {"text": link.text} if link.text else {}
    return {"path": f"{link.element.upper()}@/{attribute}", "url": link.url, **others, **text}


def metadata_links(links: Iterable[Link]) -> str:
    """The links as the JSON texts of a list's items, addresses open."""
    return compact_json(
        [
            {"type": link.element, **link.attributes, "text": link.text, "href": _open(link.url)}
            for link in links
            if link.element != "form"
        ]
    )[1:-1]


def _open(url: str) -> str:
    if url.startswith(("http://", "https://")):
        return url
    return ("\x01" if url.startswith("/") else "\x02") + url


def made_absolute(links: str, base: str) -> str:
    """What `metadata_links` gave, with the addresses that a page has at this one."""
    scheme, _, rest = base.partition("://")
    host, _, path = rest.partition("?")[0].partition("/")
    folder = path.rpartition("/")[0]
    root = f"{scheme}://{host}"
    return links.replace("\\u0001", root).replace("\\u0002", f"{root}/{folder}/" if folder else f"{root}/")
