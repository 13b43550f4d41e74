"""Made-up captures, indexes of them, and what a look-up must find: slow, line by line, from the words of the docs."""

from __future__ import annotations

import functools
import gzip
import json
import random
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

HOSTS = [
    "example.com",
    "example.com:8080",
    "example.com:8443",
    "example-shop.com",
    "example2.com",
    "examplf.com",
    "exampl.com",
    "www.example.com:81",
    "sub.example.com",
    "a.sub.example.com",
    "sub.example.com:8080",
    "sub-2.example.com",
    "example.org",
    "com.net",
    "example.co.uk",
    "10.0.0.1",
    "10.0.0.1:8080",
    "localhost",
    "zz.example",
    "zz-y.example",
    "a.zz.example",
]
PATHS = [
    "/",
    "/a",
    "/a/b",
    "/ab",
    "/a-b",
    "/a?x=1",
    "/a?x=1&y=2",
    "/a.html",
    "/news",
    "/news/2024",
    "/news/2024/item",
    "/~u",
    "/a!b",
    "/q?a=b*c",
    "/%c3%bc",
]


def key_of(url: str) -> str:
    """The urlkey of the plain URLs above: nothing in them needs cleaning but `www.` and a slash at the end."""
    host, _, path = url.partition("://")[2].partition("/")
    host, _, port = re.sub(r"^www\.", "", host).partition(":")
    path = "/" + path
    path = path[:-1] if path.endswith("/") and len(path) > 1 else path
    return ",".join(reversed(host.split("."))) + (f":{port}" if port else "") + ")" + path


