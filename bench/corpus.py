"""The input of all benchmarks: one sample crawl, generated once, and for each kind as many of its files as needed.

    bench/.data/SCALE-PAGES-FILES-EDITION/crawl-data/…      the output of `crawlmill sample`
                                          FILE.members      lengths of a file's gzip members, see loops/inflate_loop.py
                                          sizes.json        for each file: bytes, inflated bytes, members
                                          lists/NAME.paths  input lists, one absolute path a line
                                          pairs-N           the pairs that counting the words of N WET files gives
                lines-N                                     lines to be sorted

Sizes and lengths are determined by zlib alone. `sizes.json` is written last: a folder without it is generated again.
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
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import zstandard

from crawlmill.sample import write_sample

__all__ = ["LINE_BYTES", "SCALES", "Corpus", "Scale", "Workload", "member_lengths", "whole_files"]

_CHUNK = 1 << 16  # data after a member is copied at its end: small chunks, small copies
_SEED = 20260101
LINE_BYTES = 250
_EDITION = 2  # incremented when the sample crawl changes, so that it is generated again


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of the inputs: the crawl, the compressed megabytes of each kind, and the lines to sort."""

    name: str
    pages: int
    files: int
    megabytes: dict[str, float]
    lines: int


# A page of the realistic sample makes about 32 KB of WARC, 6.7 KB of WAT and 11 KB of WET: some 105 records per MB of
# WARC, and 43,000 different words per MB of WET in the first 8 MB, as in real crawls. The sizes of `full` are those of
# the goals; `medium` takes a third of the time to generate, and only its WAT is smaller; `small` is for trying out the
# benchmark, and its ratios mean little.
SCALES = {
    "full": Scale("full", 38_000, 32, {"warc": 400, "wat": 250, "wet": 70}, 10_000_000),
    "medium": Scale("medium", 13_600, 32, {"warc": 400, "wat": 88, "wet": 74}, 10_000_000),
    "small": Scale("small", 1_800, 6, {"warc": 20, "wat": 12, "wet": 4}, 200_000),
}


