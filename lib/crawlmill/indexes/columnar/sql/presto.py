"""Presto's semantics in DuckDB's SQL: what sqlglot's own translation omits or gets wrong.

The tree is rewritten from its leaves up, so that arguments of a rewritten call are rewritten too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import ErrorLevel, exp, parse_one

from crawlmill.errors import UsageError
from crawlmill.indexes.columnar.sql.functions import FUNCTIONS
from crawlmill.indexes.columnar.sql.patterns import between, for_re2, is_python
from crawlmill.indexes.columnar.sql.statements import table_name

__all__ = ["to_duckdb"]

_DUCKDB: Final = "duckdb"
_ARRAYS: Final = (
    exp.Split,
    exp.RegexpExtractAll,
    exp.Array,
    exp.ArrayDistinct,
    exp.ArrayAgg,
    exp.ArrayConcat,
    exp.ArrayFilter,
    exp.ArraySlice,
    exp.ArraySort,
    exp.Transform,
    exp.RegexpSplit,
)
_ARRAY_NAMES: Final = frozenset(
    {
        "array_sort",
        "map_keys",
        "map_values",
        "map_entries",
        "slice",
        "filter",
        "transform",
        "list_reverse",
        "list_filter",
        "list_slice",
        "sequence",
        "array_union",
        "array_intersect",
        "array_except",
        "repeat",
        "shuffle",
        "flatten",
        "zip",
        "array_remove",
        "string_split",
        "crawlmill_regexp_extract_all",
        "list_transform",
        "list_sort",
    }
)


def to_duckdb(tree: Any, can_re2: Callable[[str], bool]) -> tuple[str, set[str]]:
    """The DuckDB SQL for a query, and the names of our functions that it calls.

    Args:
        tree: The query, which is not modified.
        can_re2: Whether RE2 accepts an expression.

    Raises:
        UsageError: Part of it is not supported.
    """
    holder = exp.Paren(this=tree.copy())
    for node in sorted(holder.walk(), key=lambda each: -each.depth):
        if node is holder or node.parent is None:
            continue
        new = _rewritten(node, can_re2)
        if new is not node:
            node.replace(new)
    text = holder.this.sql(dialect=_DUCKDB, comments=False, unsupported_level=ErrorLevel.IGNORE)
    return text, {name for name in FUNCTIONS if f"{name}(" in text.lower()}


def _rewritten(node: Any, can_re2: Callable[[str], bool]) -> Any:
    if isinstance(node, exp.Table):
        return _plain_table(node)
    if isinstance(node, exp.Unnest):
        return _unnest(node)
    if isinstance(node, exp.RegexpLike):
        return _regexp_like(node, can_re2)
    if isinstance(node, exp.RegexpExtractAll):
        return _regexp_extract_all(node, can_re2)
    if isinstance(node, exp.RegexpExtract):
        return _regexp_extract(node, can_re2)
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        return _cast(node)
    if isinstance(node, exp.Reverse) and _is_array(node.this):
        return _call("list_reverse", node.this)
    if isinstance(node, exp.Anonymous | exp.Func):
        return _function(node)
    return node


def _plain_table(node: exp.Table) -> Any:
    plain = node.copy()
    plain.set("db", None)
    plain.set("catalog", None)
    plain.set("this", exp.to_identifier(table_name(node), quoted=True))
    if not plain.alias:
        plain.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
    return plain


def _unnest(node: exp.Unnest) -> Any:
    """A join with the elements of an array of each row, as a subquery, which DuckDB joins twice as fast."""
    join, alias = node.parent, node.args.get("alias")
    if not isinstance(join, exp.Join) or any(join.args.get(each) for each in ("side", "on")):
        return node
    if alias is None or len(alias.columns) != 1 or len(node.expressions) != 1 or node.args.get("offset"):
        return node  # several arrays, rows with several fields, numbered elements
    elements = exp.alias_(_call("unnest", node.expressions[0]), alias.columns[0].copy())
    return exp.Subquery(this=exp.Select(expressions=[elements]), alias=alias.copy())


def _function(node: Any) -> Any:
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_names()[0]).lower()
    arguments = list(node.expressions) if isinstance(node, exp.Anonymous) else []
    if name == "map_filter" and len(arguments) == 2:
        keyed = _on_entry(arguments[1])
        return _call("map_from_entries", _call("list_filter", _call("map_entries", arguments[0]), keyed))
    if name in ("transform_values", "transform_keys") and len(arguments) == 2:
        made = _on_entry(arguments[1])
        entry = made.expressions[0]
        kept = exp.Dot(
            this=entry.copy(), expression=exp.to_identifier("key" if name == "transform_values" else "value")
        )
        pair = (kept, made.this) if name == "transform_values" else (made.this, kept)
        fields = (exp.PropertyEQ(this=exp.to_identifier(n), expression=v) for n, v in zip("kv", pair, strict=True))
        made.set("this", _call("struct_pack", *fields))
        return _call("map_from_entries", _call("list_transform", _call("map_entries", arguments[0]), made))
    if name == "url_decode" and len(arguments) == 1:
        return _call("url_decode", _call("replace", arguments[0], exp.Literal.string("+"), exp.Literal.string(" ")))
    if isinstance(node, exp.ArraySlice):  # its third argument is a number of elements, not an end
        start, length = node.args["start"], node.args["end"]
        last = exp.Sub(
            this=exp.Add(this=exp.paren(start), expression=exp.paren(length)), expression=exp.Literal.number(1)
        )
        return _call("list_slice", node.this, start, last)
    if isinstance(node, exp.ArraySort) or name == "array_sort":
        found = arguments or [node.this, *([node.args["expression"]] if node.args.get("expression") else [])]
        if len(found) == 2 and isinstance(found[1], exp.Lambda):
            return _sorted_by(found[0], found[1])
    if name in ("cardinality", "array_size", "array_length") or isinstance(node, exp.ArraySize):
        return _call(
            "cardinality" if _is_map(arguments[0] if arguments else node.this) else "len",
            arguments[0] if arguments else node.this,
        )
    return node


def _on_entry(function: Any) -> exp.Lambda:
    """Convert `(k, v) -> …` to a function of a map entry."""
    if not isinstance(function, exp.Lambda) or len(function.expressions) != 2:
        raise UsageError("expected a function of two values, as (k, v) -> …")
    key, value = (each.name.lower() for each in function.expressions)
    entry = exp.to_identifier("entry_")
    fields = {key: "key", value: "value"}

    def named(node: Any) -> Any:
        name = node.name.lower() if isinstance(node, exp.Identifier | exp.Column) else ""
        if isinstance(node, exp.Column) and not node.table and name in fields:
            return exp.Dot(this=entry.copy(), expression=exp.to_identifier(fields[name]))
        if isinstance(node, exp.Identifier) and name in fields and not isinstance(node.parent, exp.Dot | exp.Column):
            return exp.Dot(this=entry.copy(), expression=exp.to_identifier(fields[name]))
        return node

    return exp.Lambda(this=function.this.copy().transform(named), expressions=[entry])


def _sorted_by(array: Any, comparator: exp.Lambda) -> Any:
    """Sort an array by a comparator that compares one value of both elements: `IF(f(a) < f(b), 1, IF(…, 0, -1))`.

    Elements with equal values keep their order, as in Presto.
    """
    key, falling = _compared(comparator)
    if any(isinstance(each, exp.Anonymous) and each.name.lower() == "map_entries" for each in array.walk()):
        key = key.copy().transform(_field_by_place)
    first = comparator.expressions[0].name
    if not first.isidentifier():
        raise UsageError("a comparator of array_sort that is not supported", expected="plain names")
    pack = f"{{'k': __KEY__, 'n': {'-' if falling else ''}__N__, 'v': {first}}}"
    made = parse_one(f"list_transform(__A__, ({first}, __N__) -> {pack})", read=_DUCKDB)
    made = made.transform(lambda node: key.copy() if isinstance(node, exp.Column) and node.name == "__KEY__" else node)
    text = made.sql(_DUCKDB).replace("__N__", "n_")
    order = "list_reverse_sort" if falling else "list_sort"
    inner = parse_one(f"list_transform({order}({text}), s_ -> s_.v)", read=_DUCKDB)
    return inner.transform(lambda node: array.copy() if isinstance(node, exp.Column) and node.name == "__A__" else node)


def _field_by_place(node: Any) -> Any:
    """Convert `entry[2]` for a map entry, which is a row without field names in Presto."""
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return node
    index = node.sql(dialect="presto").rpartition("[")[2].rstrip("]")
    return _call("struct_extract_at", node.this, exp.Literal.number(index)) if index.isdigit() else node


def _compared(comparator: exp.Lambda) -> tuple[Any, bool]:
    names = [each.name.lower() for each in comparator.expressions]
    body = comparator.this
    test, result = None, None
    if isinstance(body, exp.If):
        test, result = body.this, body.args.get("true")
    elif isinstance(body, exp.Case) and body.args.get("ifs"):
        test, result = body.args["ifs"][0].this, body.args["ifs"][0].args.get("true")
    if len(names) != 2 or not isinstance(test, exp.LT | exp.GT) or result is None:
        raise UsageError(
            "a comparator of array_sort that is not supported", expected="IF(a.x < b.x, 1, IF(a.x = b.x, 0, -1))"
        )
    left = {each.name.lower() for each in test.this.find_all(exp.Identifier)} & set(names)
    if left == {names[1]}:
        raise UsageError("a comparator of array_sort that is not supported", expected="the first value on the left")
    positive = result.sql().strip() in ("1", "+1")
    return test.this, isinstance(test, exp.LT) == positive


def _cast(node: exp.Cast) -> Any:
    """Convert a cast of rows: by position in Presto, by name in DuckDB."""
    kind = node.to
    if kind.is_type("array") and kind.expressions and kind.expressions[0].is_type("struct", "object", "row"):
        fields = kind.expressions[0].expressions
        if all(isinstance(each, exp.ColumnDef) for each in fields):
            pairs = ", ".join(
                f"{exp.Literal.string(each.name).sql(_DUCKDB)}: "
                f"CAST(struct_extract_at(e_, {n}) AS {each.args['kind'].sql(_DUCKDB)})"
                for n, each in enumerate(fields, 1)
            )
            made = parse_one(f"list_transform(__A__, e_ -> {{{pairs}}})", read=_DUCKDB)
            return made.transform(
                lambda each: node.this.copy() if isinstance(each, exp.Column) and each.name == "__A__" else each
            )
    return node


def _pattern(node: Any) -> str | None:
    pattern = node.args.get("expression")
    return str(pattern.this) if isinstance(pattern, exp.Literal) and pattern.is_string else None


def _usable(node: Any, can_re2: Callable[[str], bool]) -> bool:
    """Whether RE2 accepts the expression of a call, which is translated for it; otherwise Python's `re` must."""
    pattern = _pattern(node)
    if pattern is None:
        return True
    changed = for_re2(pattern)
    node.set("expression", exp.Literal.string(changed))
    if can_re2(changed):
        return True
    if not is_python(changed):
        raise UsageError("a regular expression that is not supported", actual=repr(pattern[:60]))
    return False


