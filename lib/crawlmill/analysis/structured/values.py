"""Dates and times in pages: the XML Schema type of a text, if any.

Spec: XML Schema Part 2 (1.1), sections 3.3.6 to 3.3.11, as HTML+RDFa 1.1 section 3.1 and Microdata to RDF name them.
"""

from __future__ import annotations

import re
from typing import Final

from crawlmill.analysis.structured.terms import XSD

__all__ = ["time_type"]

_ZONE: Final = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
_DATE: Final = r"-?(?:[1-9][0-9]{3,}|0[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME: Final = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_YEAR: Final = r"-?(?:[1-9][0-9]{3,}|0[0-9]{3})"
_NUMBER: Final = "[0-9]+"
_HOURS: Final = rf"(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}(?:\.[0-9]+)?S)?)?"
_TYPES: Final = (
    ("gYear", _YEAR + _ZONE),
    ("gYearMonth", rf"{_YEAR}-(?:0[1-9]|1[0-2]){_ZONE}"),
    ("date", _DATE + _ZONE),
    ("dateTime", f"{_DATE}T{_TIME}{_ZONE}"),
    ("time", _TIME + _ZONE),
    ("duration", rf"-?P(?=[0-9T])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}D)?{_HOURS}"),
)
_ANY: Final = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _TYPES))


def time_type(text: str) -> str | None:
    """The IRI of the type of a date, time or duration; None for other texts.

    >>> time_type("2026-01-17"), time_type("PT2H"), time_type("soon")
    ('http://www.w3.org/2001/XMLSchema#date', 'http://www.w3.org/2001/XMLSchema#duration', None)
    """
    found = _ANY.fullmatch(text)
    return f"{XSD}{found.lastgroup}" if found else None
