"""The records that an output file has of its own: warcinfo, filedesc, and the provenance of each record.

Spec: WARC 1.1 (ISO 28500:2017), sections 6.2 (warcinfo) and 6.6 (metadata); ARC 1.0, section 3.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Self

from crawlmill import __version__
from crawlmill.errors import UsageError
from crawlmill.extraction.members import Seen
from crawlmill.formats.timestamps import timestamp_of

__all__ = ["RunInfo", "compressed", "note"]

_MAX_SOURCES: Final = 10
_MAX_NAME: Final = 200
_SPACE: Final = uuid.UUID("5d8a2f0c-9d0e-5b6b-8f5b-2a1f0c7f6e11")
_WARC_FIELDS: Final = "application/warc-fields"
_CONFORMS: Final = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_FILEDESC: Final = b"1 0 Crawlmill\nURL IP-address Archive-date Content-type Archive-length\n\n"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The information about a run in its output files.

    Args:
        began: When the run began: 14 digits, in UTC.
        seed: The seed of record ids: different for each run, unless SOURCE_DATE_EPOCH makes runs reproducible.
        sources: The lists, or the patterns and indexes, that name the records.
    """

    began: str
    seed: str
    sources: tuple[str, ...]

    @classmethod
    def now(cls, sources: Sequence[str], environment: Mapping[str, str] = os.environ) -> Self:
        """The information for a run that begins now.

        Raises:
            UsageError: SOURCE_DATE_EPOCH is not a number of seconds.
        """
        epoch = environment.get("SOURCE_DATE_EPOCH") or None
        try:
            began = time.strftime("%Y%m%d%H%M%S", time.gmtime(time.time() if epoch is None else int(epoch)))
        except (ValueError, OverflowError, OSError):
            raise UsageError("SOURCE_DATE_EPOCH", expected="seconds since 1970", actual=epoch) from None
        shown = [" ".join(name.split())[:_MAX_NAME] for name in sources[:_MAX_SOURCES]]
        more = len(sources) - len(shown)
        return cls(began, epoch or uuid.uuid4().hex, (*shown, *([f"and {more} more"] if more else [])))

    def label(self, number: int) -> str:
        """The label for a task that writes an output file."""
        return json.dumps({"number": number, **asdict(self)})

    @classmethod
    def of_label(cls, label: str) -> tuple[int, Self]:
        """Parse the text returned by `label`."""
        said = json.loads(label)
        return said["number"], cls(said["began"], said["seed"], tuple(said["sources"]))

    def warcinfo(self, name: str) -> bytes:
        """The gzip member at the beginning of a WARC file."""
        fields = [
            ("software", f"Crawlmill/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", _CONFORMS),
            ("description", "records copied out of other archives, each member as it was there"),
            *(("source", each) for each in self.sources),
        ]
        header = [
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", _id(self.seed, name)),
            ("WARC-Date", _iso(self.began)),
            ("WARC-Filename", name),
        ]
        # Not compressed, so that it has the same length in each run, and later records the same offsets.
        return compressed(_record(header, fields), 0)

    def filedesc(self, name: str) -> bytes:
        """The gzip member at the beginning of an ARC file."""
        line = f"filedesc://{name} 0.0.0.0 {self.began} text/plain {len(_FILEDESC) - 1}\n"
        return compressed(line.encode() + _FILEDESC, 0)


def note(seen: Seen, name: str, offset: int, length: int) -> bytes:
    """The gzip member of a metadata record with the provenance of a record; the same in every run."""
    uri = "".join(f"%{ord(char):02X}" if char <= " " else char for char in seen.uri or "")
    when = timestamp_of(seen.date) or "19700101000000"
    header = [
        ("WARC-Type", "metadata"),
        ("WARC-Record-ID", _id(name, str(offset), str(length))),
        ("WARC-Date", _iso(when)),
        *([("WARC-Target-URI", uri)] if uri else []),
        *([("WARC-Refers-To", seen.id)] if seen.id else []),
    ]
    fields = [("source-file", name), ("source-offset", str(offset)), ("source-length", str(length))]
    return compressed(_record(header, fields))


def compressed(content: bytes, level: int = 6) -> bytes:
    """A gzip member of its own: the same bytes for the same content, whichever libraries are installed."""
    deflater = zlib.compressobj(level, zlib.DEFLATED, 31)
    return deflater.compress(content) + deflater.flush()


def _record(header: list[tuple[str, str]], fields: list[tuple[str, str]]) -> bytes:
    block = _lines(fields)
    digest = base64.b32encode(hashlib.sha1(block, usedforsecurity=False).digest()).decode("ascii")
    ending = [
        ("Content-Type", _WARC_FIELDS),
        ("WARC-Block-Digest", f"sha1:{digest}"),
        ("Content-Length", str(len(block))),
    ]
    return b"WARC/1.1\r\n" + _lines([*header, *ending]) + b"\r\n" + block + b"\r\n\r\n"


def _lines(fields: list[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields).encode("utf-8", "surrogateescape")


def _id(*parts: str) -> str:
    name = "\0".join(parts).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return f"<urn:uuid:{uuid.uuid5(_SPACE, name)}>"


def _iso(digits: str) -> str:
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
