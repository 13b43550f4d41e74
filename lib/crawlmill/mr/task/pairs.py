r"""How pairs are written: `key TAB value`, both JSON in UTF-8, the same bytes on every machine.

mrjob's own JSON protocol uses whichever library it finds, so its bytes differ between machines. Here the encoder of the
standard library writes all pairs; those of counting jobs take a short cut to the same bytes.

* no ASCII escaping, no escaped `/`, no blanks; control characters are escaped as JSON requires, so that keys and values
  never contain a tab or a line end;
* names in objects of keys are sorted, since keys are grouped by their bytes; objects in values keep their order;
* a lone surrogate (as in file names that are not UTF-8) is written as JSON's escape, `\ud800`;
* NaN and infinities are not JSON: a ValueError.

Spec: RFC 8259.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any, Final

from crawlmill.results.pairs import decode_pair

__all__ = ["ENCODED", "JsonPairs", "decode_pair", "encode_key", "encode_lines", "encode_pair", "encode_value"]

ENCODED: Final = object()
"""In place of a key: what follows is not the value of one pair but lines of pairs, already written, as bytes."""


_SEPARATORS: Final = (",", ":")
_key_text = json.JSONEncoder(ensure_ascii=False, separators=_SEPARATORS, sort_keys=True, allow_nan=False).encode
_value_text = json.JSONEncoder(ensure_ascii=False, separators=_SEPARATORS, allow_nan=False).encode


def encode_key(key: Any) -> bytes:
    """The JSON of a key.

    Raises:
        TypeError, ValueError: The key is not a JSON value.
    """
    text = encode_basestring(key) if type(key) is str else _key_text(key)
    return _bytes(text)


def encode_value(value: Any) -> bytes:
    """The JSON of a value.

    Raises:
        TypeError, ValueError: The value is not a JSON value.
    """
    return _bytes(_value_text(value))


def encode_pair(key: Any, value: Any) -> bytes:
    """The line of a pair, without its line end.

    Raises:
        TypeError, ValueError: The key or the value is not a JSON value.
    """
    if type(key) is str:
        name = encode_basestring(key)
    elif key is None:
        name = "null"
    else:
        name = _key_text(key)
    if type(value) is int:
        text = f"{name}\t{value}"
    elif type(value) is list and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
        text = f"{name}\t[{value[0]},{value[1]}]"
    else:
        text = f"{name}\t{_value_text(value)}"
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _bytes(text)


def encode_lines(pairs: Iterable[tuple[Any, Any]], write: Callable[[Any, Any], bytes]) -> Iterator[bytes]:
    """Yield the lines of pairs, written by `write`; pairs that are `ENCODED` are passed on as they are."""
    for key, value in pairs:
        yield value if key is ENCODED else write(key, value) + b"\n"


class JsonPairs:
    """The protocol in the form that mrjob expects: an object with `read` and `write`."""

    read = staticmethod(decode_pair)
    write = staticmethod(encode_pair)


def _bytes(text: str) -> bytes:
    # For surrogates, this error handler writes exactly JSON's escape.
    return text.encode("utf-8", "backslashreplace")
