"""Copies records in one process, for `crawlmill copy`, and resumes an earlier run.

The work is done in a local folder: the output folder itself or, if that is elsewhere, a cache folder, from which each
file is uploaded once it is whole. There `plan.json` says what to copy, and for each output file there are

    NAME.part           the bytes so far of each of its archives
    NNNNN.journal       a line per finished input: its ledger row, its index lines, and the sizes of the archives

Bytes that are not in the journal are cut off by the next run, so an interruption, even kill -9, costs at most the input
that was being written. An input that could not be read (`not-found`, `denied`, `unavailable`, `changed`) is tried again
by the next run: its output file is rewritten, using the records already in it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from crawlmill.codecs.inflate import inflate_whole
from crawlmill.errors import ACCESS_REASONS, CrawlmillError, UsageError
from crawlmill.extraction.headers import RunInfo
from crawlmill.extraction.journal import Done, Journal
from crawlmill.extraction.listed import listed_of
from crawlmill.extraction.members import prove
from crawlmill.extraction.output import OutputFile, file_stem
from crawlmill.extraction.plan import PlannedFile, plan_files
from crawlmill.extraction.ranges import Fetched, fetch_ranges
from crawlmill.formats.reader import READ_OPTIONS
from crawlmill.inputs.lists import Input
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import join, local_path

__all__ = ["WORK", "Copy"]

WORK: Final = "_copy"
"""The folder, within an output folder, of what a copy knows of itself."""

_PIECE: Final = 1 << 20


class Copy:
    """One copy: a list of records, and their destination.

    Args:
        inputs: The records, in ledger order.
        folder: The destination, at any location.
        storage: Reads the records and writes the folder.
        prefix, max_size, notes: See `plan_files` and `OutputFile`.
        sources: The lists, as named in the output files.
        cache: The folder for the work if the destination is elsewhere.

    Raises:
        UsageError: The folder has other contents, another copy is using it, or a line does not name a record.
    """

    def __init__(
        self,
        inputs: Sequence[Input],
        folder: str,
        storage: Storage,
        *,
        prefix: str,
        max_size: int,
        notes: bool,
        sources: Sequence[str],
        cache: Path,
    ) -> None:
        self._inputs, self._folder, self._storage = inputs, folder, storage
        self._prefix, self._notes = prefix, notes
        self._remote = is_remote(folder)
        self._files = plan_files(list(enumerate(inputs)), max_size, notes=notes)
        named = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._work = cache / "copy" / named if self._remote else local_path(folder) / WORK
        self._out = self._work if self._remote else local_path(folder)
        self._stack = ExitStack()
        digest = hashlib.sha256(json.dumps([prefix, max_size, notes]).encode())
        for item in inputs:
            digest.update(json.dumps([item.given, item.location, item.offset, item.length]).encode() + b"\n")
        self._info = self._begin({"copy": digest.hexdigest()}, RunInfo.now(sources))

    def close(self) -> None:
        """Release the folder for other copies."""
        self._stack.close()

    def rows(self) -> Iterator[tuple[int, LedgerRow]]:
        """Copy what is missing; yields the row of each input, with its index among the inputs."""
        for file in self._files:
            yield from self._copy(file)

    def _begin(self, plan: dict[str, Any], info: RunInfo) -> RunInfo:
        """Check that the folder belongs to this copy, and lock it; returns the RunInfo of the run that began it."""
        place = self._work / "plan.json"
        if not place.exists() and (self._remote or self._out.exists()) and self._is_used():
            raise UsageError("the output folder has something else in it", source=redact(self._folder))
        try:
            self._work.mkdir(parents=True, exist_ok=True)
            lock = self._stack.enter_context((self._work / "lock").open("ab"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UsageError("another copy is at work on this folder", source=redact(self._folder)) from None
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK):
                self.close()
                raise UsageError(f"cannot write there: {error.strerror}", source=redact(self._folder)) from error
        if not place.exists():
            with _replacing(place) as file:
                file.write(json.dumps({**plan, "info": info.label(0)}).encode())
            return info
        try:
            said = json.loads(place.read_bytes())
        except ValueError:
            self.close()
            raise UsageError("what an earlier run has noted is damaged: use a new folder", source=str(place)) from None
        if said["copy"] != plan["copy"]:
            self.close()
            raise UsageError(
                "the output folder has the records of another list, or of other options", source=redact(self._folder)
            )
        return RunInfo.of_label(said["info"])[1]

    def _is_used(self) -> bool:
        if self._remote:
            return next(iter(self._storage.list(self._folder)), None) is not None
        return any(path.name != WORK for path in self._out.iterdir())

    def _copy(self, file: PlannedFile[int]) -> Iterator[tuple[int, LedgerRow]]:
        stem = file_stem(self._prefix, file.number)
        final, begun = self._work / f"{file.number:05}.done", self._work / f"{file.number:05}.journal"
        before = Journal.read(final)
        if len(before) < len(file.inputs):
            before = []
        elif not any(_may_be_there_now(done) for done in before):
            yield from ((known, done.row) for (known, _), done in zip(file.inputs, before, strict=True))
            return
        try:
            yield from self._write(file, stem, begun, before)
        except _GoneError:  # what is there is all that can be had now
            self._resumed(stem, [])
            begun.unlink()
            yield from ((known, done.row) for (known, _), done in zip(file.inputs, before, strict=True))
            return
        final.unlink(missing_ok=True)  # it has places in the files that are replaced now
        self._publish(stem)
        begun.replace(final)

    def _write(
        self, file: PlannedFile[int], stem: str, begun: Path, before: list[Done]
    ) -> Iterator[tuple[int, LedgerRow]]:
        """Write the parts of an output file; `before` are the results for its inputs in the existing file."""
        done = self._resumed(stem, [] if before else Journal.read(begun))
        there = done[-1].sizes if done else {}
        with (
            OutputFile(stem, self._open, self._info, notes=self._notes, there=there) as output,
            # Rewrite the journal, since a line cut off by a kill would be in the way.
            Journal(begun.with_suffix(".new"), done) as journal,
        ):
            begun.with_suffix(".new").replace(begun)
            for each in done:
                output.index(each.lines)
            yield from ((known, each.row) for (known, _), each in zip(file.inputs, done, strict=False))
            left = file.inputs[len(done) :]
            places = self._places(left, before)
            fetched = fetch_ranges(
                [pair for pair, place in zip(left, places, strict=True) if place is None], self._storage
            )
            was_ok = {known for (known, _), each in zip(file.inputs, before, strict=False) if each.row.outcome == "ok"}
            for (known, item), place in zip(left, places, strict=True):
                data: Fetched | None = self._kept(item, place) if place is not None else None
                if data is None:
                    source = fetched if place is None else fetch_ranges([(known, item)], self._storage)
                    _, _, data = next(source)
                listed = listed_of(item)
                with closing(prove(item, listed, data, self._storage, READ_OPTIONS)) as proven:
                    if known in was_ok and proven.row.lost:
                        raise _GoneError
                    lines = output.add(item, listed, proven)
                output.flush()
                journal.add(Done(proven.row, lines, output.sizes))
                output.index(lines)
                yield known, proven.row

    def _resumed(self, stem: str, done: list[Done]) -> list[Done]:
        """The finished inputs of an output file, whose parts are cut to them; empty if the parts are incomplete."""
        sizes = done[-1].sizes if done else {}
        if any(_size_of(self._part(name)) < size for name, size in sizes.items()):
            done, sizes = [], {}
        for path in self._work.glob(f"{stem}.*.part"):
            size = sizes.get(path.name.removesuffix(".part"), 0)
            if size:
                os.truncate(path, size)
            else:
                path.unlink()
        return done

    @staticmethod
    def _places(inputs: list[tuple[int, Input]], before: list[Done]) -> list[tuple[str, int] | None]:
        """The places of inputs in the existing output file: its name and the offset; None if it lacks them."""
        places: list[tuple[str, int] | None] = [None] * len(inputs)
        sizes: dict[str, int] = {}
        for number, done in enumerate(before):
            grown = [name for name, size in done.sizes.items() if size != sizes.get(name)]
            item = inputs[number][1]
            if done.row.outcome == "ok" and len(grown) == 1 and grown[0] in sizes:
                places[number] = (grown[0], sizes[grown[0]])
            if places[number] and done.sizes[grown[0]] - sizes[grown[0]] < (item.length or 0):
                places[number] = None
            sizes = done.sizes
        return places

    def _kept(self, item: Input, place: tuple[str, int]) -> bytes | None:
        """The bytes of an input from the existing output file, if they are one of its members; else None."""
        name, offset = place
        try:
            data = self._storage.read_range(join(self._folder, name), offset, item.length or 0)
        except CrawlmillError:
            return None
        return data if inflate_whole(data) is not None else None

    def _part(self, name: str) -> Path:
        return self._work / f"{name}.part"

    def _open(self, name: str) -> AbstractContextManager[BinaryIO]:
        return self._part(name).open("ab")

    def _publish(self, stem: str) -> None:
        """Put the files in their places, the index last."""
        for path in sorted(self._work.glob(f"{stem}.*.part"), key=lambda path: path.name.endswith(".cdxj.part")):
            name = path.name.removesuffix(".part")
            if self._remote:
                with path.open("rb") as source, self._storage.write(join(self._folder, name)) as file:
                    shutil.copyfileobj(source, file, _PIECE)
                path.unlink()
            else:
                path.replace(self._out / name)


class _GoneError(Exception):
    """A record that was copied before can no longer be read."""


def _may_be_there_now(done: Done) -> bool:
    """Whether another attempt may be able to read an input that could not be read."""
    return any(reason in ACCESS_REASONS and not _is_other_page(done.row) for reason in done.row.lost)


def _is_other_page(row: LedgerRow) -> bool:
    """Whether it was read, and is not the listed record."""
    return any(problem.reason == "not-found" and problem.offset is not None for problem in row.problems)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return -1


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that appears at the end of the block."""
    beside = path.with_suffix(".new")
    with beside.open("wb") as file:
        yield file
    beside.replace(path)
