"""Print the similarity hash of texts, as Common Crawl published it in 2012 under the name text_simhash.

Prints a line per file: the hash, a signed 64-bit number, and the file. Similar texts have hashes that differ in few
bits; a text of fewer than four characters has the hash 0. In the metadata of 2012 the hash is that of the whole body,
markup included. A byte order mark counts as a character (except in charsets that use it, such as utf-16); bytes that
are invalid in the charset become U+FFFD.

Examples:
  crawlmill simhash one.txt two.txt
  crawlmill cat 1346864469604_0.arc.gz --offset 157 --part payload | crawlmill simhash --charset ISO-8859-1 -
"""

from __future__ import annotations

import argparse
import codecs
import sys

from crawlmill.analysis.simhash import text_simhash
from crawlmill.cli.arguments import make_storage
from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import tell, visible_field

__all__ = ["add_arguments", "run"]

_MAX_MIB = 1024
_HOST_NAMES = ("idna", "punycode")  # codecs for host names, which decode anything in some versions of Python


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a text at any location; - is stdin")
    parser.add_argument(
        "--charset",
        default="utf-8",
        metavar="NAME",
        help="the charset of the texts, as Python calls it (default: utf-8)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the hashes."""
    charset = _text_codec(options.charset)
    storage = make_storage(options)
    lost = False
    for name in options.files:
        try:
            data = sys.stdin.buffer.read() if name == "-" else storage.read_all(name, limit=_MAX_MIB << 20)
        except (FormatError, SourceError) as error:
            tell(f"{error.reason}: {error.located(source=redact(name))}")
            lost = True
            continue
        sys.stdout.write(f"{text_simhash(data.decode(charset, 'replace'))}\t{visible_field(redact(name))}\n")
    return 2 if lost else 0


def _text_codec(name: str) -> str:
    """The codec for a charset, checked to decode any bytes to text.

    Raises:
        UsageError: There is no such charset.
    """
    try:
        codec: codecs.CodecInfo | None = codecs.lookup(name)
        b"\xff".decode(name, "replace")  # `base64` and the like are codecs too, but do not yield text
    except (LookupError, ValueError):
        codec = None
    if codec is None or codec.name in _HOST_NAMES:
        raise UsageError("--charset", expected="the name of a charset", actual=repr(name))
    return codec.name
