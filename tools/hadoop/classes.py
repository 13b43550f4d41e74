"""An archive of the classes that Hadoop's processes load, so that not each of them parses and verifies them again.

Java calls it class data sharing: `java -XX:SharedArchiveFile` maps the archive into memory, if the jars that it was
made of come first in the class path. It takes a third off the processor time of a small job. While there is none,
processes write down the names of the classes that they load, and it is made of those.
"""

from __future__ import annotations

import fcntl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ClassArchive"]


class ClassArchive:
    """The archive for the jars of one folder and one version of Java; it lies beside the folder."""

    def __init__(self, jars: Path, java: Path, version: str) -> None:
        self._jars, self._java = jars, java
        self._path = jars.with_name(f"{jars.name}-java-{version}.jsa")

    @property
    def exists(self) -> bool:
        """Whether it has been made."""
        return self._path.exists()

    def option(self, lists: Path) -> str:
        """What processes are told: to use the archive, or else to write what they load into files in this folder."""
        if self.exists:
            return f"-XX:SharedArchiveFile={self._path}"
        return f"-XX:DumpLoadedClassList={lists}/%p"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within this block nobody else makes it."""
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def make(self, lists: Path, log: Path) -> bool:
        """Make it of the classes that the files in this folder name; returns whether that went well.

        Java leaves out those that it cannot archive, such as those of signed jars.
        """
        names = {line for each in lists.iterdir() for line in _whole_lines(each) if not line.startswith("@")}
        (chosen := lists / "all").write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")
        made = self._path.with_suffix(".tmp")
        command: list[str | Path] = [
            self._java,
            "-Xshare:dump",
            f"-XX:SharedClassListFile={chosen}",
            f"-XX:SharedArchiveFile={made}",
            "-cp",
            f"{self._jars}/*",
        ]
        with log.open("wb") as output:
            if subprocess.run(command, stdout=output, stderr=output, check=False).returncode:
                made.unlink(missing_ok=True)
                return False
        made.replace(self._path)
        return True


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file that somebody may still be writing."""
    return path.read_text("utf-8").rpartition("\n")[0].splitlines()
