"""The `content` of a metadata record of 2012: what the crawler's parser found in an HTML page or a feed.

The values are normalised, whatever form they were stored in:

* a single link or document was stored as itself, several as an array; here they are always tuples;
* meta tags have a name and a content, whether the name was in `name`, `http-equiv`, `property` or `itemprop`, or was
  the key itself (`charset`, and other tags before July 2012);
* links keep all attributes. `type` is the tag's name unless the element had a `type` attribute: `element` is the tag's
  name in both cases, if it can be determined;
* keys that are not known are in `unknown`; a value that is absent, or of the wrong type, is None or empty.

One fault of the writer cannot be repaired: `published` and `updated` of Atom entries are stored in the feed (those of
the last entry), not in the entries. Entries that do have them are read.

Spec: see `crawl_metadata`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

__all__ = ["Author", "Document", "Feed", "FeedItem", "Link", "MetaTag", "parse_content", "typed"]

_T = TypeVar("_T")

_ELEMENTS: Final = frozenset(("a", "area", "frame", "iframe", "script", "link", "img"))
_META_NAMES: Final = ("name", "http-equiv", "property", "itemprop")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page or feed: its absolute target, the text within the element, and all other attributes.

    `type` is as stored: the tag's name, or the element's own `type` attribute. Links of feeds may have none.
    """

    href: str
    text: str
    type: str | None
    attributes: Mapping[str, str]

    @property
    def element(self) -> str | None:
        """The tag's name; None if a `type` attribute replaced it and nothing else identifies it."""
        if self.type in _ELEMENTS:
            return self.type
        # Only `script`, `link` and `a` have a type attribute; only `a` has text, and it rarely lacks one.
        if self.type and self.type.lower().endswith(("javascript", "ecmascript", "vbscript", "jscript")):
            return "script"
        return "link" if self.type and "rel" in self.attributes and not self.text else None


@dataclass(frozen=True, slots=True)
class MetaTag:
    """A meta tag: its name as written, its content (None without one), and all of its attributes."""

    name: str | None
    content: str | None
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Author:
    """An author of a feed or item: RSS has a text, often an address with a name; Atom has a name and perhaps a URL."""

    name: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The content of an HTML page: its title with blanks and line ends unchanged, its meta tags and links in order.

    The inner one of nested links comes first. Links to `#...` and to unknown protocols were dropped.
    """

    title: str | None
    meta_tags: tuple[MetaTag, ...]
    links: tuple[Link, ...]
    unknown: Mapping[str, Any]

    def meta(self, name: str) -> list[str]:
        """The contents of the meta tags with this name, in any case."""
        wanted = name.lower()
        return [tag.content for tag in self.meta_tags if tag.content is not None and (tag.name or "").lower() == wanted]


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An item of a feed. Times are milliseconds since 1970, UTC; `documents` are its texts, parsed as HTML."""

    title: str | None
    description: str | None
    links: tuple[Link, ...]
    self_links: tuple[Link, ...]
    replies: tuple[Link, ...]
    authors: tuple[Author, ...]
    categories: tuple[str, ...]
    comments_url: str | None
    published_ms: int | None
    updated_ms: int | None
    guid: str | None
    documents: tuple[Document, ...]
    unknown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed; `kind` is "rss" or "atom". Times are milliseconds since 1970, UTC.

    In an RSS feed, `updated_ms` is lastBuildDate, or pubDate without one; in an Atom feed, `published_ms` is that of
    the last entry.
    """

    kind: str
    title: str | None
    description: str | None
    links: tuple[Link, ...]
    authors: tuple[Author, ...]
    categories: tuple[str, ...]
    generator: str | None
    published_ms: int | None
    updated_ms: int | None
    ttl_minutes: int | None
    items: tuple[FeedItem, ...]
    unknown: Mapping[str, Any]


_KINDS: Final = {"rss-feed": "rss", "atom-feed": "atom"}


def parse_content(content: Mapping[str, Any]) -> Document | Feed:
    """Parse a `content` object into a page or a feed; a page unless its `type` is that of a feed."""
    kind = _KINDS.get(typed(content, "type", str) or "")
    return _document(content) if kind is None else _feed(kind, content)


def typed(fields: Mapping[str, Any], key: str, kind: type[_T]) -> _T | None:
    """The value of a key if it has exactly this type, else None."""
    value = fields.get(key)
    return value if type(value) is kind else None


def _document(fields: Mapping[str, Any]) -> Document:
    return Document(
        title=typed(fields, "title", str),
        meta_tags=tuple(map(_meta_tag, _strings(fields, "meta_tags"))),
        links=_links(fields, "links"),
        unknown=_others(fields, _DOCUMENT_KEYS),
    )


def _feed(kind: str, fields: Mapping[str, Any]) -> Feed:
    return Feed(
        kind=kind,
        **_entry(fields),
        generator=typed(fields, "generator", str),
        ttl_minutes=typed(fields, "ttl", int),
        items=tuple(map(_item, _objects(fields, "items"))),
        unknown=_others(fields, _FEED_KEYS),
    )


def _item(fields: Mapping[str, Any]) -> FeedItem:
    return FeedItem(
        **_entry(fields),
        self_links=_links(fields, "self"),
        replies=_links(fields, "replies"),
        comments_url=typed(fields, "comments", str),
        guid=typed(fields, "guid", str),
        documents=tuple(map(_document, _objects(fields, "content"))),
        unknown=_others(fields, _ITEM_KEYS),
    )


def _entry(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that feeds and their items have in common."""
    return {
        "title": typed(fields, "title", str),
        "description": typed(fields, "description", str),
        "links": _links(fields, "link"),
        "authors": _authors(fields),
        "categories": _texts(fields, "categories"),
        "published_ms": typed(fields, "published", int),
        "updated_ms": typed(fields, "updated", int),
    }


