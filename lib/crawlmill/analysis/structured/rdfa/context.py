"""The initial context of RDFa 1.1: prefixes and terms that need no declaration; and how names are expanded.

Source: RDFa Core Initial Context (W3C), https://www.w3.org/2011/rdfa-context/rdfa-1.1
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

__all__ = ["PREFIXES", "TERMS", "expand_curie", "expand_name", "read_prefixes"]

_XHV: Final = "http://www.w3.org/1999/xhtml/vocab#"
_W3_NS: Final = "http://www.w3.org/ns/"

PREFIXES: Final = MappingProxyType(
    {name: f"{_W3_NS}{rest}" for name, rest in (
        ("as", "activitystreams#"), ("csvw", "csvw#"), ("dcat", "dcat#"), ("dqv", "dqv#"), ("duv", "duv#"),
        ("earl", "earl#"), ("ldp", "ldp#"), ("ma", "ma-ont#"), ("oa", "oa#"), ("odrl", "odrl/2/"), ("org", "org#"),
        ("prov", "prov#"), ("rdfa", "rdfa#"), ("rr", "r2rml#"), ("sd", "sparql-service-description#"),
        ("sosa", "sosa/"), ("ssn", "ssn/"), ("jsonld", "json-ld#"),
    )}
    | {
        "grddl": "http://www.w3.org/2003/g/data-view#", "owl": "http://www.w3.org/2002/07/owl#",
        "qb": "http://purl.org/linked-data/cube#", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "rif": "http://www.w3.org/2007/rif#",
        "skos": "http://www.w3.org/2004/02/skos/core#", "skosxl": "http://www.w3.org/2008/05/skos-xl#",
        "time": "http://www.w3.org/2006/time#", "void": "http://rdfs.org/ns/void#",
        "wdr": "http://www.w3.org/2007/05/powder#", "wdrs": "http://www.w3.org/2007/05/powder-s#", "xhv": _XHV,
        "xml": "http://www.w3.org/XML/1998/namespace", "xsd": "http://www.w3.org/2001/XMLSchema#",
        "cc": "http://creativecommons.org/ns#", "ctag": "http://commontag.org/ns#",
        "dc": "http://purl.org/dc/terms/", "dcterms": "http://purl.org/dc/terms/",
        "dc11": "http://purl.org/dc/elements/1.1/", "foaf": "http://xmlns.com/foaf/0.1/",
        "gr": "http://purl.org/goodrelations/v1#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
        "og": "http://ogp.me/ns#", "rev": "http://purl.org/stuff/rev#", "schema": "http://schema.org/",
        "sioc": "http://rdfs.org/sioc/ns#", "v": "http://rdf.data-vocabulary.org/#",
        "vcard": "http://www.w3.org/2006/vcard/ns#",
    }
)  # fmt: skip
"""Prefixes, in lower case, and the IRIs that they stand for."""

TERMS: Final = MappingProxyType(
    {
        "describedby": "http://www.w3.org/2007/05/powder-s#describedby",
        "license": f"{_XHV}license",
        "role": f"{_XHV}role",
    }
)
"""Terms, in lower case, and the IRIs that they stand for."""

_START: Final = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MORE: Final = _START + "\\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_TERM: Final = re.compile(f"[{_START}][{_MORE}/]*")
_PREFIX: Final = re.compile(f"(?:[{_START}][{_MORE}]*)?")
_DECLARATION: Final = re.compile(r"([^ \t\n\f\r]+):[ \t\n\f\r]+([^ \t\n\f\r]+)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def read_prefixes(text: str) -> dict[str, str]:
    """Parse the declarations of a `prefix` attribute; invalid ones, and those of the prefix `_`, are left out."""
    declared = ((name.lower(), value) for name, value in _DECLARATION.findall(text))
    return {name: value for name, value in declared if name != "_" and _PREFIX.fullmatch(name)}


def expand_curie(text: str, prefixes: dict[str, str]) -> str | None:
    """Expand a compact IRI, with or without a known prefix; None if it is not one."""
    prefix, colon, name = text.partition(":")
    if not colon or name.startswith("//"):
        return None
    if not prefix:
        return _XHV + name
    known = prefixes.get(prefix.lower()) or PREFIXES.get(prefix.lower())
    return None if known is None else known + name


def expand_name(text: str, prefixes: dict[str, str], vocabulary: str) -> str | None:
    """Expand a term, compact IRI or absolute IRI, as in `property`, `typeof`, `rel` and `datatype`."""
    if ":" not in text:
        if not _TERM.fullmatch(text):
            return None
        return vocabulary + text if vocabulary else TERMS.get(text.lower())
    found = expand_curie(text, prefixes)
    if found is None and _SCHEME.match(text):
        return text
    return found