def _regexp_like(node: exp.RegexpLike, can_re2: Callable[[str], bool]) -> Any:
    if _usable(node, can_re2):
        return _call("regexp_matches", node.this, node.expression)
    return _call("crawlmill_regexp_like", node.this, node.expression)


def _regexp_extract(node: exp.RegexpExtract, can_re2: Callable[[str], bool]) -> Any:
    group = node.args.get("group") or exp.Literal.number(0)
    if _usable(node, can_re2):
        every = _call("regexp_extract_all", node.this, node.expression, group)
        return _call("list_extract", every, exp.Literal.number(1))  # NULL if there is no match
    return _call("crawlmill_regexp_extract", node.this, node.expression, group)


def _regexp_extract_all(node: exp.RegexpExtractAll, can_re2: Callable[[str], bool]) -> Any:
    group = node.args.get("group") or exp.Literal.number(0)
    pieces = between(_pattern(node) or "")
    if pieces is not None and group.sql() == "0" and can_re2(pieces[1]):
        mark, inner = (exp.Literal.string(each).sql(_DUCKDB) for each in pieces)
        text = f"list_filter(string_split(__A__, {mark})[2:-2], x_ -> regexp_full_match(x_, {inner}))"
        made = parse_one(text, read=_DUCKDB)
        return made.transform(
            lambda each: node.this.copy() if isinstance(each, exp.Column) and each.name == "__A__" else each
        )
    if _usable(node, can_re2):
        return _call("regexp_extract_all", node.this, node.expression, group)
    return _call("crawlmill_regexp_extract_all", node.this, node.expression, group)


def _is_array(node: Any) -> bool:
    if isinstance(node, exp.Paren):
        return _is_array(node.this)
    return isinstance(node, _ARRAYS) or (isinstance(node, exp.Anonymous) and node.name.lower() in _ARRAY_NAMES)


def _is_map(node: Any) -> bool:
    if isinstance(node, exp.Paren):
        return _is_map(node.this)
    names = ("histogram", "map_agg", "map_from_entries", "map", "map_concat", "map_union", "multimap_agg")
    if isinstance(node, exp.Map | exp.MapFromEntries | exp.VarMap):
        return True
    return (
        isinstance(node, exp.Anonymous | exp.Func)
        and (node.name if isinstance(node, exp.Anonymous) else node.sql_names()[0]).lower() in names
    )


def _call(name: str, *arguments: Any) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])
