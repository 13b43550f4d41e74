r"""RDF terms as written in N-Quads, with checks that reject invalid terms.

    <http://example.com/>    "text"    "texte"@fr    "1"^^<http://www.w3.org/2001/XMLSchema#integer>    _:b0

A term is represented by its text. Lexical forms are not changed; an invalid term is None. In texts, `"`, `\` and
control characters are escaped, so that a line never contains a tab or a line end.

Spec: RDF 1.1 N-Quads, https://www.w3.org/TR/n-quads/; BCP 47 section 2.1 for the form of language tags.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["RDF", "RDF_TYPE", "XSD", "graph_name", "iri", "is_absolute", "literal"]

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE: Final = f"<{RDF}type>"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

_BAD_IN_IRI: Final = re.compile('[\\x00-\\x20<>"{}|^`\\\\\x7f-\x9f\ud800-\udfff]')
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\\x7f]')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}


def is_absolute(text: str) -> bool:
    """Whether a text begins with a scheme, like an absolute IRI."""
    return _ABSOLUTE.match(text) is not None


def iri(text: str) -> str | None:
    """The term for an absolute IRI; None if it is relative or has characters that are not allowed in IRIs.

    >>> iri("http://example.com/a"), iri("a"), iri("http://example.com/a b")
    ('<http://example.com/a>', None, None)
    """
    if _ABSOLUTE.match(text) is None or _BAD_IN_IRI.search(text) is not None:
        return None
    return f"<{text}>"


def literal(value: str, *, language: str = "", datatype: str = "") -> str | None:
    r"""The term for a text with a language tag, with the IRI of a datatype, or plain; None if one of them is invalid.

    >>> literal('a "b"'), literal("x", language="en-US"), literal("x", language="en_US")
    ('"a \\"b\\""', '"x"@en-US', None)
    """
    if _ESCAPED.search(value) is not None:
        value = _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}", value)
    if not value.isascii() and _SURROGATE.search(value) is not None:
        return None
    if language:
        return f'"{value}"@{language}' if _LANGUAGE.fullmatch(language) else None
    if datatype and datatype != f"{XSD}string":
        kind = iri(datatype)
        return f'"{value}"^^{kind}' if kind else None
    return f'"{value}"'


def graph_name(uri: str) -> str | None:
    """The term for a page's URI; characters not allowed in IRIs are percent-encoded. None if it is not absolute.

    >>> graph_name("http://example.com/a b")
    '<http://example.com/a%20b>'
    """

    def encoded(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))

    return iri(_BAD_IN_IRI.sub(encoded, uri))
