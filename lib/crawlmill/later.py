"""Names of things that are imported when they are first used: `MODULE:NAME`.

Registries name what they offer this way, so that a program imports only what it uses of them: each module costs a start
a third of a millisecond, and there are hundreds.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

__all__ = ["later", "named"]


def named(place: str) -> Any:
    """What stands at `MODULE:NAME`, or `MODULE:CLASS.NAME`; imports the module if need be."""
    module, _, attribute = place.partition(":")
    return attrgetter(attribute)(import_module(module))


def later(place: str) -> Callable[..., Any]:
    """A function that calls the one at `MODULE:NAME`; the module is imported at the first call."""
    found: Callable[..., Any] | None = None

    def call(*arguments: Any, **settings: Any) -> Any:
        nonlocal found
        if found is None:
            found = named(place)
        return found(*arguments, **settings)

    return call
