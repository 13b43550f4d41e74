"""Writes the files of `crawlmill new`: a first job, and its test."""

from __future__ import annotations

import keyword
import pkgutil
import re
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from crawlmill.cli.jobs import job_names
from crawlmill.errors import UsageError

__all__ = ["check_name", "write_job"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def check_name(name: str) -> None:
    """Check the name of a job.

    A script's folder is first on Python's import path, so a job called `json` would be imported instead of Python's
    module everywhere.

    Raises:
        UsageError: The name is not possible; the message says why.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"not a name for a job: {name!r}", expected="a lower-case identifier such as link_counts")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise UsageError(f"not a name for a job: {name} is a keyword of Python")
    if name in sys.stdlib_module_names or name in sys.builtin_module_names:
        raise UsageError(f"not a name for a job: {name} is a module of Python, which the job would hide")
    if name in job_names():
        raise UsageError(f"not a name for a job: `crawlmill run {name}` is another one")
    for package in ("mrjob", "crawlmill"):
        spec = find_spec(package)
        inside = pkgutil.iter_modules((spec and spec.submodule_search_locations) or ())
        if name == package or name in {module.name for module in inside}:
            raise UsageError(f"not a name for a job: {name} is a module of {package}")
    elsewhere = [place for place in sys.path if Path(place).resolve() != Path.cwd()]
    spec = PathFinder.find_spec(name, elsewhere)
    if spec is not None and spec.origin is not None:
        raise UsageError(f"not a name for a job: {name} is an installed module, which the job would hide")


def write_job(name: str, folder: Path) -> list[Path]:
    """Write NAME.py and test_NAME.py to a folder; returns their paths. Nothing is overwritten.

    Raises:
        UsageError: The name is not possible, or one of the files exists; then neither is written.
        OSError: A file cannot be written.
    """
    check_name(name)
    class_name = name.title().replace("_", "")
    files = {folder / f"{name}.py": _JOB, folder / f"test_{name}.py": _TEST}
    for path in files:
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path.name} exists: nothing is overwritten")
    written: list[Path] = []
    try:
        for path, template in files.items():
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(template.replace("NAME", name).replace("CLASS", class_name))
    except OSError:  # a job without its test is not wanted
        for path in written:
            path.unlink()
        raise
    return written


_JOB: Final = '''\
"""Count pages by media type."""

from crawlmill.mr import CountJob


class CLASS(CountJob):
    """Count pages by media type. (This text is the job's --help: say here what it does.)

    A result line is a media type and its count: "text/html"<TAB>1234
    """

    formats = ("warc", "arc")  # the files that it reads; others: wat, wet, metadata, text_data
    types = ("response",)  # the records that it gets; others: request, metadata, revisit, conversion, ...

    def process(self, record):
        """Yield keys and numbers for one record; the numbers of equal keys are added up."""
        if not record.holds_http:
            return
        # What a record has: record.uri, record.date, record.http.status, record.http.get("Server"), record.text(), ...
        yield record.http.media_type, 1


if __name__ == "__main__":
    CLASS.run()
'''

_TEST: Final = '''\
"""Tests of the job NAME. Run them with `python -m unittest test_NAME`, or with pytest."""

import gzip
import io
import json
import pathlib
import tempfile
import unittest

from NAME import CLASS

# What the job is given: the URI, media type and body of each page.
PAGES = [
    ("https://example.org/", "text/html; charset=utf-8", b"<title>Home</title><p>Welcome"),
    ("https://example.org/about", "text/html", b"<title>About</title>"),
    ("https://example.org/logo.png", "image/png", b"not really a picture"),
]


def response(uri, media_type, body):
    """The record of a page, as it is in a WARC file: a gzip member of its own."""
    http = f"HTTP/1.1 200 OK\\r\\nContent-Type: {media_type}\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n".encode()
    head = (
        "WARC/1.0\\r\\n"
        "WARC-Type: response\\r\\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\\r\\n"
        "WARC-Date: 2026-01-01T00:00:00Z\\r\\n"
        f"WARC-Target-URI: {uri}\\r\\n"
        "Content-Type: application/http; msgtype=response\\r\\n"
        f"Content-Length: {len(http + body)}\\r\\n\\r\\n"
    )
    return gzip.compress(head.encode() + http + body + b"\\r\\n\\r\\n")


def results_of(job, pages):
    """The keys and values that a job gives for these pages."""
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder, "pages.warc.gz")
        archive.write_bytes(b"".join(response(*page) for page in pages))
        inputs = pathlib.Path(folder, "pages.paths")
        inputs.write_text(f"{archive}\\n", encoding="utf-8")
        printed = io.BytesIO()
        ready = job(["-r", "inline", "--no-conf", "--no-progress", "--quiet", str(inputs)])
        ready.sandbox(stdout=printed, stderr=io.BytesIO())
        ready.run_job()
    pairs = (line.split("\\t") for line in printed.getvalue().decode().splitlines())
    return {json.loads(key): json.loads(value) for key, value in pairs}


class CLASSTest(unittest.TestCase):
    def test_pages_are_counted_by_media_type(self):
        self.assertEqual(results_of(CLASS, PAGES), {"text/html": 2, "image/png": 1})


if __name__ == "__main__":
    unittest.main()
'''
