"""Class names of microformats: those of microformats2 by their form, and the meaning of classic names.

Source: https://microformats.org/wiki/microformats2-parsing, and the pages of the vocabularies there, "backward
compatibility".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

__all__ = ["CLASSIC", "Vocabulary", "item_types", "properties"]

_VENDOR: Final = r"(?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*"
_TYPE: Final = re.compile(f"h-{_VENDOR}")
_PROPERTY: Final = re.compile(f"(p|u|dt|e)-({_VENDOR})")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The meaning of the classes inside a classic root.

    Attributes:
        type: The item's type.
        classes: The property for a class, and the type of the item that is its value, if any.
        rels: The property for a `rel`.
    """

    type: str
    classes: dict[str, tuple[str, str]] = field(default_factory=dict)
    rels: dict[str, str] = field(default_factory=dict)


def _vocabulary(kind: str, text: str, rels: str = "") -> Vocabulary:
    """Parse `old:p-new` or `old:p-new:h-type`; a name without a colon means `p-` and itself."""
    classes = {}
    for each in text.split():
        old, _, rest = each.partition(":")
        new, _, inner = rest.partition(":")
        classes[old] = (new or f"p-{old}", inner)
    return Vocabulary(kind, classes, {old: new for old, _, new in (each.partition(":") for each in rels.split())})


_ADDRESS: Final = "street-address extended-address post-office-box locality region postal-code country-name"
_TAG: Final = "tag:p-category"

CLASSIC: Final = MappingProxyType({
    "adr": _vocabulary("h-adr", _ADDRESS),
    "geo": _vocabulary("h-geo", "latitude longitude"),
    "vcard": _vocabulary("h-card", f"""fn:p-name url:u-url honorific-prefix given-name additional-name family-name
        honorific-suffix nickname email:u-email logo:u-logo photo:u-photo uid:u-uid category adr:p-adr:h-adr {_ADDRESS}
        label geo:p-geo:h-geo latitude longitude tel note bday:dt-bday key:u-key org organization-name organization-unit
        title:p-job-title role"""),
    "hentry": _vocabulary("h-entry", """entry-title:p-name entry-summary:p-summary entry-content:e-content
        published:dt-published updated:dt-updated author:p-author:h-card category geo:p-geo:h-geo""",
        f"bookmark:u-url {_TAG}"),
    "hfeed": _vocabulary("h-feed", """site-title:p-name title:p-name site-description:p-summary description:p-summary
        category""", _TAG),
    "vevent": _vocabulary("h-event", """summary:p-name dtstart:dt-start dtend:dt-end duration:dt-duration description
        url:u-url category location geo:p-location:h-geo attendee contact organizer"""),
    "hproduct": _vocabulary("h-product", """fn:p-name photo:u-photo brand category description identifier:u-identifier
        url:u-url review:p-review:h-review price"""),
    "hrecipe": _vocabulary("h-recipe", """fn:p-name ingredient yield instructions:e-instructions duration:dt-duration
        photo:u-photo summary author:p-author:h-card nutrition category""", _TAG),
    "hresume": _vocabulary("h-resume", """summary contact:p-contact:h-card education:p-education:h-event
        experience:p-experience:h-event skill affiliation:p-affiliation:h-card"""),
    "hreview": _vocabulary("h-review", """summary:p-name item:p-item:h-item fn:p-item:h-item url:p-item:h-item
        photo:p-item:h-item reviewer:p-author:h-card dtreviewed:dt-reviewed rating best worst description""",
        f"bookmark:u-url {_TAG}"),
    "hreview-aggregate": _vocabulary("h-review-aggregate", """summary:p-name item:p-item:h-item fn:p-item:h-item
        url:u-url photo:u-photo reviewer:p-reviewer:h-card dtreviewed:dt-reviewed rating best worst count votes
        description"""),
})  # fmt: skip
"""Classic root classes, and the vocabularies that they begin."""


def item_types(classes: Iterable[str]) -> list[str]:
    """The types among class names, without duplicates, sorted."""
    return sorted({name for name in classes if _TYPE.fullmatch(name)})


def properties(classes: Iterable[str]) -> list[tuple[str, str]]:
    """The properties among class names: prefix (`p`, `u`, `dt`, `e`) and name, without duplicates."""
    found = (_PROPERTY.fullmatch(name) for name in classes)
    return list(dict.fromkeys((each[1], each[2]) for each in found if each))
