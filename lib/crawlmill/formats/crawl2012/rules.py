"""The rules for metadata records of 2012, and a list of what breaks them in a record.

    >>> for violation in validate({"attempt_time": "soon", "disposition": "SUCCESS", "content": {"links": {}}}):
    ...     print(violation)
    $.attempt_time: expected an integer, got "soon"
    $.content.links: expected an array, got an object

The rules are the JSON Schema shipped next to this module (`crawl_metadata.schema.json`) and nothing else: it is
compiled here into functions. What a record contains depends on how far the attempt came, so only `attempt_time` and
`disposition` are required; other values, if present, must have the right type. Unknown keys are allowed.

Spec: JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12/json-schema-core), limited to the keywords used
by the schema; any other keyword is an error, so that no rule is ignored. Paths are JSONPath (RFC 9535).

Deviation: an integer is a number written without fraction and exponent; the specification accepts `1.0` as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any, Final

from crawlmill.errors import FormatError

__all__ = ["Violation", "metadata_schema", "refusal", "validate"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: the `path` of the value (JSONPath; `$` is the record), `expected` and `actual` in words."""

    path: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.actual}"

    def to_json(self) -> dict[str, str]:
        """The violation as a JSON object."""
        return asdict(self)

    @classmethod
    def of(cls, error: FormatError) -> Violation:
        """The violation for a value that could not be parsed at all."""
        return cls("$", str(error.expected or "a metadata record"), str(error.actual or error.what))


def validate(fields: object) -> list[Violation]:
    """The rules that a parsed record breaks, in the order of its keys; empty for a valid record."""
    found: list[Violation] = []
    _rules().check(fields, None, found)
    return found


def refusal(violations: Sequence[Violation]) -> FormatError:
    """The error (`bad-json`) that reports the violations of one record."""
    first, more = violations[0], len(violations) - 1
    what = f"metadata record, {first.path}" + (f" (and {more} more)" if more else "")
    return FormatError(what, reason="bad-json", expected=first.expected, actual=first.actual)