def make_lines(number: int, seed: int = 1) -> list[str]:
    """CDXJ lines sorted by their bytes, no two of one key and time."""
    dice, lines = random.Random(seed), {}
    while len(lines) < number:
        path = dice.choice(PATHS) if dice.random() < 0.6 else f"/p/{dice.randrange(number)}"
        url = f"{dice.choice(['http', 'https'])}://{dice.choice(HOSTS)}{path}"
        time = f"{dice.randrange(2008, 2026)}{dice.randrange(1, 13):02}{dice.randrange(1, 29):02}{dice.randrange(10**6):06}"
        time = time[:8] + f"{dice.randrange(24):02}{dice.randrange(60):02}{dice.randrange(60):02}"
        fields = {"url": url, "mime": dice.choice(["text/html", "image/png", "warc/revisit"])}
        if dice.random() < 0.9:
            fields["status"] = dice.choice(["200", "200", "301", "404"])
        fields |= {"digest": dice.choice("ABCD") * 32, "length": str(dice.randrange(1, 9999)), "offset": str(dice.randrange(10**9)),
                   "filename": f"crawl-data/x/{dice.randrange(9):05}.warc.gz"}  # fmt: skip
        if dice.random() < 0.5:
            fields["charset"], fields["languages"] = "UTF-8", dice.choice(["eng", "deu,eng"])
        lines.setdefault((key_of(url), time), f"{key_of(url)} {time} {json.dumps(fields)}")
    return sorted(lines.values(), key=str.encode)


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def make_cluster(folder: Path, lines: list[str], *, per: int = 50, shards: int = 3, columns: int = 5, loc: bool = True):
    """Writes a cluster; (first line, shard, offset, length) of its members."""
    folder.mkdir(parents=True, exist_ok=True)
    step, members, rows = -(-len(lines) // shards) or 1, [], []
    for number in range(shards):
        name, data = f"cdx-{number:05}.gz", b""
        part = lines[number * step : (number + 1) * step]
        for at in range(0, len(part), per):
            packed = gzip.compress(text(part[at : at + per]), mtime=0)
            members.append((part[at], name, len(data), len(packed)))
            data += packed
        (folder / name).write_bytes(data)
    for number, (line, name, offset, length) in enumerate(members, 1):
        start = " ".join(line.split(" ")[:2])
        rows.append("\t".join([start, name, str(offset), str(length), str(number)][:columns]) + "\n")
    (folder / "cluster.idx").write_text("".join(rows))
    if loc:
        (folder / "cluster.loc").write_text("".join(f"cdx-{n:05}.gz\tcdx-{n:05}.gz\n" for n in range(shards)))
    return members


@functools.cache
def host_and_port(key: str) -> tuple[str, str]:
    host, _, port = key.partition(")")[0].partition(":")
    return host, port


@functools.cache
def key_and_time(line: str) -> tuple[str, str]:
    key, time, _ = line.split(" ", 2)
    return key, time


def meaning(pattern: str, match: str | None) -> Callable[[str], bool]:
    """Whether a pattern means a key; what does not depend on the key is worked out once."""
    if match is None:
        match = "domain" if pattern.startswith("*.") else "prefix" if pattern.endswith("*") else "exact"
        pattern = pattern.removeprefix("*.").removesuffix("*")
    url = pattern if "://" in pattern else f"http://{pattern}"
    wanted = key_of(url)
    if match == "exact":
        return lambda key: key == wanted
    if match == "prefix":
        for end in "/?":
            wanted += end if url.endswith(end) and not wanted.endswith(end) else ""
        return lambda key: key.startswith(wanted)
    name, _, wanted_port = wanted.split(")")[0].partition(":")

    def is_meant(key: str) -> bool:
        bare, port = host_and_port(key)
        if wanted_port and port != wanted_port:
            return False
        return bare == name or (match == "domain" and bare.startswith(f"{name},"))

    return is_meant


ALIASES = {"original": "url", "mimetype": "mime", "statuscode": "status", "encoding": "charset"}


@functools.cache
def values(line: str) -> dict[str, str]:
    key, time, rest = line.split(" ", 2)
    return {"urlkey": key, "timestamp": time, **json.loads(rest)}


def value(line: str, field: str) -> str:
    return values(line).get(ALIASES.get(field, field), "")


def passes(line: str, rule: str) -> bool:
    inverted, rule = rule.startswith("!"), rule.removeprefix("!")
    how = rule[0] if rule[0] in "=~" else ""
    field, _, wanted = rule.removeprefix(how).partition(":")
    found = value(line, field)
    good = {"=": found == wanted, "~": how == "~" and bool(re.match(wanted, found)), "": wanted in found}[how]
    return good != inverted


def expected(lines: list[str], pattern: str, *, match=None, start=None, end=None, filters=(), newest=False, distinct=None,
             sort="key", closest=None, limit=None) -> list[str]:  # fmt: skip
    """What a look-up gives."""
    found, is_meant = [], meaning(pattern, match)
    for line in lines:
        key, time = key_and_time(line)
        if not is_meant(key) or (start and time[: len(start)] < start) or (end and time[: len(end)] > end):
            continue
        if all(passes(line, rule) for rule in filters):
            found.append(line)
    if newest:
        kept = {}
        for line in found:
            key, time = line.split(" ")[:2]
            if key not in kept or time > kept[key].split(" ")[1]:
                kept[key] = line
        found = list(kept.values())
    if distinct:
        first: dict[tuple[str, str], str] = {}
        for line in found:
            first.setdefault((line.split(" ")[0], value(line, distinct)), line)
        found = list(first.values())
    if sort == "reverse":
        found = found[::-1]
    if sort == "closest":
        at = datetime.strptime(closest, "%Y%m%d%H%M%S")
        found.sort(key=lambda line: abs(datetime.strptime(line.split(" ")[1], "%Y%m%d%H%M%S") - at))
    return found if limit is None else found[:limit]


OPTIONS = [
    {}, {}, {"match": "exact"}, {"match": "prefix"}, {"match": "host"}, {"match": "domain"}, {"start": "2015", "end": "2020"},
    {"end": "202002"}, {"start": "2020"}, {"start": "20201", "end": "20201"}, {"filters": ["=status:200"]},
    {"filters": ["!=mime:warc/revisit", "~mime:text/.*"]}, {"filters": ["languages:eng"]}, {"filters": ["=encoding:UTF-8"]},
    {"filters": ["=languages:"]}, {"filters": ["~url:.*:80\\d0/"]}, {"limit": 1}, {"limit": 7, "filters": ["=status:404"]},
    {"limit": 0}, {"sort": "reverse"}, {"sort": "reverse", "limit": 3}, {"sort": "closest", "closest": "20180615120000"},
    {"sort": "closest", "closest": "20100101000000", "limit": 4}, {"newest": True}, {"newest": True, "end": "2016"},
    {"distinct": "digest"}, {"distinct": "statuscode", "filters": ["!=status:301"]}, {"newest": True, "distinct": "mime", "limit": 5},
    {"match": "domain", "distinct": "digest", "limit": 20},
]  # fmt: skip


def make_patterns(dice: random.Random, lines: list[str], number: int, match: str | None) -> list[str]:
    """Patterns, most of which mean something in these lines."""
    found = []
    for _ in range(number):
        url = value(dice.choice(lines), "url")
        host = url.split("/")[2]
        name = host.split(":")[0]
        plain = [url, url.partition("://")[2], f"http://{host}/", f"{host}/a", "http://nowhere.example/"]
        wild = [
            f"*.{name}",
            f"*.{name}/*",
            f"http://{host}/*",
            f"{host}/a*",
            f"https://{host}/news/*",
            f"{host}/a?*",
            f"http://{host}*",
        ]
        found.append(dice.choice(plain if match else [*plain, *wild]))
    return found