@dataclass(frozen=True, slots=True)
class Workload:
    """Some files of one kind, and their sizes in bytes; records are counted as members."""

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
    """The crawl of a scale, in the folder `data`; generated on first use."""

    def __init__(self, data: Path, scale: Scale) -> None:
        self.data, self.scale = data, scale
        self._folder = data / f"{scale.name}-{scale.pages}-{scale.files}-{_EDITION}"
        self._sizes: dict[str, dict[str, int]] | None = None

    def workload(self, kind: str, *, megabytes: float | None = None) -> Workload:
        """The files of one kind with about the total size that the scale asks for: an even number, for two cores.

        `megabytes` asks for another size, if that is less.
        """
        sizes = self._made()
        paths = [path for path in sizes if f"/{kind}/" in path]
        wanted = min(self.scale.megabytes[kind], megabytes or self.scale.megabytes[kind])
        return self._workload(kind, paths[: whole_files([sizes[path]["compressed"] for path in paths], wanted * 1e6)])

    def of_all_kinds(self, megabytes: float) -> Workload:
        """WARC files with the WAT and WET files made of them, of about that total size; the list names WARC files."""
        sizes = self._made()
        crawl = [[path, *_siblings(path)] for path in sizes if "/warc/" in path]
        totals = [sum(sizes[path]["compressed"] for path in paths) for paths in crawl]
        chosen = crawl[: whole_files(totals, megabytes * 1e6)]
        whole = self._workload("crawl", [path for paths in chosen for path in paths])
        return replace(whole, input_list=self._list(f"warc-of-{len(chosen)}", list(whole.paths[::3])))

    def as_zstd(self, workload: Workload) -> Workload:
        """The same records in files of Zstandard frames, one for each record, with checksums."""
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        paths = [Path(path.removesuffix(".gz") + ".zst") for path in workload.paths]
        for source, path in zip(workload.paths, paths, strict=True):
            if not path.exists():
                _write_whole(path, map(compressor.compress, _members(Path(source))))
        input_list = self._list(f"zstd-{len(paths)}", [str(path) for path in paths])
        size = sum(path.stat().st_size for path in paths)
        return replace(workload, paths=tuple(map(str, paths)), input_list=input_list, compressed=size)

    def samples_file(self, name: str) -> Path:
        """The path for the samples of a profile."""
        return self._folder / f"{name}.samples.json"

    def lines(self) -> Path:
        """A file of unsorted lines like those of a CDXJ file, of `LINE_BYTES` each."""
        file = self._folder.parent / f"lines-{self.scale.lines}"
        if not file.exists():
            _write_whole(file, _lines(self.scale.lines))
        return file

    def made_by(self, name: str, command: list[str]) -> Path:
        """The stdout of a command, cached under a name."""
        file = self._folder / name
        if not file.exists():
            sys.stderr.write(f"making {file}, once\n")
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                _write_whole(file, iter(partial(process.stdout.read, 1 << 20), b""), process.wait)
        return file

    def tiny(self) -> Workload:
        """A WARC file with a few pages."""
        folder = self._folder.parent / "tiny"
        if not (folder / "answers.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            write_sample(folder, pages=5, files=1, seed=_SEED, formats=("warc",))
        return self.of_file(next(folder.rglob("*.warc.gz")), "tiny")

    def of_file(self, path: Path, name: str) -> Workload:
        """One WARC file, whose input list has this name."""
        lengths, inflated = member_lengths(path)
        Path(f"{path}.members").write_bytes(lengths.tobytes())
        return Workload("warc", (str(path),), self._list(name, [str(path)]), sum(lengths), inflated, len(lengths))

    def _workload(self, kind: str, names: list[str]) -> Workload:
        sizes = [self._made()[name] for name in names]
        paths = [str(self._folder / name) for name in names]
        return Workload(
            kind,
            tuple(paths),
            self._list(f"{kind}-{len(paths)}", paths),
            *(sum(size[what] for size in sizes) for what in ("compressed", "inflated", "members")),
        )

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


def _siblings(warc: str) -> list[str]:
    """The names of the WAT and WET files of a WARC file."""
    return [warc.replace("/warc/", f"/{kind}/").replace(".warc.gz", f".warc.{kind}.gz") for kind in ("wat", "wet")]


def _write_whole(file: Path, pieces: Iterable[bytes], ended: Callable[[], int] = lambda: 0) -> None:
    """Write a file that exists only if it is complete and the process that makes it has `ended` with 0."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as target:
        target.writelines(pieces)
    if code := ended():
        sys.exit(f"{file}: what makes it ended with {code}")
    unfinished.replace(file)


def _lines(count: int) -> Iterator[bytes]:
    """Lines of `LINE_BYTES`: a urlkey with one of many hosts, a time, and a unique part."""
    dice = random.Random(_SEED)
    for _ in range(count):
        number = dice.getrandbits(60)
        host, page = number % 50_000, number >> 30
        head = b'%c%c,host%d)/page/%d 20260101000000 {"' % (97 + host % 26, 97 + host % 23, host, page)
        yield head + dice.randbytes(LINE_BYTES // 2).hex().encode()[: LINE_BYTES - 3 - len(head)] + b'"}\n'


def whole_files(sizes: list[int], wanted: float) -> int:
    """How many of the files, from the first, come nearest to the wanted total size: an even number, at least two."""
    sums = {number: sum(sizes[:number]) for number in range(2, len(sizes) + 1, 2)}
    return min(sums, key=lambda number: abs(sums[number] - wanted))


def _members(path: Path) -> Iterator[bytes]:
    """The content of each gzip member of a file whose lengths are known."""
    lengths = array("Q", Path(f"{path}.members").read_bytes())
    if sys.byteorder == "big":
        lengths.byteswap()
    with path.open("rb") as stream:
        for length in lengths:
            yield zlib.decompress(stream.read(length), 31)


def member_lengths(path: Path) -> tuple[array[int], int]:
    """The compressed length of each gzip member of a file, by zlib alone, and the inflated size of all."""
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
