"""Locations: makes them absolute, compares them, and hides their secrets.

    /data/x.warc.gz  file:///data/x.warc.gz  https://host/x  s3://bucket/key  hdfs://host:8020/x  hdfs:///x

* A plain path is used unchanged (`%` is an ordinary character); a `file://` URI is percent-decoded to bytes (RFC 8089).
* `s3` keys and `hdfs` paths are used unchanged, as in the tools of both; `s3a` and `s3n` mean `s3`.
* Common Crawl's former buckets are replaced by the current place of their objects.
* `hf://buckets/OWNER/NAME/path` and `hf://datasets/OWNER/NAME@REVISION/path` (the URIs of `huggingface_hub`) are read
  from Hugging Face's web server; without a revision, from `main`.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from crawlmill.errors import SourceError

__all__ = [
    "SCHEMES",
    "absolute",
    "canonical",
    "current",
    "is_pipe",
    "is_remote",
    "join",
    "local_path",
    "redact",
    "scheme_of",
    "without_slashes",
]

SCHEMES = ("file", "http", "https", "s3", "hdfs")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://|(file):/", re.IGNORECASE)
_FORMER = (
    (re.compile(r"s3[an]://", re.IGNORECASE), "s3://"),
    (re.compile(r"s3://aws-publicdatasets/common-crawl/"), "s3://commoncrawl/"),
    (re.compile(r"s3://commoncrawl-(crawl-00[12])/"), r"s3://commoncrawl/\1/"),
)
_OPEN_FILE = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/(self|thread-self|[0-9]+)/fd/[0-9]+")
_HUB = re.compile(r"hf://(buckets|datasets)/([^/@]+/[^/@]+)(?:@([^/]+))?(?=/|$)", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# Signed URLs of S3, CloudFront, Google and Azure, tokens in general, WebHDFS delegation tokens.
_SECRET = re.compile(
    r"x-(amz|goog)-.*|.*signature|sig|expires|policy|key-pair-id|(aws|google)accesskeyid|.*token|delegation"
    r"|.*secret.*|passw(or)?d|api[-_]?key|auth(orization)?",
    re.IGNORECASE,
)
_SHOWN_INSTEAD = "…"
_HOST = re.compile(r"(?:[^:]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
_PAIR = re.compile(r"([^&;#?=]+)=([^&;#]*)")


def scheme_of(location: str) -> str:
    """The scheme in lower case; `file` for plain paths."""
    found = _SCHEME.match(location)
    return (found[1] or found[2]).lower() if found else "file"


def is_remote(location: str) -> bool:
    """Whether the location is not in the local file system."""
    return scheme_of(location) != "file"


def is_pipe(location: str) -> bool:
    """Whether a location is a pipe, a device, or an open file of this process, such as `/dev/stdin` or `<(ls)`.

    Its bytes come once, other processes may find other bytes there, and names in it have nothing to do with its folder.
    """
    if is_remote(location):
        return False
    try:
        path = local_path(location)
        mode = path.stat().st_mode
    except (OSError, SourceError, ValueError):
        return False  # opening it reports why
    return _OPEN_FILE.fullmatch(str(path)) is not None or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def current(location: str) -> str:
    """Replace `s3a://`, `s3n://` and the former buckets of Common Crawl by the current names.

    URIs of Hugging Face are replaced by URLs.
    """
    if location[:2].lower() == "s3":
        for former, today in _FORMER:
            location = former.sub(today, location, count=1) if former.match(location) else location
    if location[:5].lower() == "hf://" and (found := _HUB.match(location)):
        kind, name, revision = found.groups()
        home = f"https://huggingface.co/{kind.lower()}/{name}/resolve"
        if kind.lower() == "datasets":
            home += f"/{quote(revision or 'main', safe='')}"
        path = location[found.end() + 1 :]
        return join(home, path) if path else home
    return location


def local_path(location: str) -> Path:
    """The path of a plain or `file://` location.

    Raises: SourceError (not-found): A `file://` URI names another host, or the name contains a NUL.
    """
    found = _SCHEME.match(location)
    path = location
    if found:
        host, slash, rest = location[found.end() :].partition("/") if found[1] else ("", "/", location[found.end() :])
        if host.lower() not in ("", "localhost"):
            raise SourceError("a file:// location names another host", reason="not-found", source=redact(location))
        path = os.fsdecode(unquote_to_bytes(slash + rest))
    if "\0" in path:
        raise SourceError("a file name cannot hold a NUL", reason="not-found", source=path.replace("\0", "\\0"))
    return Path(path)


def join(folder: str, name: str) -> str:
    """The location of `name` (a relative path) in a folder of any kind."""
    scheme = scheme_of(folder)
    if scheme == "file":
        if _SCHEME.match(folder):
            return (Path.cwd() / local_path(folder) / name).as_uri()
        return str(Path(folder) / name)
    if scheme in ("http", "https"):
        # A name may contain any character; existing escapes are kept.
        name = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", name)
        name = quote(name, safe="/%:@!$&'()*+,;=~?-._", errors="surrogateescape")
    return f"{folder.removesuffix('/')}/{name}"


def absolute(location: str, base: str) -> str:
    """The location itself if it is absolute, else resolved below `base`, a folder with or without a trailing slash."""
    if _SCHEME.match(location) or location.startswith("/"):
        return current(location)
    return current(join(current(base), location))


def without_slashes(location: str) -> str:
    """The location of a folder without the slashes at its end, which are not those of its scheme or of a root."""
    found = _SCHEME.match(location)
    begin = found.end() if found else 0
    rest = location[begin:]
    return location[:begin] + (rest.rstrip("/") or rest[:1])


def canonical(location: str) -> str:
    """A canonical spelling of a location, for comparing, not for opening or showing.

    What is not a path on this machine stays unchanged: opening it reports the mistake.
    """
    location = current(location)
    scheme = scheme_of(location)
    if scheme == "file":
        try:
            return os.path.abspath(local_path(location))  # noqa: PTH100 (links are left as they are)
        except SourceError:
            return location
    if scheme in _DEFAULT_PORTS:
        authority, path, more = _split(location)
        userinfo, at, host = authority.rpartition("@")
        host = host.lower().removesuffix(_DEFAULT_PORTS[scheme])
        return f"{scheme}://{userinfo}{at}{host}{path or '/'}{more.partition('#')[0]}"
    return scheme + location[len(scheme) :]


def redact(location: str) -> str:
    """The location as it may be shown: userinfo and the values of secret query parameters are replaced by `…`.

    Secret are `X-Amz-*`, `Signature`, `Expires`, `Policy`, `token`, and what is like them in other clouds. Paths are
    shown whole.
    """
    found = _SCHEME.match(location)
    if not found or found[0].lower().startswith("file:"):
        return location
    authority, path, more = _split(location)
    if "@" not in authority and not _HOST.fullmatch(authority) and "@" in path + more:
        # A password with a raw `/`, `?` or `#`, which is not a valid URL.
        authority, path, more = _split(found[0] + "@" + location.rpartition("@")[2])
    _, at, host = authority.rpartition("@")
    return f"{found[0]}{_SHOWN_INSTEAD if at else ''}{at}{host}{path}{_PAIR.sub(_shown, more)}"


def _split(location: str) -> tuple[str, str, str]:
    """Authority, path, and query with fragment of a location with a scheme, which may be an invalid URL."""
    rest = location[location.index("://") + 3 :]
    at_path = min((place for mark in "/?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    at_query = min((place for mark in "?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    return rest[:at_path], rest[at_path:at_query], rest[at_query:]


def _shown(pair: re.Match[str]) -> str:
    name = unquote_to_bytes(pair[1]).decode("utf-8", "replace")
    return f"{pair[1]}={_SHOWN_INSTEAD}" if _SECRET.fullmatch(name) else pair[0]
