"""Selects inputs that are captures by their index lines, so that those left out are not even fetched."""

from __future__ import annotations

import json

from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.formats.selectors.facts import CaptureFacts
from crawlmill.indexes.capture import ALIASES
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.ledger.input_lines import CDXJ

__all__ = ["select_inputs", "verdict_of"]

_WHOLE = ("url", "mime", "timestamp")


def verdict_of(item: Input, criteria: Criteria) -> bool | None:
    """Whether an input is selected according to its index line; None if the line does not say enough.

    A line with a URL, a time and a media type is complete: if it lacks another property, the page does not have it.
    """
    text, timestamp = item.given, None
    if found := CDXJ.fullmatch(text):
        text, timestamp = found[1], item.given.split(" ", 2)[1]
    elif not text.startswith("{"):
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    fields = {ALIASES.get(name, name): value for name, value in given.items()}
    if timestamp is not None:
        fields["timestamp"] = timestamp
    if any(not isinstance(fields.get(name), str) for name in _WHOLE):
        return None
    return criteria.meets(CaptureFacts(fields["timestamp"], fields))


def select_inputs(inputs: Inputs, criteria: Criteria) -> tuple[Inputs, int]:
    """Return the inputs without those that their lines exclude, and the number of those excluded."""
    items = [item for item in inputs if verdict_of(item, criteria) is not False]
    return Inputs(items, inputs.repeated, inputs.beside, inputs.kind), len(inputs) - len(items)
