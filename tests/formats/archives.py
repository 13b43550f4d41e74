"""Reads an archive held in memory, for tests."""

from __future__ import annotations

import io

from crawlmill.errors import FormatError
from crawlmill.formats.archive import read_archive


class Read:
    """What a reading gave: rows (offset, length, index, type, uri), blocks, problems (reason, offset) and the format."""

    def __init__(self, data, **options):
        self.rows, self.blocks, self.errors, self.format = [], [], [], None
        source = data if isinstance(data, io.IOBase) else io.BytesIO(data)
        try:
            for record in read_archive(
                source, on_problem=self.errors.append, on_format=lambda name: setattr(self, "format", name), **options
            ):
                try:
                    block = b"".join(record.block.pieces())
                except FormatError:
                    continue
                self.rows.append((record.offset, record.length, record.index, record.type, record.uri))
                self.blocks.append(block)
        except FormatError as error:
            self.errors.append(error)

    @property
    def problems(self):
        return [(error.reason, error.offset) for error in self.errors]

    @property
    def uris(self):
        return [(kind, uri) for _, _, _, kind, uri in self.rows]


def uri_of(content: bytes):
    """(type, target URI) of a record made by the builders."""
    fields = dict(line.partition(b": ")[::2] for line in content.partition(b"\r\n\r\n")[0].split(b"\r\n"))
    uri = fields.get(b"WARC-Target-URI")
    return fields[b"WARC-Type"].decode(), uri.decode() if uri is not None else None
