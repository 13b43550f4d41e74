r"""JSON texts as RFC 8259 has them and nothing beyond: what claims to be JSON is read whole or refused.

    >>> parse_json(b'{"hash":-3}')
    {'hash': -3}
    >>> parse_json(b'{"hash":-}')
    Traceback (most recent call last):
    crawlmill.errors.FormatError: JSON: expected an RFC 8259 text, got Expecting value at character 8

`ujson` takes more than JSON: `-`, `01`, `1.`, NaN, raw line ends in strings, surrogates as bytes, a key twice. So it is
believed only where it can write what it read back as the very same text, which a text that is no JSON never is. Other
texts, most of them sound but spelt otherwise, go to the standard library's reader, made strict. Which of the two has
read a text never shows in the result.

Spec: RFC 8259 (https://www.rfc-editor.org/rfc/rfc8259), with these limits, as its section 9 allows:

* UTF-8 without a byte order mark (section 8.1);
* a key twice in one object is an error: one of the values would be lost without a word;
* a number too large for a float (`1e999`) is an error: it could not be written again; integers have any size up to the
  interpreter's own limit (4300 digits);
* at most `MAX_DEPTH` objects and arrays in one another, so that no text can exhaust anyone's stack.

A lone surrogate spelt as an escape (`"\ud800"`) is JSON and is read as it is.
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
    """The value of a JSON text.

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
    except (ValueError, OverflowError):  # the strict reader will say what is wrong, if anything is
        proven = False
    if not proven:
        value = _parse_strictly(text)
    # Depth costs brackets: a text with few of them needs no closer look.
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _refused(f"more than {MAX_DEPTH} levels")
    return value


def compact_json(value: Any) -> str:
    r"""The JSON text of a value without a blank in it, characters as they are, floats as `repr` has them.

    U+2028 and U+2029 are written as escapes, as Gson did: records of 2012 come out as the bytes that were stored. Lone
    surrogates are escapes too, so that the text can be encoded.

    Raises:
        TypeError, ValueError: The value is none of JSON.

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
