"""Reports why a task on a cluster failed: the task writes its traceback where the launcher looks for it.

Of a failed Python task Hadoop itself reports only the exit code. How to find the rest (in logs on the node, or in an
archive of them) depends on the cluster and on the user's rights; this does not. The launcher names a folder, on WebHDFS
or S3, in the job's configuration, which Hadoop passes to every task in its environment. A failing task writes a file
there, named after the attempt: one line that says what was wrong, then the traceback. This works even if a package is
missing, since it uses only the standard library: `crawlmill.mr` calls `listen` before it imports anything else.
For S3 the file is copied with the program `aws`, which is installed and authorised on every node of EMR.

Spec: WebHDFS REST API of Hadoop 3.4 (CREATE); AWS CLI, `s3 cp`.
"""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Final
from urllib.parse import urlsplit

__all__ = ["PROPERTY", "listen", "report"]

PROPERTY: Final = "crawlmill.reports"
"""The property that holds the folder's URLs, one per NameNode, with commas between. Each may have a query; that of S3
holds options of `aws s3 cp`.
"""

_VARIABLE: Final = PROPERTY.replace(".", "_")  # as Hadoop renames it in the environment
_TIMEOUT_S: Final = 20
_MAX_CHARACTERS: Final = 100_000
_MAX_LINE: Final = 500


def listen() -> None:
    """In a task of a cluster, report any error that ends it; elsewhere do nothing."""
    if _VARIABLE in os.environ:
        sys.excepthook = _report_exception


def report(what: str, trace: str = "") -> None:
    """Report to the launcher what was wrong, if this is a task of a cluster."""
    folders = os.environ.get(_VARIABLE, "")
    attempt = os.environ.get("mapreduce_task_attempt_id")  # noqa: SIM112 - Hadoop's name
    if not folders or not attempt:
        return
    from http.client import HTTPException  # noqa: PLC0415 - costs 20 ms at every start and is rarely used

    line = " ".join(what.split())[:_MAX_LINE]
    content = f"{line}\n{trace[-_MAX_CHARACTERS:]}".encode("utf-8", "backslashreplace")
    why = ""
    for folder in folders.split(","):
        path, _, query = folder.partition("?")
        try:
            if path.startswith("s3://"):
                _put_on_s3(f"{path}/{attempt}", query, content)
                return
            place = _put(f"{path}/{attempt}?{query}&op=CREATE&overwrite=true", None)
            if place:  # the DataNode to write to
                _put(place, content)
                return
        except (OSError, HTTPException, ValueError) as error:
            why = f": {error}"
    sys.stderr.write(f"could not tell the launcher why this task fails{why}\n")


def _report_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    text = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(text)
    report("".join(traceback.format_exception_only(kind, error)), text)


def _put_on_s3(location: str, query: str, content: bytes) -> None:
    """Raises: OSError."""
    import subprocess  # noqa: PLC0415 - only failing tasks need it

    options = [f"--{option}" for option in filter(None, query.split("&"))]
    command = ["aws", "s3", "cp", "--only-show-errors", *options, "-", location]
    # `aws` runs on a Python of its own, which must not import our packages.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    # Its stdout must not end up among the results.
    try:
        subprocess.run(command, input=content, stdout=sys.stderr, env=environment, timeout=3 * _TIMEOUT_S, check=True)
    except subprocess.SubprocessError as error:
        raise OSError(f"aws s3 cp: {error}") from error


def _put(url: str, content: bytes | None) -> str | None:
    """Send one PUT; returns the location it redirects to. Raises: OSError, HTTPException, ValueError."""
    import http.client  # noqa: PLC0415 - only failing tasks need it

    parts = urlsplit(url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    try:
        connection.request("PUT", f"{parts.path}?{parts.query}", content, {"Content-Type": "application/octet-stream"})
        answer = connection.getresponse()
        if answer.status >= 400:
            raise http.client.HTTPException(f"HTTP {answer.status}")
        return answer.headers["Location"]
    finally:
        connection.close()
