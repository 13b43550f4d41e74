"""Asks pywb's CDX server for the captures of URLs, one after another over one kept connection.

    python cdx_server_loop.py FOLDER URLS           prints {"keys": URLs that have captures, "total": captures}

FOLDER holds a `config.yaml` whose collection `crawl` is the cluster. The server (`wayback`, as it comes) is started for
it and stopped at the end. Its start is part of the measurement; compared with ten thousand answers it is short.
"""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    sys.exit("the server does not answer")


def ask(port: int, urls: list[str]) -> dict[str, int]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    keys = total = 0
    for url in urls:
        connection.request("GET", f"/crawl/cdx?url={quote(url, safe='')}&output=json&allowFuzzy=0")
        lines = connection.getresponse().read().count(b"\n")
        keys, total = keys + (lines > 0), total + lines
    return {"keys": keys, "total": total}


if __name__ == "__main__":
    folder, urls = Path(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")[:-1]
    port = free_port()
    program = Path(sys.executable).with_name("wayback")
    with subprocess.Popen(
        [program, "-p", str(port), "-b", "127.0.0.1"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        wait_for(port)
        print(json.dumps(ask(port, urls)))
        server.terminate()
