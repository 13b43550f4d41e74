"""The input of all benchmarks: one sample crawl, made once, and of each of its kinds as many files as make the size.

    bench/.data/SCALE-PAGES-FILES-EDITION/crawl-data/…      what `crawlmill sample` writes
                                          FILE.members      lengths of a file's gzip members, see loops/inflate_loop.py
                                          sizes.json        of each file: bytes, inflated bytes, members
                                          lists/NAME.paths  input lists, one absolute path a line
                                          pairs-N           the pairs that counting the words of N WET files gives
                lines-N                                     lines to be sorted

Sizes and lengths are found by zlib alone. `sizes.json` is written last: a folder without it is made anew.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crawlmill.sample import write_sample

__all__ = ["LINE_BYTES", "SCALES", "Corpus", "Scale", "Workload", "member_lengths", "whole_files"]

_CHUNK = 1 << 16  # what follows a member is copied at its end: small chunks, small copies
_SEED = 20260101
LINE_BYTES = 250
_EDITION = 2  # raised when the sample crawl changes, so that it is made anew


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the inputs are: the crawl, the compressed megabytes wanted of each kind, and the lines to be sorted."""

    name: str
    pages: int
    files: int
    megabytes: dict[str, float]
    lines: int


# A page of the realistic sample makes about 32 KB of WARC, 6.7 KB of WAT and 11 KB of WET: some 105 records per MB of
# WARC, and 43,000 different words per MB of WET in the first 8 MB, as real crawls have. The sizes of `full` are those
# that the goals are about; `medium` takes a third of the time to make, and only its WAT is smaller; `small` is for
# trying the benchmark out, and its ratios say little.
SCALES = {
    "full": Scale("full", 38_000, 32, {"warc": 400, "wat": 250, "wet": 70}, 10_000_000),
    "medium": Scale("medium", 13_600, 32, {"warc": 400, "wat": 88, "wet": 74}, 10_000_000),
    "small": Scale("small", 1_800, 6, {"warc": 20, "wat": 12, "wet": 4}, 200_000),
}


@dataclass(frozen=True, slots=True)
class Workload:
    """Some files of one kind, and their sizes in bytes; a record is a member in them."""

    kind: str
    paths: tuple[str, ...]
    input_list: str
    compressed: int
    inflated: int
    records: int

    def __str__(self) -> str:
        return (
            f"{self.kind.upper()}, {len(self.paths)} files, {self.compressed / 1e6:,.1f} MB compressed, "
            f"{self.inflated / 1e6:,.1f} MB inflated, {self.records:,} records"
        )


