"""Measures one command with all its child processes: CPU, wall time, peak memory. Writes one JSON object to a file.

    python bench/measure.py RESULT.json COMMAND [ARGUMENT…]

| field | meaning |
|---|---|
| `wall_s` | from the start to the end of the command itself |
| `cpu_s` | user and system time of the command and all its descendants, those that outlive it included |
| `rss_bytes` | the largest sum of resident memory over the process tree (a page that two share counts twice) |
| `pss_bytes` | the sum of proportional memory when that was seen (a page that two share counts half for each) |
| `load` | load average of the last minute, before the start |
| `exit_code` | of the command; negative: the signal that ended it |

Memory is sampled 20 times a second; the peak of a single process, as recorded by the kernel, is used if it is larger.

This is a separate process, so that it waits for the command's processes only. On Linux it adopts orphans
(PR_SET_CHILD_SUBREAPER), which have ten seconds to end. Other systems lack this: CPU is that of the descendants that
were waited for, and memory is null.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["ProcessTree", "measure"]

_INTERVAL_S = 0.05
_GRACE_S = 10.0
_NOTABLE = 1.02  # proportional memory is slow to read: only if resident memory has grown by this factor
_PR_SET_CHILD_SUBREAPER = 36
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LINUX = sys.platform.startswith("linux")


class ProcessTree:
    """The descendants of a process, from /proc. The parent of each process is looked up once."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._ours: set[int] = set()
        self._others: set[int] = {0}

    def members(self) -> frozenset[int]:
        """The pids of all current descendants, including zombies."""
        names = os.listdir("/proc")  # noqa: PTH208  20 times a second: no objects for a hundred other processes
        there = {int(name) for name in names if name.isdigit()} - {self._root}
        self._ours &= there
        self._others &= there | {0}
        unknown = {pid: _parent(pid) for pid in there - self._ours - self._others}
        known = True
        while known:
            ours = {pid for pid, parent in unknown.items() if parent == self._root or parent in self._ours}
            others = {pid for pid, parent in unknown.items() if parent in self._others}
            self._ours |= ours
            self._others |= others
            known = bool(ours or others)
            # A process whose parent was started while /proc was listed is found next time.
            unknown = {pid: parent for pid, parent in unknown.items() if pid not in ours | others}
        return frozenset(self._ours)

    def resident(self) -> int:
        """Bytes of resident memory, summed over the tree. Spec: proc_pid_statm(5), second field, in pages."""
        return sum(int((_read(pid, "statm").split() or [b"0", b"0"])[1]) * _PAGE_BYTES for pid in self.members())

    def proportional(self) -> int:
        """Bytes of proportional memory, summed over the tree. Spec: proc_pid_smaps(5), `Pss` in kB."""
        return sum(
            int(line.split()[1]) * 1024
            for pid in self.members()
            for line in _read(pid, "smaps_rollup").splitlines()
            if line.startswith(b"Pss:")
        )


def _parent(pid: int) -> int:
    # The name, in parentheses, may hold anything; state and parent follow it (proc_pid_stat(5)).
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 else -1


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended in the meantime
        return b""


class _Watch(threading.Thread):
    """Samples the memory of the process tree, and kills processes that outlive the command for too long."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.rss_bytes = self.pss_bytes = 0
        self._tree = ProcessTree(os.getpid())
        self._over = threading.Event()
        self._deadline: float | None = None

    def run(self) -> None:
        while not self._over.wait(_INTERVAL_S):
            self._look()
            if self._deadline is not None and time.monotonic() > self._deadline:
                self.end_all()

    def _look(self) -> None:
        resident = self._tree.resident()
        if resident > self.rss_bytes * _NOTABLE:
            self.pss_bytes = self._tree.proportional() or self.pss_bytes
        self.rss_bytes = max(self.rss_bytes, resident)

    def command_ended(self) -> None:
        self._deadline = time.monotonic() + _GRACE_S

    def end_all(self) -> None:
        for pid in self._tree.members():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def stop(self) -> None:
        self._over.set()
        self.join()


def measure(command: list[str]) -> dict[str, Any]:
    """Run a command to its end and return its measurements. All children of this process count as the command's."""
    load = os.getloadavg()[0]
    watch = None
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        watch = _Watch()
        watch.start()
    start = time.monotonic()
    process = subprocess.Popen(command, process_group=0)
    _end_with_us(process, watch)
    cpu_s, wall_s, exit_code, peak_kb = 0.0, 0.0, 0, 0
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        cpu_s += usage.ru_utime + usage.ru_stime
        peak_kb = max(peak_kb, usage.ru_maxrss)
        if pid == process.pid:
            wall_s = time.monotonic() - start
            exit_code = os.waitstatus_to_exitcode(status)
            if watch is not None:
                watch.command_ended()
    process.returncode = exit_code  # waited for here, not by subprocess
    result: dict[str, Any] = {"exit_code": exit_code, "wall_s": wall_s, "cpu_s": cpu_s, "load": load}
    if watch is not None:
        watch.stop()
        result |= {"rss_bytes": max(watch.rss_bytes, peak_kb * 1024), "pss_bytes": watch.pss_bytes or None}
    return {"rss_bytes": None, "pss_bytes": None} | result


def _end_with_us(process: subprocess.Popen[bytes], watch: _Watch | None) -> None:
    """If measuring is interrupted, end the command and its children too."""

    def end(number: int, _frame: FrameType | None) -> None:
        process.kill()
        if watch is not None:
            watch.end_all()
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(measure(sys.argv[2:])))
