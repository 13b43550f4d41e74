"""URLs parsed and resolved as in browsers, by the URL standard.

    >>> page = Resolver("http://example.com/a/b.html")
    >>> page.resolve("../c d?é")
    'http://example.com/c%20d?%C3%A9'
    >>> page.resolve("https://Bücher.example:443")
    'https://xn--bcher-kva.example/'
    >>> page.resolve("http://example.com:99999/") is None
    True

Queries are encoded as UTF-8, as in pages that are UTF-8. For hosts, see `domains`.

Spec: https://url.spec.whatwg.org/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from crawlmill.urls.domains import host_in_url

__all__ = ["Resolver", "Url", "parse_url"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ENDS: Final = "".join(map(chr, range(0x21)))
_DROPPED: Final = re.compile(r"[\t\n\r]+")
_PORT: Final = re.compile(r"(\[[^\]]*+\]?+[^:]*+|[^:\[]*+):(.*)", re.DOTALL)
_DRIVE: Final = re.compile(r"[A-Za-z][:|]")
_DRIVE_FIRST: Final = re.compile(r"[A-Za-z][:|](?=[/\\?#]|\Z)")
_ONE_DOT: Final = re.compile(r"\.|%2e", re.IGNORECASE)
_TWO_DOTS: Final = re.compile(r"(?:\.|%2e){2}", re.IGNORECASE)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_CONTROLS: Final = re.compile(r"[\0-\x1f\x7f-\U0010ffff]+")
_IN_FRAGMENT: Final = re.compile(r"[\0-\x20\"<>`\x7f-\U0010ffff]+")
_IN_QUERY: Final = re.compile(r"[\0-\x20\"#<>\x7f-\U0010ffff]+")
_IN_SPECIAL_QUERY: Final = re.compile(r"[\0-\x20\"#<>'\x7f-\U0010ffff]+")
_IN_PATH: Final = re.compile(r"[\0-\x20\"#<>?^`{}\x7f-\U0010ffff]+")
_IN_USERINFO: Final = re.compile(r"[\0-\x20\"#<>?^`{}/:;=@\[\\\]|\x7f-\U0010ffff]+")

# Characters written unchanged: in the path, no segment may begin like a dot segment.
_PATH: Final = r"(?:/(?![.%])[!$-.0-;=@-Z\[\]_a-z|~]*+)"
_REST: Final = r"(?:\?[!$-&(-;=?-~]*+)?(?:#[!#-;=?-_a-~]*+)?"
_USUAL_ABSOLUTE: Final = re.compile(
    rf"(https?://(?:(?!xn--)[a-z0-9_-]++\.)++(?!xn--)[a-z][a-z-]*+)(?:({_PATH}++)|(?=[?#]|\Z))({_REST})"
)
_USUAL_ROOTED: Final = re.compile(rf"(?!//){_PATH}++{_REST}")
_USUAL_RELATIVE: Final = re.compile(rf"(?![.%])[!$-.0-9;=@-Z\[\]_a-z|~]++{_PATH}*+{_REST}")


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL, in the terms of the standard; `path` is text if it is opaque (`mailto:x`), else segments.

    `host` is None if there is none, and "" if it is empty (`file:///x`).
    """

    scheme: str
    username: str = ""
    password: str = ""
    host: str | None = None
    port: int | None = None
    path: str | tuple[str, ...] = ()
    query: str | None = None
    fragment: str | None = None

    @property
    def special(self) -> bool:
        """Whether the scheme is one of http, https, ws, wss, ftp and file."""
        return self.scheme in _DEFAULT_PORTS

    @property
    def origin(self) -> str:
        """The part before the path."""
        start = f"{self.scheme}:"
        if self.host is not None:
            user = f"{self.username}{':' + self.password if self.password else ''}@"
            port = "" if self.port is None else f":{self.port}"
            return f"{start}//{user if len(user) > 1 else ''}{self.host}{port}"
        return start + "/." if type(self.path) is tuple and len(self.path) > 1 and not self.path[0] else start

    @property
    def pathname(self) -> str:
        """The path as serialized."""
        return self.path if isinstance(self.path, str) else "".join("/" + segment for segment in self.path)

    def __str__(self) -> str:
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.origin}{self.pathname}{query}{fragment}"


