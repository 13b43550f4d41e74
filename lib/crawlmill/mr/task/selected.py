"""Inputs that are captures, selected by what their lines say: those that are left out are not even fetched."""

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
    """Whether an input is selected by its line; None if the line does not say enough.

    A line that has a URL, a time and a media type says all there is to know of its capture: a property that it lacks is
    one that the page does not have.
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
    """The inputs but for those that their lines leave out, and how many those are."""
    items = [item for item in inputs if verdict_of(item, criteria) is not False]
    return Inputs(items, inputs.repeated, inputs.beside, inputs.kind), len(inputs) - len(items)
