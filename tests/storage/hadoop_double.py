"""A stand-in for the program `hadoop fs`, over a local folder: `python hadoop_double.py ROOT fs -command …`.

It says what Hadoop 3.4.2 says, and takes paths for patterns as that does. The variable HADOOP_DOUBLE may hold what is
to go wrong: `deny`, `ticket`, `down`, `silent`, `half`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path

NOISE = "2026-01-05 10:00:00,123 WARN util.NativeCodeLoader: Unable to load native-hadoop library\n"
TICKET = (
    "{}: DestHost:destPort nn:8020 , LocalHost:localPort h/10.0.0.1:0. Failed on local exception: java.io.IOException: "
    "org.apache.hadoop.security.AccessControlException: Client cannot authenticate via:[TOKEN, KERBEROS]\n"
)


def main(root: Path, command: str, *arguments: str) -> int:
    flags = [each for each in arguments if re.fullmatch("-[A-Za-z]+", each)]
    paths = [each for each in arguments if each not in flags and not each.startswith("%")]
    name, fault = command.removeprefix("-"), os.environ.get("HADOOP_DOUBLE", "")
    sys.stderr.write(NOISE)
    if fault == "silent":
        time.sleep(60)
    if fault in ("deny", "ticket", "down"):
        said = {
            "deny": f'{name}: Permission denied: user=x, access=READ, inode="/f/a":root:root:drwx------\n',
            "ticket": TICKET.format(name),
            "down": f"{name}: Call From h/10.0.0.1 to nn:8020 failed on connection exception: Connection refused\n",
        }[fault]
        sys.stderr.write(said)
        return 1
    sys.stderr.write(NOISE)
    return {"cat": cat, "stat": stat, "ls": ls, "put": put, "mkdir": mkdir, "mv": mv, "rm": rm}[name](
        root, flags, paths
    )


def here(root: Path, pattern: str) -> Path:
    """The one file that a pattern matches; where a special character is not escaped, none."""
    path = re.sub(r"\\(.)|[*?\[\]{}]", lambda found: found[1] or "\0", pattern.partition("://")[2].partition("/")[2])
    return root / path.replace("\0", "(pattern)")


def missing(name: str, location: str) -> int:
    sys.stderr.write(f"{name}: `{location}': No such file or directory\n")
    return 1


def cat(root: Path, flags: list[str], paths: list[str]) -> int:
    path = here(root, paths[0])
    if not path.is_file():
        return missing("cat", paths[0])
    data = path.read_bytes()
    half = os.environ.get("HADOOP_DOUBLE") == "half"
    try:
        sys.stdout.buffer.write(data[: len(data) // 2] if half else data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(141)
    if half:
        sys.stderr.write("cat: Could not obtain block: BP-1:blk_1 file=/f/a\n")
    return int(half)


def stat(root: Path, flags: list[str], paths: list[str]) -> int:
    path = here(root, paths[0])
    if not path.exists():
        return missing("stat", paths[0])
    found = path.stat()
    size = 0 if path.is_dir() else found.st_size
    print(size, found.st_mtime_ns // 1_000_000, "directory" if path.is_dir() else "regular file")
    return 0


def ls(root: Path, flags: list[str], paths: list[str]) -> int:
    top = here(root, paths[0])
    if not top.exists():
        return missing("ls", paths[0])
    for path in [top] if top.is_file() else sorted(top.rglob("*")):
        kind = "d" if path.is_dir() else "-"
        name = f"hdfs://nn:8020/{path.relative_to(root)}"
        sys.stdout.write(
            f"{kind}rw-r--r--   1 researcher domain users {path.stat().st_size:>10} 2026-01-05 10:00 {name}\n"
        )
    return 0


def put(root: Path, flags: list[str], paths: list[str]) -> int:
    path = here(root, paths[0] if paths[0] != "-" else paths[1])
    if not path.parent.is_dir():
        return missing("put", paths[-1])
    path.write_bytes(sys.stdin.buffer.read())
    return 0


def mkdir(root: Path, flags: list[str], paths: list[str]) -> int:
    here(root, paths[0]).mkdir(parents=True, exist_ok=True)
    return 0


def mv(root: Path, flags: list[str], paths: list[str]) -> int:
    source, target = (here(root, path) for path in paths)
    if not source.exists():
        return missing("mv", paths[0])
    if target.is_file():
        sys.stderr.write(f"mv: `{paths[1]}': File exists\n")
        return 1
    source.rename(target / source.name if target.is_dir() else target)
    return 0


def rm(root: Path, flags: list[str], paths: list[str]) -> int:
    path = here(root, paths[0])
    if path.is_dir() and "-r" in flags:
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    elif "-f" not in flags:
        return missing("rm", paths[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[3:]))
