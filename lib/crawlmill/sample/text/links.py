r"""References of pages, declared once and listed in two forms: as in today's WAT records, and in the metadata of 2012.

WAT names the attribute with the address (`A@/href`), as written, and few of the other attributes; scripts and `link`
elements only if they are in the head. The metadata of 2012 makes addresses absolute and keeps every attribute; its
`type` is the element's name unless there is an attribute with that name. It does not list forms.

Fragments are used in many pages, so the beginnings of addresses in the metadata are placeholders: `\u0001` for the
page's scheme and host, `\u0002` for the page's folder. `made_absolute` replaces them.

Deviation: in September 2012 addresses were also canonicalised (fragments, session IDs and path parameters dropped), by
rules that are no longer known. Here they are only made absolute.
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

    `url` is the address as written, `attributes` are all others in order, `text` is the visible text inside.
    """

    element: str
    url: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a page: its title with the words to count, its meta tags, its base address."""

    title: str = ""
    words: str = ""
    metas: tuple[Mapping[str, str], ...] = ()
    base: str = ""


def wat_links(links: Iterable[Link]) -> str:
    """The links of a body, as the JSON texts of a list's items."""
    return dumps([_wat_link(link, _WAT_BODY[link.element]) for link in links if link.element in _WAT_BODY])[1:-1]


def wat_head(head: Head, links: Iterable[Link]) -> str:
    """The head, as the JSON text of an object; includes those of the links that are in the head."""
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
    """The links as the JSON texts of a list's items, with placeholders in addresses."""
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
    """Replace the placeholders in the result of `metadata_links` by the addresses of the page at `base`."""
    scheme, _, rest = base.partition("://")
    host, _, path = rest.partition("?")[0].partition("/")
    folder = path.rpartition("/")[0]
    root = f"{scheme}://{host}"
    return links.replace("\\u0001", root).replace("\\u0002", f"{root}/{folder}/" if folder else f"{root}/")