def parse_url(text: str, base: Url | None = None) -> Url | None:
    """Parse a URL, relative to a base if given; None if it is not valid.

    Spec: URL standard, section 4.4, "basic URL parser".
    """
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _DROPPED.sub("", text.strip(_ENDS))
    text, hashed, fragment = text.partition("#")
    if not text and not hashed and base is not None and isinstance(base.path, str):
        return None
    url = _without_fragment(text, base)
    if url is None or not hashed:
        return url
    return replace(url, path=_kept_blank(url.path), fragment=_encode(_IN_FRAGMENT, fragment))


class Resolver:
    """Resolves the references of a page: relative to its URL, or to its first `<base href>` if that is usable."""

    __slots__ = ("_directory", "_origin", "_usual", "base")

    def __init__(self, page: str, base: str | None = None) -> None:
        self.base = parse_url(page)
        if base is not None:
            self.base = _usable_base(base, self.base) or self.base
        self._usual = self.base is not None and self.base.scheme in ("http", "https")
        if self.base is not None and self._usual:
            self._origin = self.base.origin
            self._directory = self._origin + self.base.pathname.rpartition("/")[0] + "/"

    def resolve(self, reference: str) -> str | None:
        """The URL of a reference; None if it is not valid."""
        if found := _USUAL_ABSOLUTE.fullmatch(reference):
            return reference if found[2] else f"{found[1]}/{found[3]}"
        if self._usual:
            if _USUAL_ROOTED.fullmatch(reference):
                return self._origin + reference
            if _USUAL_RELATIVE.fullmatch(reference):
                return self._directory + reference
        url = parse_url(reference, self.base)
        return None if url is None else str(url)


def _usable_base(text: str, fallback: Url | None) -> Url | None:
    """The URL of a base element; None if it does not parse, or has a scheme that the HTML standard forbids."""
    url = parse_url(text, fallback)
    return None if url is None or url.scheme in ("data", "javascript") else url


def _encode(what: re.Pattern[str], text: str) -> str:
    return what.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _without_fragment(text: str, base: Url | None) -> Url | None:
    found = _SCHEME.match(text)
    if found is None:
        if base is None:
            return None
        if isinstance(base.path, str):
            return None if text else replace(base, fragment=None)
        return _file(text, base) if base.scheme == "file" else _relative(text, base)
    scheme, rest = found[1].lower(), text[found.end() :]
    if scheme == "file":
        return _file(rest, base if base is not None and base.scheme == "file" else None)
    if scheme in _DEFAULT_PORTS:
        if base is not None and base.scheme == scheme and not rest.startswith("//"):
            return _relative(rest, base)
        return _after_slashes(scheme, rest.lstrip("/\\"))
    if rest.startswith("//"):
        return _after_slashes(scheme, rest[2:])
    path, query = _cut_query(rest, scheme)
    if rest.startswith("/"):
        return Url(scheme, path=_Path(scheme).add(path[1:]), query=query)
    opaque = _encode(_CONTROLS, path)
    return Url(scheme, path=opaque if query is None else _kept_blank(opaque), query=query)


