"""Files on HDFS, over WebHDFS (or HttpFS): needs neither Java nor a native library.

* Ranges are requested with the parameters `offset` and `length` of OPEN; a `Range` header would be ignored (seen in
  Hadoop 3.4).
* A file is identified by its id, modification time and length (GETFILESTATUS); all three must match to resume.
* If there are several NameNodes, the active one is used; standbys are skipped.
* Writes are spooled, PUT under a temporary name next to the target, and renamed over it.
* User name: `HADOOP_USER_NAME`, else the login name. Clusters with Kerberos use `program_backend.py`.

Spec: WebHDFS REST API of Hadoop 3.4.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, TypeVar, cast
from urllib.parse import quote, urlencode, urljoin

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.hdfs.conf import default_filesystem, namenode_urls, read_hadoop_conf, user_name
from crawlmill.storage.http.backend import HttpBody
from crawlmill.storage.http.client import Answer, HttpClient
from crawlmill.storage.interface import Stream
from crawlmill.storage.locations import redact
from crawlmill.storage.readahead import ReadAheadStream
from crawlmill.storage.resume import Body, Identity, NothingLeft, ResumingStream
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, failure_of_status, retrying

__all__ = ["HdfsBackend"]

_PREFIX = "/webhdfs/v1"
_DEEPEST = 1000  # HDFS's own limit of depth
_SPOOLED_IN_MEMORY = 8 << 20
_MAX_JSON_BYTES = 64 << 20  # enough for a listing of some 300,000 files
_MAX_ERROR_BYTES = 1 << 16
_TRANSIENT_EXCEPTIONS = {"RetriableException", "SafeModeException", "ServerTooBusyException", "StandbyException"}

Result = TypeVar("Result")


class HdfsBackend:
    """The backend for `hdfs://` locations."""

    renames = True

    def __init__(self, webhdfs: str | None, client: HttpClient, policy: RetryPolicy) -> None:
        self._client, self._policy = client, policy
        self._webhdfs = webhdfs.rstrip("/").removesuffix(_PREFIX) if webhdfs else None
        self._conf = {} if webhdfs else read_hadoop_conf()
        self._user = user_name()
        self._nodes: dict[str, Sequence[str]] = {}  # by authority; the one that answered last is first
        self._lock = threading.Lock()

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """See `Backend.open`."""

        def ask(start: int, stop: int | None, _: Identity | None) -> Body:
            status = self._file_status(location)
            total = int(status["length"])
            stop = total if stop is None else min(stop, total)
            if start >= stop:
                return NothingLeft(start, total)
            answer = self._ask(location, "GET", "OPEN", offset=str(start), length=str(stop - start))
            version = f"{status.get('fileId')} {status.get('modificationTime')} {total}"
            return HttpBody(answer, start, stop, Identity(version, None, total))

        return ReadAheadStream(ResumingStream(ask, redact(location), start, length, self._attempts(location)))

    def size(self, location: str) -> int:
        """See `Backend.size`."""
        return int(self._retrying(location, lambda: self._file_status(location))["length"])

    def exists(self, location: str) -> bool:
        """See `Backend.exists`."""
        try:
            self._retrying(location, lambda: self._status(location))
        except SourceError as error:
            if error.reason == "not-found":
                return False
            raise
        return True

    def list(self, location: str) -> Iterator[str]:
        """See `Backend.list`."""
        found, folders = [], [""]
        while folders:
            below = folders.pop()
            if below.count("/") > _DEEPEST:
                raise SourceError("folders are nested without end", reason="unavailable", source=redact(location))
            listing = self._listing(location, f"{location.rstrip('/')}/{below}")
            for entry in listing:
                name = below + entry["pathSuffix"]
                if not entry["pathSuffix"]:
                    raise SourceError("not a folder", reason="not-found", source=redact(location))
                if entry["type"] == "DIRECTORY":
                    folders.append(f"{name}/")
                else:
                    found.append(name)
        yield from sorted(found)

    @contextmanager
    def write(self, location: str) -> Iterator[BinaryIO]:
        """See `Backend.write`; more than 8 MB are spooled to the local disk."""
        with tempfile.SpooledTemporaryFile(_SPOOLED_IN_MEMORY) as spool:
            yield cast(BinaryIO, spool)
            spool.seek(0, os.SEEK_END)
            size = spool.tell()
            folder, _, name = location.rpartition("/")
            beside = f"{folder}/.{name}.{secrets.token_hex(4)}.tmp"
            try:
                self._retrying(location, lambda: self._put(beside, cast(IO[bytes], spool), size))
                self._rename(beside, location, "OVERWRITE", location)
            except BaseException:
                self._give_up(beside)
                raise

    def make_folder(self, location: str) -> None:
        """See `Backend.make_folder`."""
        self._retrying(location, lambda: self._json(location, "PUT", "MKDIRS"))

    def rename(self, source: str, target: str) -> None:
        """See `Backend.rename`."""
        if self.exists(target):
            raise UsageError("the target of a rename exists already", source=redact(target))
        self._rename(source, target, "NONE", source)

    def remove(self, location: str) -> None:
        """See `Backend.remove`. Raises: UsageError for the root."""
        if not _path_of(location).strip("/"):
            raise UsageError("a whole file system cannot be removed", source=redact(location))
        self._retrying(location, lambda: self._json(location, "DELETE", "DELETE", recursive="true"))

    def close(self) -> None:
        """See `Backend.close`."""
        self._client.close()

    def _status(self, location: str) -> dict[str, Any]:
        status = self._json(location, "GET", "GETFILESTATUS").get("FileStatus")
        if not isinstance(status, dict) or "type" not in status or not isinstance(status.get("length"), int):
            raise Failure("the answer to GETFILESTATUS makes no sense")
        return status

    def _file_status(self, location: str) -> dict[str, Any]:
        status = self._status(location)
        if status["type"] == "DIRECTORY":
            raise Failure("a folder, not a file", reason="not-found")
        return status

    def _listing(self, location: str, folder: str) -> Sequence[dict[str, Any]]:
        def ask() -> Sequence[dict[str, Any]]:
            try:
                entries = self._json(folder, "GET", "LISTSTATUS")["FileStatuses"]["FileStatus"]
                if all("/" not in entry["pathSuffix"] and "type" in entry for entry in entries):
                    return cast(Sequence[dict[str, Any]], entries)
            except (LookupError, TypeError):
                pass
            raise Failure("the answer to LISTSTATUS makes no sense")

        return self._retrying(location, ask)

    def _put(self, location: str, spool: IO[bytes], size: int) -> None:
        """Send a file: the NameNode names a DataNode, which receives it."""
        answer = self._ask(location, "PUT", "CREATE", overwrite="true")
        place = answer.headers.get("Location")
        answer.drain()
        if not place:
            raise Failure(f"the NameNode names no place to write to (HTTP {answer.status})")
        spool.seek(0)
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        try:
            place = urljoin(answer.url, place)
        except ValueError as error:
            raise Failure("the NameNode names a place that is not a URL") from error
        written = self._client.request("PUT", place, headers, body=spool, follow=False)
        if written.status not in (200, 201):
            raise _failure_of(written)
        written.drain()

    def _rename(self, source: str, target: str, option: str, shown: str) -> None:
        """Rename a path; `shown` is the location in error messages."""
        tries = 0

        def ask() -> None:
            nonlocal tries
            tries += 1
            try:
                # With an option the response is empty, and an existing folder is not moved into.
                self._ask(source, "PUT", "RENAME", destination=_path_of(target), renameoptions=option).drain()
            except Failure as failure:
                # The response to an earlier attempt may have been lost.
                if failure.reason != "not-found" or tries == 1:
                    raise
                self._status(target)

        self._retrying(shown, ask)

    def _give_up(self, location: str) -> None:
        """Try to remove a file that is no longer needed."""
        try:
            self._json(location, "DELETE", "DELETE")
        except Failure:
            pass  # the error that led here is reported instead

    def _json(self, location: str, method: str, operation: str, **parameters: str) -> dict[str, Any]:
        answer = self._ask(location, method, operation, **parameters)
        text = answer.drain(_MAX_JSON_BYTES)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Failure(f"the answer to {operation} is not JSON", transient=True) from error
        if not isinstance(found, dict):
            raise Failure(f"the answer to {operation} is not a JSON object")
        return found

    def _ask(self, location: str, method: str, operation: str, **parameters: str) -> Answer:
        """The response of the active NameNode, if it is a success. Raises: Failure."""
        authority = _authority_of(location)
        query = {"op": operation, **({"user.name": self._user} if self._user else {}), **parameters}
        nodes = self._nodes_of(authority)
        failure = Failure("no NameNode")
        for node in nodes:
            url = f"{node}{_PREFIX}{quote(_path_of(location), safe='/')}?{urlencode(query)}"
            try:
                answer = self._client.request(method, url, follow=method == "GET")
                if answer.status in (200, 201) or (answer.status == 307 and method == "PUT"):
                    with self._lock:
                        self._nodes[authority] = [node, *(other for other in nodes if other != node)]
                    return answer
                failure = _failure_of(answer)
                if not failure.transient:
                    raise failure
            except Failure as error:
                if not error.transient:
                    raise
                failure = error
        raise failure

    def _nodes_of(self, authority: str) -> Sequence[str]:
        with self._lock:
            if authority not in self._nodes:
                named = authority or ("" if self._webhdfs else default_filesystem(self._conf))
                self._nodes[authority] = [self._webhdfs] if self._webhdfs else namenode_urls(named, self._conf)
            return self._nodes[authority]

    def _retrying(self, location: str, ask: Callable[[], Result]) -> Result:
        return retrying(self._attempts(location), ask)

    def _attempts(self, location: str) -> Attempts:
        nodes = self._nodes_of(_authority_of(location))
        return Attempts(self._policy, redact(location), self._client.slow_down(nodes[0]) if nodes else None)


def _authority_of(location: str) -> str:
    return location[len("hdfs://") :].partition("/")[0]


def _path_of(location: str) -> str:
    """The path of a location, unchanged."""
    return "/" + location[len("hdfs://") :].partition("/")[2]


def _failure_of(answer: Answer) -> Failure:
    """The failure that an unsuccessful response means. Closes the response."""
    status = answer.status
    if status == 401:
        answer.drain()
        return Failure(
            "the cluster wants Kerberos: where its configuration (HADOOP_CONF_DIR) says so, `hadoop fs` is used",
            reason="denied",
        )
    try:
        said = json.loads(answer.drain(_MAX_ERROR_BYTES))["RemoteException"]
        name, message = str(said["exception"]), str(said.get("message", "")).strip().partition("\n")[0][:200]
    except (ValueError, LookupError, TypeError, RecursionError):
        return failure_of_status(status, "", answer.host)
    what = f"{name}: {message}" if message else name
    if name == "FileNotFoundException":
        return Failure("no such file", reason="not-found")
    if name in ("AccessControlException", "SecurityException"):
        return Failure(what, reason="denied")
    if name in ("FileAlreadyExistsException", "PathIsNotEmptyDirectoryException"):
        return Failure("the target exists already", reason="denied")
    failure = failure_of_status(status, "", answer.host)
    failure.what = what
    failure.transient |= name in _TRANSIENT_EXCEPTIONS
    if failure.transient:
        failure.reason = "unavailable"
    return failure
