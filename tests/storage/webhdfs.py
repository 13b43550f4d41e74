"""A double of WebHDFS in memory: a NameNode that redirects to a DataNode, as the Hadoop 3.4 documentation has it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.storage.faults import FaultServer


class WebHdfs(FaultServer):
    """Files by path. `refusals` are (status, exception) to give first; `operations` lists what was asked."""

    def __init__(self, *, standby: bool = False, user: str | None = None) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.folders = {"/"}
        self.standby, self.user = standby, user
        self.refusals: list[tuple[int, str]] = []
        self.cuts: list[int] = []
        self.operations: list[str] = []
        self.changed = 1_700_000_000_000
        self.handle = self.webhdfs

    def webhdfs(self, http: Any, body: bytes) -> bool:
        parts = urlsplit(http.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        datanode = parts.path.startswith("/data/")
        path = unquote(parts.path.removeprefix("/data").removeprefix("/webhdfs/v1")) or "/"
        self.operations.append(f"{'DATA ' if datanode else ''}{asked['op']}")
        if self.standby:
            return self.reject(
                http, 403, "StandbyException", "Operation category READ is not supported in state standby"
            )
        if self.refusals:
            return self.reject(http, *self.refusals.pop(0))
        if self.user is not None and asked.get("user.name") != self.user:
            return self.reject(http, 403, "AccessControlException")
        if asked["op"] in ("OPEN", "CREATE") and not datanode:
            if asked["op"] == "OPEN" and path not in self.files:
                return self.reject(http, 404, "FileNotFoundException")
            target = f"{self.url}/data/webhdfs/v1{quote(path)}?{parts.query}"
            return self.reply(http, 307, b"", {"Location": target})
        return getattr(self, asked["op"].lower())(http, path, asked, body)

    def reply(self, http: Any, status: int, body: bytes, headers: dict[str, str] | None = None) -> bool:
        http.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            http.send_header(name, value)
        http.end_headers()
        cut = self.cuts.pop(0) if self.cuts and len(body) > 1000 else None
        http.wfile.write(body[:cut])
        http.close_connection = cut is not None
        return True

    def json(self, http: Any, value: object) -> bool:
        return self.reply(http, 200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def reject(self, http: Any, status: int, exception: str, message: str = "no") -> bool:
        text = json.dumps({"RemoteException": {"exception": exception, "message": f"{message}\n\tat java"}})
        return self.reply(http, status, text.encode(), {"Content-Type": "application/json"})

    def status(self, path: str, suffix: str) -> dict:
        file = path in self.files
        kind = {"type": "FILE" if file else "DIRECTORY", "length": len(self.files.get(path, b"")), "fileId": 16392}
        return {"pathSuffix": suffix, "modificationTime": self.changed, "owner": "hadoop", **kind}

    def there(self, path: str) -> bool:
        return path in self.files or path.rstrip("/") in self.folders or path == "/"

    def open(self, http: Any, path: str, asked: dict, _: bytes) -> bool:
        first = int(asked.get("offset", 0))
        data = self.files[path][first:]
        return self.reply(http, 200, data[: int(asked["length"])] if "length" in asked else data)

    def create(self, http: Any, path: str, asked: dict, body: bytes) -> bool:
        if path in self.files and asked.get("overwrite") != "true":
            return self.reject(http, 403, "FileAlreadyExistsException")
        self.files[path] = body
        self.parents(path)
        return self.reply(http, 201, b"", {"Location": "hdfs://…"[:7]})

    def parents(self, path: str) -> None:
        while (path := path.rpartition("/")[0]) and path not in self.folders:
            self.folders.add(path)

    def getfilestatus(self, http: Any, path: str, *_: object) -> bool:
        if not self.there(path):
            return self.reject(http, 404, "FileNotFoundException", f"File does not exist: {path}")
        return self.json(http, {"FileStatus": self.status(path, "")})

    def liststatus(self, http: Any, path: str, *_: object) -> bool:
        path = path.rstrip("/")
        if not self.there(path or "/"):
            return self.reject(http, 404, "FileNotFoundException")
        if path in self.files:
            return self.json(http, {"FileStatuses": {"FileStatus": [self.status(path, "")]}})
        names = {p[len(path) + 1 :].partition("/")[0] for p in (*self.files, *self.folders) if p.startswith(f"{path}/")}
        found = [self.status(f"{path}/{name}", name) for name in names if name]
        return self.json(http, {"FileStatuses": {"FileStatus": found}})

    def mkdirs(self, http: Any, path: str, *_: object) -> bool:
        self.parents(f"{path.rstrip('/')}/x")
        return self.json(http, {"boolean": True})

    def delete(self, http: Any, path: str, *_: object) -> bool:
        path = path.rstrip("/")
        gone = [p for p in (*self.files, *self.folders) if p == path or p.startswith(f"{path}/")]
        for name in gone:
            self.files.pop(name, None)
            self.folders.discard(name)
        return self.json(http, {"boolean": bool(gone)})

    def rename(self, http: Any, path: str, asked: dict, _: bytes) -> bool:
        target = asked["destination"]
        if not self.there(path):
            return self.reject(http, 404, "FileNotFoundException")
        if self.there(target) and asked["renameoptions"] != "OVERWRITE":
            return self.reject(http, 403, "FileAlreadyExistsException")
        for name in [p for p in self.files if p == path or p.startswith(f"{path}/")]:
            self.files[target + name[len(path) :]] = self.files.pop(name)
        for name in [p for p in self.folders if p == path or p.startswith(f"{path}/")]:
            self.folders.discard(name)
            self.folders.add(target + name[len(path) :])
        return self.reply(http, 200, b"")