def _meta_tag(attributes: dict[str, str]) -> MetaTag:
    content = attributes.get("content", attributes.get("value"))
    for key in _META_NAMES:
        if key in attributes:
            return MetaTag(attributes[key], content, attributes)
    if content is None and attributes:
        name, content = next(iter(attributes.items()))
        return MetaTag(name, content, attributes)
    return MetaTag(None, content, attributes)


def _links(fields: Mapping[str, Any], key: str) -> tuple[Link, ...]:
    return tuple(
        Link(
            href=link.pop("href", ""),
            text=link.pop("text", ""),
            type=link.pop("type", None),
            attributes=link,
        )
        for link in _strings(fields, key)
    )


def _authors(fields: Mapping[str, Any]) -> tuple[Author, ...]:
    one = typed(fields, "author", str)
    several = (Author(author.get("name", ""), author.get("url")) for author in _strings(fields, "authors"))
    return (*([] if one is None else [Author(one)]), *several)


def _texts(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(text for text in typed(fields, key, list) or () if type(text) is str)


def _objects(fields: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The object under a key, or the objects in the array under it."""
    found = fields.get(key)
    return (one for one in (found if isinstance(found, list) else [found]) if type(one) is dict)


def _strings(fields: Mapping[str, Any], key: str) -> Iterator[dict[str, str]]:
    """The same, with only those values that are strings."""
    return ({name: text for name, text in one.items() if type(text) is str} for one in _objects(fields, key))


def _others(fields: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in known}


_DOCUMENT_KEYS: Final = frozenset(("type", "title", "meta_tags", "links"))
_ITEM_KEYS: Final = frozenset(
    (
        "title",
        "description",
        "link",
        "self",
        "replies",
        "author",
        "authors",
        "categories",
        "comments",
        "published",
        "updated",
        "guid",
        "content",
    )
)
_FEED_KEYS: Final = frozenset(
    (
        "type",
        "title",
        "description",
        "link",
        "author",
        "authors",
        "categories",
        "generator",
        "published",
        "updated",
        "ttl",
        "items",
    )
)