@cache
def metadata_schema() -> dict[str, Any]:
    """The JSON Schema of a metadata record."""
    text = resources.files(__package__).joinpath("crawl_metadata.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


# The path from a value up to the record: (path of its container, key or index), None for the record itself. It is
# turned into text only for violations.
_Way = tuple[Any, str | int] | None
_Check = Callable[[Any, _Way, list[Violation]], None]

_TYPES: Final[dict[str, tuple[str, frozenset[type]]]] = {
    "object": ("an object", frozenset((dict,))),
    "array": ("an array", frozenset((list,))),
    "string": ("a string", frozenset((str,))),
    "integer": ("an integer", frozenset((int,))),
    "number": ("a number", frozenset((int, float))),
    "boolean": ("true or false", frozenset((bool,))),
    "null": ("null", frozenset((type(None),))),
}
_ANY_TYPE: Final = frozenset[type]().union(*(types for _, types in _TYPES.values()))
_ANNOTATIONS: Final = frozenset(("$schema", "title", "description", "$comment", "$defs"))


class _Rule:
    """A compiled schema: the Python types that a value may have, and further checks for each type.

    `inner` is the rule for an object's values, if that is the only check.
    """

    __slots__ = ("checks", "expected", "inner", "types")

    def __init__(self) -> None:
        self.types, self.expected = _ANY_TYPE, "a value"
        self.checks: list[_Check] = []
        self.inner: _Rule | None = None

    def check(self, value: Any, way: _Way, found: list[Violation]) -> None:
        """Append the violations of a value."""
        if type(value) not in self.types:
            found.append(_violation(way, self.expected, value))
            return
        for check in self.checks:
            check(value, way, found)

    def all_pass(self, values: Collection[Any]) -> bool:
        """Whether all values are certainly valid, as far as can be seen at a glance."""
        if not self.types.issuperset(map(type, values)):
            return False
        if self.inner is not None:
            return self.inner.all_pass([*chain.from_iterable(map(dict.values, values))])
        return not self.checks


@cache
def _rules() -> _Rule:
    schema = metadata_schema()
    named = {f"#/$defs/{name}": _Rule() for name in schema["$defs"]}
    for name, definition in schema["$defs"].items():
        _fill(named[f"#/$defs/{name}"], definition, named)
    return _fill(_Rule(), schema, named)


def _compile(schema: Mapping[str, Any], named: Mapping[str, _Rule]) -> _Rule:
    if "$ref" in schema and schema.keys() - _ANNOTATIONS == {"$ref"}:
        return named[schema["$ref"]]
    return _fill(_Rule(), schema, named)


def _fill(rule: _Rule, schema: Mapping[str, Any], named: Mapping[str, _Rule]) -> _Rule:
    keywords = {key: given for key, given in schema.items() if key not in _ANNOTATIONS}
    if types := keywords.pop("type", None):
        names = [types] if isinstance(types, str) else types
        rule.expected = " or ".join(_TYPES[name][0] for name in names)
        rule.types = frozenset[type]().union(*(_TYPES[name][1] for name in names))
    if reference := keywords.pop("$ref", None):
        rule.checks.append(named[reference].check)
    properties = {key: _compile(inner, named) for key, inner in keywords.pop("properties", {}).items()}
    if properties:
        rule.checks.append(_properties(properties))
    if required := keywords.pop("required", None):
        rule.checks.append(_required({key: properties[key].expected for key in required}))
    if "additionalProperties" in keywords:
        inner = _compile(keywords.pop("additionalProperties"), named)
        if not rule.checks and not keywords and rule.types == {dict}:
            rule.inner = inner
        rule.checks.append(_values(inner))
    for key, given in keywords.items():
        rule.checks.append(_KEYWORDS[key](given, named))
    return rule


def _properties(rules: Mapping[str, _Rule]) -> _Check:
    def check(value: Any, way: _Way, found: list[Violation]) -> None:
        if type(value) is dict:
            for key, inner in value.items():
                rule = rules.get(key)
                if rule is not None:
                    rule.check(inner, (way, key), found)

    return check


def _required(expected: Mapping[str, str]) -> _Check:
    def check(value: Any, way: _Way, found: list[Violation]) -> None:
        if type(value) is dict and not value.keys() >= expected.keys():
            found.extend(
                Violation(_path((way, key)), what, "nothing") for key, what in expected.items() if key not in value
            )

    return check


def _values(rule: _Rule) -> _Check:
    """Check an object none of whose keys has a rule of its own."""

    def check(value: Any, way: _Way, found: list[Violation]) -> None:
        if type(value) is dict and not rule.all_pass(value.values()):
            for key, inner in value.items():
                rule.check(inner, (way, key), found)

    return check


def _items(schema: Mapping[str, Any], named: Mapping[str, _Rule]) -> _Check:
    rule = _compile(schema, named)

    def check(value: Any, way: _Way, found: list[Violation]) -> None:
        if type(value) is list and not rule.all_pass(value):
            for index, inner in enumerate(value):
                rule.check(inner, (way, index), found)

    return check


def _whether(expected: str, holds: Callable[[Any], object]) -> _Check:
    def check(value: Any, way: _Way, found: list[Violation]) -> None:
        if not holds(value):
            found.append(_violation(way, expected, value))

    return check


# Checks of numbers and strings are next to the one type that they apply to.
_KEYWORDS: Final[dict[str, Callable[[Any, Mapping[str, _Rule]], _Check]]] = {
    "items": _items,
    "enum": lambda given, _: _whether(" or ".join(map(_shown, given)), lambda value: value in given),
    "minimum": lambda given, _: _whether(f"at least {given}", lambda value: value >= given),
    "maximum": lambda given, _: _whether(f"at most {given}", lambda value: value <= given),
    "maxLength": lambda given, _: _whether(f"at most {given} characters", lambda value: len(value) <= given),
    "pattern": lambda given, _: _whether(f"text like {given}", re.compile(given).search),
}


def _violation(way: _Way, expected: str, value: Any) -> Violation:
    return Violation(_path(way), expected, _shown(value))


def _path(way: _Way) -> str:
    keys: list[str | int] = []
    while way:
        way, key = way
        keys.append(key)
    return "$" + "".join(map(_segment, reversed(keys)))


def _segment(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        return f".{key}"
    return f"[{json.dumps(key)}]"


def _shown(value: Any) -> str:
    """A scalar as JSON, cut to 60 characters; for other values, their type."""
    if isinstance(value, dict | list):
        return _TYPES["object" if isinstance(value, dict) else "array"][0]
    text = json.dumps(value[:61] if isinstance(value, str) else value, ensure_ascii=False, default=repr)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 62 else f"{text[:60]}…"
