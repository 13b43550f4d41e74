"""The CDXJ lines of a prefix tree's items, with the key that an item has in the tree as their last field."""

from __future__ import annotations

import re
from json.encoder import encode_basestring_ascii
from typing import Final

from crawlmill.indexes.prefix_tree.items import Item
from crawlmill.indexes.prefix_tree.keys import url_of
from crawlmill.urls.surt import urlkey_bytes

__all__ = ["line_of", "without_keys"]

_KEY_FIELD: Final = re.compile(rb', "key": "[^"\\]*+(?:\\.[^"\\]*+)*+"\}\n')


def line_of(item: Item) -> bytes:
    """The line of an item, with its LF."""
    url, place = url_of(item.key), item.place
    length = "" if place.length is None else f'"length": "{place.length}", '
    fields = (
        f'{{"url": {_json_of(url)}, {length}"offset": "{place.offset}", "filename": "{place.filename}", '
        f'"key": {_json_of(item.key)}}}'
    )
    return b"%s %s %s\n" % (urlkey_bytes(url), place.timestamp.encode(), fields.encode())


def without_keys(lines: bytes) -> bytes:
    """The lines of a tree without the field `key`, which ends them: `url`, `length`, `offset`, `filename`."""
    return _KEY_FIELD.sub(b"}\n", lines)


def _json_of(text: bytes) -> str:
    return encode_basestring_ascii(text.decode("utf-8", "surrogateescape"))
