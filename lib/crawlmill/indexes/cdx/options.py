"""The options that select the records of archives to index, and how; for the command `index` and jobs."""

from __future__ import annotations

import argparse

from crawlmill.indexes.cdx.archive import ALL_TYPES, DEFAULT_TYPES
from crawlmill.indexes.cdx.fields import EXTRA_FIELDS

__all__ = ["add_index_options"]

_Group = argparse.ArgumentParser | argparse._ArgumentGroup  # noqa: SLF001 - argparse has no public name for it


def add_index_options(group: _Group) -> list[str]:
    """Declare `--records`, `--fields`, and `--dir-root` or `--filename-prefix`; returns the names of their values."""
    usual, more = (", ".join(sorted(types)) for types in (DEFAULT_TYPES, ALL_TYPES - DEFAULT_TYPES))
    added = ", ".join(f"+{name}" for name in EXTRA_FIELDS)
    names = group.add_mutually_exclusive_group()
    actions = [
        group.add_argument(
            "--records",
            metavar="TYPES",
            type=_types,
            default=DEFAULT_TYPES,
            help=f"the types of records to index, separated by commas (default {usual}; also {more}, or all of these)",
        ),
        group.add_argument(
            "--fields", metavar="+A,+B", type=_fields, default=(), help=f"fields to add to CDXJ lines: {added}"
        ),
        names.add_argument("--dir-root", metavar="DIR", help="name archives relative to this folder"),
        names.add_argument("--filename-prefix", metavar="P", help="begin the names of archives with this"),
    ]
    return [action.dest for action in actions]


def _types(text: str) -> frozenset[str]:
    names = frozenset(text.split(","))
    if names == {"all"}:
        return ALL_TYPES
    if unknown := names - ALL_TYPES:
        known = ", ".join(sorted(ALL_TYPES))
        raise argparse.ArgumentTypeError(f"not a type of record: {', '.join(sorted(unknown))}; expected {known} or all")
    return names


def _fields(text: str) -> tuple[str, ...]:
    names = [name.removeprefix("+") for name in text.split(",")]
    if unknown := set(names) - set(EXTRA_FIELDS):
        known = ", ".join(f"+{name}" for name in EXTRA_FIELDS)
        raise argparse.ArgumentTypeError(f"not a field: {', '.join(sorted(unknown))}; expected {known}")
    return tuple(name for name in EXTRA_FIELDS if name in names)
