"""`crawlmill serve`: a CDX API and replay of a folder's archives or cluster, by pywb; nothing is left of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
import zlib
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import HANG_S, PROJECT, wait_until
from tests.mr.helpers import run as run_job
from tests.pywb import pywb_python

REQUIRED = os.environ.get("CRAWLMILL_REQUIRE_ENGINES") == "1"
PAGES = [f"http://e.example/{n}" for n in range(5)]
STAMP = "20260105100000"
SCRIPTED = (
    b"<!DOCTYPE html><html><body style='background:#ffffff;height:2000px'><script src='/s.js'></script></body></html>"
)
SCRIPT = b"document.body.style.background = 'rgb(' + [10, 200, 90].join(',') + ')'"


@pytest.fixture
def pywb():
    return pywb_python()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(place, /, **query):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{place}?{urllib.parse.urlencode(query)}" if query else place, timeout=HANG_S) as answer:
        return answer.read()


class Served:
    """`crawlmill serve` as a user starts it; `api` and `root` are what it prints."""

    def __init__(self, temporary, *args):
        self.temporary, self.port = temporary, free_port()
        temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crawlmill", "serve", *map(str, args), "--port", str(self.port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        first, second = (self.process.stdout.readline().decode() for _ in range(2))
        self.root = f"http://127.0.0.1:{self.port}/crawl"
        if (first, second) != (f"CDX API: {self.root}/cdx\n", f"replay: {self.root}/*/URL\n"):
            self.process.kill()
            raise AssertionError((first, second, self.process.communicate()[1]))
        self.api = f"{self.root}/cdx"

    def children(self):
        found = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        return [int(line.split()[0]) for line in found.splitlines() if int(line.split()[1]) == self.process.pid]

    def stop(self, number):
        """The exit code after a signal; nothing of it is left."""
        children = self.children()
        assert children
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=HANG_S)
        assert b"Traceback" not in err
        for child in children:
            with pytest.raises(ProcessLookupError):
                os.kill(child, 0)
        assert list(self.temporary.iterdir()) == []
        return self.process.returncode


@pytest.fixture
def serve(tmp_path, pywb):
    started = []

    def serve(*args):
        started.append(Served(tmp_path / f"tmp{len(started)}", *args))
        return started[-1]

    yield serve
    for each in started:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGTERM)
            each.process.communicate(timeout=HANG_S)


@pytest.fixture
def folder(tmp_path):
    """A folder with a WARC in a folder of its own, a plain ARC, and what is no archive."""
    folder = tmp_path / "crawl"
    (folder / "warc").mkdir(parents=True)
    pages = [builders.response(url, b"<html>page %d</html>" % n) for n, url in enumerate(PAGES)]
    pages += [builders.response("http://e.example/run", SCRIPTED)]
    pages += [builders.response("http://e.example/s.js", SCRIPT, [("Content-Type", "application/javascript")])]
    (folder / "warc" / "a.warc.gz").write_bytes(builders.pack([builders.warcinfo(), *pages]))
    block = builders.http([("Content-Type", "text/html")], b"<html>old</html>")
    (folder / "old.arc.gz").write_bytes(builders.arc([("http://old.example/", block)]))
    (folder / "readme.txt").write_text("no archive")
    return folder


def tree(folder):
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def captures(served, url, **query):
    """What the API says: (timestamp, url, offset) of each capture."""
    lines = get(served.api, url=url, output="json", **query).decode().splitlines()
    return [(line["timestamp"], line["url"], line["offset"]) for line in map(json.loads, lines)]


def test_archives_are_indexed_and_replayed_and_nothing_is_left(serve, folder, run):
    before = tree(folder)
    served = serve(folder)
    code, out, _ = run("index", "--sort", folder / "warc" / "a.warc.gz")
    assert code == 0
    lines = [line.split(" ", 2) for line in out.decode().splitlines()]
    wanted = [(stamp, json.loads(text)["url"], json.loads(text)["offset"]) for _, stamp, text in lines]
    assert captures(served, "e.example", matchType="host") == wanted
    assert get(served.api, url="e.example", matchType="host", showNumPages="true", output="json")
    for number, url in enumerate(PAGES):
        assert get(f"{served.root}/{STAMP}id_/{url}") == b"<html>page %d</html>" % number
    assert get(f"{served.root}/20100106101235id_/http://old.example/") == b"<html>old</html>"
    assert served.stop(signal.SIGINT) == 130
    assert tree(folder) == before


def test_pywb_ends_with_a_launcher_that_is_killed(serve, folder):
    served = serve(folder)
    groups = served.children()
    assert groups
    served.process.kill()
    served.process.communicate(timeout=HANG_S)
    wait_until(lambda: not any(map(is_alive, groups)))


def is_alive(group):
    found = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in found.splitlines()]
    return any(int(number) == group and not state.startswith("Z") for number, state in lines)


def test_a_cluster_is_served_as_it_is_with_archives_beside(serve, folder, tmp_path):
    (tmp_path / "x.paths").write_text(f"{folder}/warc/a.warc.gz\n")
    job = PROJECT / "jobs" / "url_index.py"
    ended = run_job(
        job,
        "-r",
        "inline",
        "--dir-root",
        folder,
        "--lines",
        "2",
        "--output-dir",
        folder / "index",
        tmp_path / "x.paths",
    )
    assert ended.code == 0, ended.err
    served = serve(folder)
    pages = json.loads(get(served.api, url="e.example", matchType="host", showNumPages="true", pageSize=1))
    assert pages["pages"] > 1
    assert [url for _, url, _ in captures(served, "e.example/*", pageSize=100)][:5] == PAGES
    assert get(f"{served.root}/{STAMP}id_/{PAGES[3]}") == b"<html>page 3</html>"
    assert served.stop(signal.SIGTERM) == 143


def test_a_crawl_is_served_from_where_its_files_are(serve, tmp_path, run):
    assert run("sample", tmp_path / "s", "--pages", 20, "--files", 1, "--formats", "warc,index")[0] == 0
    served = serve("CC-SAMPLE-2026-01", "--base-url", tmp_path / "s")
    code, out, _ = run("lookup", "*.example.net", "--index", "CC-SAMPLE-2026-01", "--base-url", tmp_path / "s")
    assert code == 0
    lines = [json.loads(line.split(b" ", 2)[2]) for line in out.splitlines()]
    assert lines
    found = captures(served, "example.net", matchType="domain", allowFuzzy=0)
    assert [(url, offset) for _, url, offset in found] == [(line["url"], line["offset"]) for line in lines]
    good = next(line for line in out.splitlines() if b'"status": "200"' in line)
    stamp, url = good.split(b" ")[1].decode(), json.loads(good.split(b" ", 2)[2])["url"]
    assert get(f"{served.root}/{stamp}id_/{url}")


def test_a_page_and_its_script_run_in_a_browser(serve, folder, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        assert not REQUIRED, "no Chromium here (apt-get install chromium)"
        pytest.skip("no Chromium here")
    served = serve(folder)
    picture = tmp_path / "page.png"
    subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-proxy-server",
            "--hide-scrollbars",
            "--window-size=400,300",
            f"--user-data-dir={tmp_path}/profile",
            "--virtual-time-budget=10000",
            f"--screenshot={picture}",
            f"{served.root}/{STAMP}/http://e.example/run",
        ],
        capture_output=True,
        timeout=HANG_S,
        check=True,
    )
    # The page is in a frame of pywb's, below its banner.
    assert pixel(picture.read_bytes(), 200, 280) == bytes([10, 200, 90])


def pixel(png, x, y):
    """A pixel of a PNG of 8 bits a channel. Spec: PNG (ISO/IEC 15948), section 9."""
    width, step = int.from_bytes(png[16:20], "big"), {2: 3, 6: 4}[png[25]]
    packed, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        packed += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    data, above = zlib.decompress(packed), bytearray(width * step)
    for row in range(y + 1):
        start = row * (width * step + 1)
        line = bytearray(data[start + 1 : start + 1 + width * step])
        for i in range(len(line)):
            left, up = line[i - step] if i >= step else 0, above[i]
            corner = above[i - step] if i >= step else 0
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[i] = line[i] + (0, left, up, (left + up) // 2, nearest)[data[start]] & 255
        above = line
    return bytes(above[x * step : x * step + 3])


def test_mistakes_are_one_line(run, tmp_path, folder, pywb, monkeypatch):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "x.warc.gz").write_bytes(b"no archive")
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "x.warc.gz").write_bytes(builders.pack([builders.warcinfo()]))
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        for args, said in (
            ((tmp_path / "empty",), "no archive and no cluster"),
            ((tmp_path / "text",), "no archive and no cluster"),
            ((tmp_path / "info",), "hold no captures"),
            ((tmp_path / "missing",), "not a folder"),
            ((folder, "--port", port), "cannot listen on 127.0.0.1"),
            ((folder, "--bind", "a..b"), ": not a host name"),
            ((folder, "--port", "x"), "expected"),
            ((folder, "--port", "70000"), "cannot listen"),
        ):
            more = () if "--port" in args else ("--port", free_port())
            code, out, err = run("serve", *args, *more)
            assert (code, out, err.count("\n")) == (1, b"", 1), err
            assert said in err


def test_without_pywb_one_line_says_how_to_get_it(run, folder, monkeypatch, tmp_path):
    monkeypatch.setattr("crawlmill.serving.program.find_spec", lambda _: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.delenv("CRAWLMILL_PYWB", raising=False)
    code, _, err = run("serve", folder)
    assert (code, err.count("\n")) == (1, 1)
    assert "pywb is not installed: run `make`" in err
    monkeypatch.setenv("CRAWLMILL_PYWB", str(tmp_path / "none"))
    assert "names no program" in run("serve", folder)[2]


def test_a_server_that_does_not_start_says_why(run, folder, monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho it is broken; exit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("CRAWLMILL_PYWB", str(program))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    code, _, err = run("serve", folder, "--port", free_port())
    assert (code, err.count("\n")) == (1, 2)
    assert err.endswith("pywb did not start: it is broken\n")
    assert list(Path(tmp_path, "t").iterdir()) == []
