r"""JSON exactly as in RFC 8259: a text that claims to be JSON is read whole or refused.

    >>> parse_json(b'{"hash":-3}')
    {'hash': -3}
    >>> parse_json(b'{"hash":-}')
    Traceback (most recent call last):
    crawlmill.errors.FormatError: JSON: expected an RFC 8259 text, got Expecting value at character 8

`ujson` accepts more than JSON: `-`, `01`, `1.`, NaN, raw line ends in strings, surrogates as bytes, repeated keys. So
its result is used only if it can be written back as exactly the same text, which is impossible for a text that is not
JSON. Other texts, most of them valid but written differently, go to the standard library's parser, made strict. The
result never depends on which of the two has read a text.

Spec: RFC 8259 (https://www.rfc-editor.org/rfc/rfc8259), with these limits, as its section 9 allows:

* UTF-8 without a byte order mark (section 8.1);
* a repeated key in an object is an error: otherwise a value would be lost silently;
* a number too large for a float (`1e999`) is an error, since it could not be written again; integers may have any size
  up to the interpreter's limit (4300 digits);
* at most `MAX_DEPTH` nested objects and arrays, so that no text can exhaust the stack.

A lone surrogate written as an escape (`"\ud800"`) is valid JSON and is read as it is.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any, Final

import ujson

from crawlmill.errors import FormatError

__all__ = ["MAX_DEPTH", "compact_json", "parse_json"]

MAX_DEPTH: Final = 100

_written_again = partial(ujson.dumps, ensure_ascii=False, escape_forward_slashes=False, allow_nan=False)


def parse_json(data: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        FormatError: `bad-encoding`: the bytes are not UTF-8; `bad-json`: the text is not JSON, or beyond a limit.

    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        actual = f"byte {error.object[error.start]:#04x} at {error.start}"
        raise FormatError("JSON", reason="bad-encoding", expected="UTF-8", actual=actual) from error
    try:
        value = ujson.loads(data)
        proven = _written_again(value) == text
    except (ValueError, OverflowError):  # the strict parser reports what is wrong, if anything is
        proven = False
    if not proven:
        value = _parse_strictly(text)
    # Nesting needs brackets: a text with few of them needs no closer look.
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _refused(f"more than {MAX_DEPTH} levels")
    return value


def compact_json(value: Any) -> str:
    r"""Write a value as JSON without blanks; characters are unescaped, floats written by `repr`.

    U+2028 and U+2029 are escaped, as Gson did, so that records of 2012 are written as the stored bytes. Lone surrogates
    are escaped too, so that the text can be encoded.

    Raises:
        TypeError, ValueError: The value cannot be JSON.

    """
    text = _encode(value).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text.encode("utf-8", "backslashreplace").decode()


def _parse_strictly(text: str) -> Any:
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        raise _refused(f"{error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise _refused(f"more than {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise _refused(str(error)) from error


def _refused(actual: str) -> FormatError:
    return FormatError("JSON", reason="bad-json", expected="an RFC 8259 text", actual=actual)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} twice in one object")
    return found


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits[:60]}, which no float can hold")
    return number


def _constant(name: str) -> None:
    raise ValueError(name)


def _depth(value: Any) -> int:
    levels, level = 0, [value] if isinstance(value, dict | list) else []
    while level:
        levels += 1
        insides = (inner.values() if type(inner) is dict else inner for inner in level)
        level = [one for inside in insides for one in inside if type(one) is dict or type(one) is list]
    return levels


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant).decode
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
