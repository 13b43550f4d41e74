"""Base URLs with the same files: files missing at the first one are read from the next one that has them."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from crawlmill.errors import SourceError
from crawlmill.storage.locations import canonical, current, join, scheme_of

__all__ = ["Mirrors", "split_bases"]

Result = TypeVar("Result")

_BETWEEN: Final = re.compile(r",(?=[A-Za-z][A-Za-z0-9+.-]*://|/)")


def split_bases(text: str) -> list[str]:
    """Split `A,B,…` into locations. All but the first are absolute: another comma is part of a name."""
    return _BETWEEN.split(text)


class Mirrors:
    """Finds locations at mirrors: at the same path below the other bases, in order.

    Only missing files are looked for elsewhere. A file that cannot be read (denied, damaged, a server that does not
    answer) is
    reported: another copy of it may be another version. Can be shared by threads.
    """

    def __init__(self, bases: Sequence[str]) -> None:
        self._bases = [f"{_spelled(base).removesuffix('/')}/" for base in bases]
        self._found: dict[str, str] = {}

    def place_of(self, location: str) -> str:
        """Where a location was found last; the location itself if it was not looked for yet."""
        return self._found.get(location, location)

    def first(self, location: str, do: Callable[[str], Result]) -> Result:
        """The result of `do` for the first place of this location at which it does not raise not-found.

        Raises:
            SourceError: From `do`; not-found if the location exists nowhere.
        """
        places = self._places(location)
        if len(places) == 1:
            return do(places[0])
        missing: list[SourceError] = []
        for place in places:
            try:
                result = do(place)
            except SourceError as error:
                if error.reason != "not-found":
                    raise
                missing.append(error)
            else:
                self._found[location] = place
                return result
        raise SourceError(
            f"{missing[0].what}, at none of {len(places)} base URLs", reason="not-found", source=missing[0].source
        ) from missing[0]

    def _places(self, location: str) -> list[str]:
        """The places to try for a location, at least one; if it was found before, only that place."""
        if location in self._found:
            return [self._found[location]]
        here = current(location)
        if len(self._bases) < 2 or not here.startswith(self._bases[0]):
            return [location]
        name = here[len(self._bases[0]) :]
        plain = urllib.parse.unquote(name, errors="surrogateescape") if _is_url(here) else name
        return [location, *(join(base, name if _is_url(base) else plain) for base in self._bases[1:])]


def _spelled(base: str) -> str:
    """A base in the form in which locations below it begin."""
    return current(base) if scheme_of(current(base)) != "file" else canonical(base)


def _is_url(location: str) -> bool:
    """Whether the names in the location are percent-encoded."""
    return scheme_of(location) in ("http", "https")