class Corpus:
    """The crawl of a scale, below the folder `data`; made on first use."""

    def __init__(self, data: Path, scale: Scale) -> None:
        self.data, self.scale = data, scale
        self._folder = data / f"{scale.name}-{scale.pages}-{scale.files}-{_EDITION}"
        self._sizes: dict[str, dict[str, int]] | None = None

    def workload(self, kind: str, *, megabytes: float | None = None) -> Workload:
        """The files of one kind that come nearest to the size the scale wants: an even number, for two cores.

        `megabytes` wants another size, if that is less.
        """
        sizes = self._made()
        paths = [path for path in sizes if f"/{kind}/" in path]
        wanted = min(self.scale.megabytes[kind], megabytes or self.scale.megabytes[kind])
        return self._workload(kind, paths[: whole_files([sizes[path]["compressed"] for path in paths], wanted * 1e6)])

    def samples_file(self, name: str) -> Path:
        """Where the samples of a profile are written."""
        return self._folder / f"{name}.samples.json"

    def lines(self) -> Path:
        """A file of lines as those of a CDXJ file, of `LINE_BYTES` each, in no order."""
        file = self._folder.parent / f"lines-{self.scale.lines}"
        if not file.exists():
            _write_whole(file, _lines(self.scale.lines))
        return file

    def made_by(self, name: str, command: list[str]) -> Path:
        """What a command writes to stdout, kept under a name."""
        file = self._folder / name
        if not file.exists():
            sys.stderr.write(f"making {file}, once\n")
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                _write_whole(file, iter(partial(process.stdout.read, 1 << 20), b""), process.wait)
        return file

    def tiny(self) -> Workload:
        """One WARC file of a few pages."""
        folder = self._folder.parent / "tiny"
        if not (folder / "answers.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            write_sample(folder, pages=5, files=1, seed=_SEED, formats=("warc",))
        path = next(folder.rglob("*.warc.gz"))
        lengths, inflated = member_lengths(path)
        return Workload("warc", (str(path),), self._list("tiny", [str(path)]), sum(lengths), inflated, len(lengths))

    def _workload(self, kind: str, names: list[str]) -> Workload:
        sizes = [self._made()[name] for name in names]
        paths = [str(self._folder / name) for name in names]
        return Workload(
            kind, tuple(paths), self._list(f"{kind}-{len(paths)}", paths),
            *(sum(size[what] for size in sizes) for what in ("compressed", "inflated", "members")),
        )  # fmt: skip

    def _list(self, name: str, paths: list[str]) -> str:
        file = self._folder / "lists" / f"{name}.paths"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{path}\n" for path in paths))
        return str(file)

    def _made(self) -> dict[str, dict[str, int]]:
        if self._sizes is None:
            file = self._folder / "sizes.json"
            if not file.exists():
                self._make(file)
            self._sizes = json.loads(file.read_text())
        return self._sizes

    def _make(self, sizes_file: Path) -> None:
        scale = self.scale
        sys.stderr.write(f"making the {scale.name} crawl ({scale.pages:,} pages) in {self._folder}, once\n")
        shutil.rmtree(self._folder, ignore_errors=True)
        write_sample(self._folder, pages=scale.pages, files=scale.files, seed=_SEED, realistic=True, progress=_tell)
        sizes: dict[str, dict[str, int]] = {}
        for path in sorted(self._folder.glob("crawl-data/*/segments/*/*/*.gz")):
            lengths, inflated = member_lengths(path)
            name = str(path.relative_to(self._folder))
            sizes[name] = {"compressed": sum(lengths), "inflated": inflated, "members": len(lengths)}
            if sys.byteorder == "big":
                lengths.byteswap()
            Path(f"{path}.members").write_bytes(lengths.tobytes())
        unfinished = sizes_file.with_suffix(".part")
        unfinished.write_text(json.dumps(sizes, indent=1))
        unfinished.replace(sizes_file)


def _write_whole(file: Path, pieces: Iterable[bytes], ended: Callable[[], int] = lambda: 0) -> None:
    """Write a file that is there only if it is whole and what makes it has `ended` with 0."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as target:
        target.writelines(pieces)
    if code := ended():
        sys.exit(f"{file}: what makes it ended with {code}")
    unfinished.replace(file)


def _lines(count: int) -> Iterator[bytes]:
    """Lines of `LINE_BYTES`: a urlkey of one of many hosts, a time, and something of which no two are alike."""
    dice = random.Random(_SEED)
    for _ in range(count):
        number = dice.getrandbits(60)
        host, page = number % 50_000, number >> 30
        head = b'%c%c,host%d)/page/%d 20260101000000 {"' % (97 + host % 26, 97 + host % 23, host, page)
        yield head + dice.randbytes(LINE_BYTES // 2).hex().encode()[: LINE_BYTES - 3 - len(head)] + b'"}\n'


def whole_files(sizes: list[int], wanted: float) -> int:
    """How many of the files, counted from the first, come nearest to the wanted sum: an even number, at least two."""
    sums = {number: sum(sizes[:number]) for number in range(2, len(sizes) + 1, 2)}
    return min(sums, key=lambda number: abs(sums[number] - wanted))


def member_lengths(path: Path) -> tuple[array[int], int]:
    """The compressed length of each gzip member of a file, by zlib alone, and the inflated bytes of all."""
    lengths = array("Q")
    inflated = 0
    with path.open("rb") as stream:
        inflater, length = zlib.decompressobj(31), 0
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            while chunk:
                inflated += len(inflater.decompress(chunk))
                rest = inflater.unused_data
                length += len(chunk) - len(rest)
                chunk = rest
                if inflater.eof:
                    lengths.append(length)
                    inflater, length = zlib.decompressobj(31), 0
    return lengths, inflated


def _tell(written: int, pages: int) -> None:
    if written % 1000 == 0 or written == pages:
        sys.stderr.write(f"\r{written:,} of {pages:,} pages" + "\n" * (written == pages))
