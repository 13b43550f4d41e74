"""Input lists: the inputs of a run, each once, with absolute locations.

`list_lines` parses lines; this module opens lists of any kind and resolves the locations in them:

* absolute locations stay as they are;
* relative locations that look like keys of Common Crawl resolve against the base URL; but if the list is below a local
  folder named like the first part of keys (`…/crawl-data/CC-X/warc.paths.gz`), against that folder's parent, if the
  file exists there;
* keys of the End of Term archive (`crawl-data/EOT-…`), which look the same, resolve against that archive's bucket;
* other relative locations resolve against the folder of the list (for stdin and pipes: the working folder);
* a base URL given by the user applies to all relative locations except files that exist next to the list. Files next
  to a remote list are not looked up: that would take a request per line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs.list_lines import Entry, read_entries
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute, canonical, is_pipe, is_remote, local_path, redact

__all__ = [
    "COMMON_CRAWL",
    "END_OF_TERM",
    "KEYS",
    "Input",
    "Inputs",
    "Unit",
    "base_of",
    "is_absolute",
    "read_captures",
    "read_lists",
]

COMMON_CRAWL: Final = "https://data.commoncrawl.org/"
"""What keys of Common Crawl resolve against by default."""

END_OF_TERM: Final = "https://eotarchive.s3.amazonaws.com/"
"""What keys of the End of Term archive resolve against by default; tasks on EMR use its bucket, `s3://eotarchive/`."""

END_OF_TERM_KEYS: Final = "crawl-data/EOT-"
"""How the keys of the End of Term archive begin."""

_FIRST_PARTS: Final = (
    "crawl-data",
    "cc-index",
    "crawl-001",
    "crawl-002",
    "parse-output",
    "common-crawl",
    "projects",
    "crawl-analysis",
)
KEYS: Final = tuple(f"{part}/" for part in _FIRST_PARTS)
_CHUNK: Final = 1 << 20
_HOST: Final = re.compile(r"(www\.\S+|[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}(:[0-9]+)?|localhost|[\w.-]+:[0-9]+)(/\S*)?")
_PERHAPS_SECRET: Final = re.compile(r"[?#;{]|://")


@dataclass(frozen=True, slots=True)
class Unit:
    """One of the `count` parts of an input (`number` counts from 0): the bytes of the file that one task reads."""

    number: int
    count: int
    start: int
    length: int


class Input(NamedTuple):
    """One input: the line that names it, its location, and its bytes there (None: the whole file).

    An input with a `unit` stands for that part of it.
    """

    given: str
    location: str
    offset: int | None = None
    length: int | None = None
    unit: Unit | None = None

    @property
    def span(self) -> tuple[int, int | None]:
        """Offset and length of the bytes to read: those of the unit, if there is one."""
        return (self.offset or 0, self.length) if self.unit is None else (self.unit.start, self.unit.length)

    @property
    def shown(self) -> str:
        """The line without secrets, as in the ledger."""
        hidden = redact(self.location)
        if hidden == self.location:
            return self.given  # URLs of captures in a CDXJ line are data, not the user's secrets
        if self.location in self.given:
            return self.given.replace(self.location, hidden)
        if not _PERHAPS_SECRET.search(self.given):
            return self.given  # the secret is in the base that the line was resolved against
        return hidden if self.length is None else f"{hidden}\t{self.offset}\t{self.length}"


@dataclass(frozen=True)
class Inputs:
    """The distinct inputs, in the order of the lists, and the number of repeated lines.

    `beside`: maps locations at the default base whose file also exists next to the list to the folder of that list.
    `kind`: the kind of web service (`storage.limits.KINDS`) of the locations; None: they are files.
    """

    items: list[Input]
    repeated: int = 0
    beside: dict[str, str] = field(default_factory=dict)
    kind: str | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Input]:
        return iter(self.items)

    def ledger_order(self) -> list[Input]:
        """The inputs in the order of the ledger: by the line as shown (by code points), then by location and range."""
        places = {item.location for item in self.items}
        secret = {place for place in places if redact(place) != place}
        if len(places) == 1 and not secret and all(item.offset is item.length is None for item in self.items):
            return sorted(self.items, key=attrgetter("given"))  # such as patterns, of which there may be very many

        def key(item: Input) -> tuple[str, str, int, int]:
            shown = item.shown if item.location in secret else item.given
            return shown, item.location, item.offset or 0, item.length or 0

        return sorted(self.items, key=key)


def read_lists(
    paths: Sequence[str],
    storage: Storage,
    *,
    base_url: str | None = None,
    default_base: str = COMMON_CRAWL,
    local_keys: bool = True,
    stdin: BinaryIO | None = None,
) -> Inputs:
    """The inputs that the lists name; `-` is stdin.

    Two lines are the same input if location (however spelled), offset and length are equal; the first spelling is kept.
    `base_url` is the one given by the user; without it, keys of Common Crawl are read from the local folder that holds
    the list (unless `local_keys` is False, when tasks cannot read it), else from `default_base`.

    Raises:
        UsageError: A list does not exist, is not a list, or has an invalid line; or the lists name no input.
    """
    if not paths:
        raise UsageError("no input list given: name a file with one location per line, or `-` for stdin")
    gathered = _Gathered(storage, base_url, default_base, local_keys=local_keys)
    for path in paths:
        name = "the list on stdin" if path == "-" else redact(path)
        location = absolute(path, gathered.here)
        folder = gathered.here if path == "-" or is_pipe(location) else _folder(location)
        gathered.add(read_entries(_chunks(path, name, storage, stdin), name), folder)
    if not gathered.found:
        raise UsageError(f"no input in {' '.join(map(redact, paths))}: the list is empty")
    return gathered.inputs()


def read_captures(
    entries: Iterable[Entry],
    storage: Storage,
    *,
    base_url: str | None = None,
    default_base: str = COMMON_CRAWL,
    local_keys: bool = True,
) -> Inputs:
    """The inputs for the captures of a look-up, resolved like lines of a list on stdin; may be empty.

    Raises:
        UsageError: The base URL is not valid.
    """
    gathered = _Gathered(storage, base_url, default_base, local_keys=local_keys)
    gathered.add(entries, gathered.here)
    return gathered.inputs()


class _Gathered:
    """Collects the distinct inputs of lists as they are read."""

    def __init__(self, storage: Storage, base_url: str | None, default_base: str, *, local_keys: bool) -> None:
        self.here = os.getcwd()  # noqa: PTH109
        if base_url and _HOST.fullmatch(base_url) and not os.path.exists(base_url):  # noqa: PTH110
            raise UsageError("--base-url", expected=f"a location such as https://{base_url}", actual=redact(base_url))
        self._base_url = absolute(base_url, self.here) if base_url else None
        self._storage, self._default_base, self._local_keys = storage, default_base, local_keys
        self.found: dict[tuple[str, int | None, int | None], Input] = {}
        self._repeated = 0
        self._beside: dict[str, str] = {}

    def add(self, entries: Iterable[Entry], folder: str) -> None:
        """Add the entries of a list that is in this folder."""
        keys = _Keys(folder, self._default_base, self._beside, local=self._local_keys)
        resolve = _resolver(folder, self._base_url, keys, self._storage)
        for entry in entries:
            location, place = resolve(entry.location)
            key = (place, entry.offset, entry.length)
            if key in self.found:
                self._repeated += 1
            else:
                self.found[key] = Input(entry.given, location, entry.offset, entry.length)

    def inputs(self) -> Inputs:
        """The inputs collected so far."""
        return Inputs(list(self.found.values()), self._repeated, self._beside)


def _chunks(path: str, name: str, storage: Storage, stdin: BinaryIO | None) -> Iterator[bytes]:
    if path == "-":
        if stdin is None:
            raise UsageError("no standard input to read the list from")
        yield from iter(lambda: stdin.read(_CHUNK), b"")
        return
    try:
        with storage.open_stream(path) as stream:
            yield from iter(lambda: stream.read(_CHUNK), b"")
    except SourceError as error:
        raise UsageError(f"cannot read the input list {name}: {error}") from error


class _Keys:
    """Resolves keys of Common Crawl in a list of this folder, if no base URL is given."""

    def __init__(self, folder: str, default_base: str, beside: dict[str, str], *, local: bool) -> None:
        self._default_base, self._beside = default_base, beside
        self._folder: Path | None = None
        self._roots: list[Path] = []
        if not is_remote(folder):
            try:
                self._folder = Path(os.path.abspath(local_path(folder)))  # noqa: PTH100 - links are not resolved
            except SourceError:  # on another host
                return
            self._roots = list(_roots(self._folder)) if local else []
        self._has: dict[Path, bool] = {}

    def resolve(self, key: str) -> str:
        """The location of a key."""
        for root in self._roots:
            if self._there(root, key):
                return str(root / key)
        location = absolute(key, base_of(key, self._default_base))
        if self._folder is not None and self._there(self._folder, key):
            self._beside[location] = str(self._folder)
        return location

    def _there(self, root: Path, key: str) -> bool:
        """Whether the file exists; one look at its first folder spares most lists a look for each line."""
        first = root / key.partition("/")[0]
        if first not in self._has:
            self._has[first] = os.path.isdir(first)  # noqa: PTH112
        return self._has[first] and "\0" not in key and os.path.isfile(root / key)  # noqa: PTH113


def _roots(folder: Path) -> Iterator[Path]:
    """Parents that contain the folder as a bucket contains its keys, innermost first; also with links resolved."""
    for path in dict.fromkeys((folder, folder.resolve())):
        for each in (path, *path.parents):
            if each.name in _FIRST_PARTS:
                yield each.parent


def _resolver(folder: str, base_url: str | None, keys: _Keys, storage: Storage) -> Callable[[str], tuple[str, str]]:
    """A function from a location as written in a list of this folder to (absolute, canonical)."""
    places: dict[str, tuple[str, str]] = {}  # a million ranges are in some thousand files: each name is kept once

    def resolve(location: str) -> str:
        beside = absolute(location, folder)
        if is_absolute(location):
            return beside
        if base_url is None:
            return keys.resolve(location) if location.startswith(KEYS) else beside
        return beside if not is_remote(beside) and _is_there(beside, storage) else absolute(location, base_url)

    def both(location: str) -> tuple[str, str]:
        if location not in places:
            resolved = resolve(location)
            places[location] = (resolved, canonical(resolved))
        return places[location]

    return both


def _is_there(location: str, storage: Storage) -> bool:
    try:
        return storage.exists(location)
    except SourceError:
        return True  # cannot be checked here; opening it reports why


def base_of(key: str, default_base: str) -> str:
    """The base URL of a key: the default base, except for End of Term crawls, which have a bucket of their own."""
    if not key.startswith(END_OF_TERM_KEYS):
        return default_base
    return "s3://eotarchive/" if default_base.startswith("s3:") else END_OF_TERM


def is_absolute(location: str) -> bool:
    """Whether a location, as written in a list, is absolute."""
    return location.startswith("/") or is_remote(location) or location[:6].lower() == "file:/"


def _folder(location: str) -> str:
    path = location.partition("?")[0] if is_remote(location) else location
    return path.rpartition("/")[0] or "/"
