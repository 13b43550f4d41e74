"""How many tasks on a cluster may read at a time, so that together they respect the limits of every host.

Each task has its share of the limits (`limits.py`). A share is at least one connection, so if a host allows fewer
connections than there are tasks, fewer tasks may run: a task reads its inputs one after another, over one connection.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from crawlmill.storage.interface import StorageOptions
from crawlmill.storage.limits import HostLimits, limited_name, limits_of, name_of
from crawlmill.storage.locations import current

__all__ = ["MAX_TASKS", "most_tasks"]

MAX_TASKS = 20
"""Tasks that read from web servers at a time, unless the user says how many."""


def most_tasks(
    locations: Iterable[str], wanted: int | None, options: StorageOptions, *, kind: str | None = None
) -> tuple[int | None, str | None]:
    """How many tasks may read these inputs at a time, and the host that makes them fewer than wanted, if any.

    `kind` is the kind of web service (one of `limits.KINDS`) at the locations, unless they are files.

    None: as many as the engine runs, since no input is on a web server and no limit was given for other storage.
    """
    given = HostLimits(options.max_requests_per_second, options.max_connections_per_host)
    origins = {"/".join(current(location).split("/", 3)[:3]) for location in locations}
    schemes = {origin.partition(":")[0].lower() for origin in origins}
    if wanted is None and not schemes & ({"http", "https"} | ({"s3"} if given != HostLimits() else set())):
        return None, None
    hosts = {_host(origin) for origin in origins}
    most, because = wanted or MAX_TASKS, None
    for host in sorted(filter(None, hosts)):
        allowed = limits_of(name_of(host, kind), given).connections
        if allowed is not None and allowed < most:
            most, because = allowed, host
    return most, because


def _host(origin: str) -> str | None:
    """The name of a host in the limits; None if none apply."""
    scheme, _, authority = origin.partition("://")
    if scheme == "s3":
        return limited_name(authority)
    try:
        return urlsplit(origin).hostname if scheme.lower() in ("http", "https") else None
    except ValueError:
        return None  # reading it will report what is wrong