def _kept_blank(path: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """An opaque path before more of the URL; a trailing blank is escaped, which reparsing would drop."""
    return path[:-1] + "%20" if isinstance(path, str) and path.endswith(" ") else path


def _cut_query(text: str, scheme: str) -> tuple[str, str | None]:
    path, mark, query = text.partition("?")
    kinds = _IN_SPECIAL_QUERY if scheme in _DEFAULT_PORTS else _IN_QUERY
    return path, _encode(kinds, query) if mark else None


def _relative(text: str, base: Url) -> Url | None:
    """The standard's "relative state"."""
    slashes = "/\\" if base.special else "/"
    if text[:1] and text[0] in slashes:
        if text[1:2] and text[1] in slashes:
            return _after_slashes(base.scheme, text[2:].lstrip(slashes) if base.special else text[2:])
        path, query = _cut_query(text[1:], base.scheme)
        return replace(base, path=_Path(base.scheme).add(path), query=query, fragment=None)
    path, query = _cut_query(text, base.scheme)
    if not path:
        return replace(base, query=base.query if query is None else query, fragment=None)
    kept = _Path(base.scheme, base.path)
    kept.shorten()
    return replace(base, path=kept.add(path), query=query, fragment=None)


def _after_slashes(scheme: str, text: str) -> Url | None:
    """Parse the text after `scheme://`: authority, path and query."""
    special = scheme in _DEFAULT_PORTS
    end = len(text)
    for char in "/?\\" if special else "/?":
        end = text.find(char, 0, end) if char in text[:end] else end
    authority, rest = text[:end], text[end:]
    userinfo, at, host = authority.rpartition("@")
    if at and not host:
        return None
    port: int | None = None
    if (found := _PORT.fullmatch(host)) is not None:
        host, digits = found.groups()
        if not host or (digits and not (digits.isascii() and digits.isdigit())):
            return None
        digits = digits.lstrip("0") or digits[:1]
        if len(digits) > 5 or (digits and int(digits) > 0xFFFF):
            return None
        port = int(digits) if digits and int(digits) != _DEFAULT_PORTS.get(scheme) else None
    if not host and (special or at):
        return None
    name = host_in_url(host, special=special) if host else ""
    if name is None:
        return None
    user, _, password = userinfo.partition(":")
    path, query = _cut_query(rest, scheme)
    return Url(
        scheme,
        _encode(_IN_USERINFO, user),
        _encode(_IN_USERINFO, password),
        name,
        port,
        _Path(scheme).add(path[1:]) if path or special else (),
        query,
    )


def _file(text: str, base: Url | None) -> Url | None:
    """The standard's "file state"; `base`, if given, is a file URL."""
    path, query = _cut_query(text, "file")
    if path[:1] not in ("/", "\\") or not path:
        if base is None:
            return Url("file", host="", path=_Path("file").add(path), query=query)
        if not path:
            return replace(base, query=base.query if query is None else query, fragment=None)
        kept = _Path("file", () if _DRIVE_FIRST.match(text) else base.path)
        kept.shorten()
        return Url("file", host=base.host, path=kept.add(path), query=query)
    if path[1:2] not in ("/", "\\") or len(path) < 2:
        kept = _Path("file")
        host = ""
        if base is not None:
            host = base.host or ""
            first = base.path[0] if base.path else ""
            if not _DRIVE_FIRST.match(path[1:]) and len(first) == 2 and re.fullmatch(r"[A-Za-z]:", first):
                kept.segments.append(first)
        return Url("file", host=host, path=kept.add(path[1:]), query=query)
    end = min(at for at in (path.find("/", 2), path.find("\\", 2), len(path)) if at >= 0)
    host = path[2:end]
    if len(host) == 2 and _DRIVE.fullmatch(host):
        return Url("file", host="", path=_Path("file").add(path[2:]), query=query)
    name = host_in_url(host, special=True) if host else ""
    if name is None:
        return None
    return Url("file", host="" if name == "localhost" else name, path=_Path("file").add(path[end + 1 :]), query=query)


class _Path:
    """The segments of a path while it is parsed."""

    def __init__(self, scheme: str, segments: str | tuple[str, ...] = ()) -> None:
        self._scheme, self.segments = scheme, list(segments)

    def shorten(self) -> None:
        segments = self.segments
        if self._scheme == "file" and len(segments) == 1 and re.fullmatch(r"[A-Za-z]:", segments[0]):
            return
        if segments:
            segments.pop()

    def add(self, text: str) -> tuple[str, ...]:
        """Append segments as written; returns the path."""
        if self._scheme in _DEFAULT_PORTS:
            text = text.replace("\\", "/")
        *others, last = text.split("/")
        segments = self.segments
        for segment in others:
            if segment[:1] in ("", ".", "%") and self._dots(segment):
                continue
            self._append(segment)
        if last[:1] in (".", "%") and self._dots(last):
            segments.append("")
        else:
            self._append(last)
        return tuple(segments)

    def _dots(self, segment: str) -> bool:
        if _TWO_DOTS.fullmatch(segment):
            self.shorten()
            return True
        return _ONE_DOT.fullmatch(segment) is not None

    def _append(self, segment: str) -> None:
        if self._scheme == "file" and not self.segments and _DRIVE.fullmatch(segment):
            segment = segment[0] + ":"
        self.segments.append(_encode(_IN_PATH, segment))
