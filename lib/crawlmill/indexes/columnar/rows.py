"""Rows of captures: Arrow tables, made from many lines of CDXJ at a time.

Values that depend on the host are computed once per host; everything else by Arrow's kernels for all lines at once. The
lines are those returned by `checked`. If Arrow's JSON parser disagrees with Python's (about a repeated name), Python's
is used.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from crawlmill.indexes.columnar.checked import FIELDS
from crawlmill.indexes.columnar.layout import Column, columns, partition_of
from crawlmill.urls.hosts import host_kind
from crawlmill.urls.parts import host_and_port, url_parts
from crawlmill.urls.suffixes import public_suffix, registered_domain

__all__ = ["schema_of", "table_of", "uuid_bytes"]

_TYPES: Final[dict[str, pa.DataType]] = {
    "string": pa.string(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
    "uuid": pa.binary(16),
}
_JSON_SCHEMA: Final = pa.schema([(name, pa.string()) for name in FIELDS])
_STAMP: Final = "%Y%m%d%H%M%S"

# Most URLs, for which RE2 finds the same parts as `url_parts`. Others are parsed one by one.
_USUAL: Final = r"^(?P<scheme>https?)://(?P<authority>[0-9A-Za-z._:-]+)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?s:#.*)?$"

_OF_HOST: Final = (
    "url_host_name",
    "url_host_tld",
    "url_host_2nd_last_part",
    "url_host_3rd_last_part",
    "url_host_4th_last_part",
    "url_host_5th_last_part",
    "url_host_registry_suffix",
    "url_host_registered_domain",
    "url_host_private_suffix",
    "url_host_private_domain",
    "url_host_name_reversed",
)
_OF_AUTHORITY: Final = pa.schema([*((name, pa.string()) for name in _OF_HOST), ("url_port", pa.int32())])


def schema_of(*, record_ids: bool = False) -> pa.Schema:
    """The schema of a table's files."""
    fields = [pa.field(each.name, _TYPES[each.type], each.nullable) for each in columns(record_ids=record_ids)]
    return pa.schema(fields)


def table_of(lines: list[bytes], *, record_ids: bool = False) -> pa.Table:
    """The rows for lines of CDXJ without line ends, in the same order."""
    keys, stamps, texts = zip(*(line.split(b" ", 2) for line in lines), strict=True)
    fields = _fields_of(texts)
    values: dict[str, Any] = {
        "url_surtkey": pa.array(keys, pa.binary()).cast(pa.string()),
        "fetch_time": _times_of(stamps),
        **_of_url(fields["url"]),
        "warc_segment": _segments_of(fields["filename"]),
    }
    for column in columns(record_ids=record_ids):
        if column.field is not None:
            values[column.name] = _converted(column, fields[column.field])
    schema = schema_of(record_ids=record_ids)
    return pa.table([values[name] for name in schema.names], schema=schema)


def _fields_of(texts: tuple[bytes, ...]) -> pa.Table:
    data = b"\n".join(texts)
    options = pa.json.ParseOptions(explicit_schema=_JSON_SCHEMA, unexpected_field_behavior="ignore")
    reading = pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1)
    try:
        table = pa.json.read_json(pa.BufferReader(data), read_options=reading, parse_options=options)
    except pa.ArrowInvalid:
        objects = [json.loads(text) for text in texts]
        return pa.table({name: pa.array([each.get(name) for each in objects], pa.string()) for name in FIELDS})
    return table.combine_chunks()


def _converted(column: Column, values: pa.ChunkedArray) -> Any:
    if column.type == "string":
        return values
    if column.type == "uuid":
        return pa.array([uuid_bytes(text) for text in values.to_pylist()], _TYPES["uuid"])
    numbers = values.cast(_TYPES[column.type])
    return numbers if column.name != "fetch_status" else pc.fill_null(numbers, pa.scalar(-1, pa.int16()))


def uuid_bytes(text: str | None) -> bytes | None:
    """The 16 bytes of a UUID as text; None if it is none."""
    try:
        return uuid.UUID(text).bytes if text else None
    except ValueError:
        return None


def _times_of(stamps: tuple[bytes, ...]) -> pa.Array:
    times = pc.strptime(pa.array(stamps, pa.binary()).cast(pa.string()), format=_STAMP, unit="s")
    return times.cast(pa.timestamp("ms")).cast(_TYPES["timestamp"])


def _segments_of(names: pa.ChunkedArray) -> Any:
    coded = names.combine_chunks().dictionary_encode()
    found = map(partition_of, coded.dictionary.to_pylist())
    return pa.array([each.segment if each else "" for each in found], pa.string()).take(coded.indices)


def _of_url(urls: pa.ChunkedArray) -> dict[str, Any]:
    """The columns derived from URLs."""
    urls = urls.combine_chunks()
    found = pc.extract_regex(urls, _USUAL)
    scheme, authority, path, query = (found.field(name) for name in ("scheme", "authority", "path", "query"))
    query = pc.if_else(pc.equal(query, ""), pa.scalar(None, pa.string()), pc.utf8_slice_codeunits(query, 1))
    odd = pc.indices_nonzero(pc.is_null(found)).to_pylist()
    hosts = {text: host_and_port(text) for text in pc.unique(authority).to_pylist() if text is not None}
    if odd:
        parts = [url_parts(urls[n].as_py()) for n in odd]
        mask = pc.is_null(found)
        scheme, path, query = (
            pc.replace_with_mask(values, mask, pa.array([getattr(each, name) for each in parts], pa.string()))
            for values, name in ((scheme, "protocol"), (path, "path"), (query, "query"))
        )
        # The authority of an ordinary URL never begins with a blank, so these names cannot clash with others.
        names = [f" {each.host} {each.port}" for each in parts]
        hosts.update({name: (each.host, each.port) for name, each in zip(names, parts, strict=True)})
        authority = pc.replace_with_mask(authority, mask, pa.array(names, pa.string()))
    coded = authority.dictionary_encode()
    rows = [(*_host_columns(host), port) for host, port in map(hosts.__getitem__, coded.dictionary.to_pylist())]
    of_authority = pa.table(
        [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), _OF_AUTHORITY, strict=True)],
        schema=_OF_AUTHORITY,
    )
    taken = of_authority.take(coded.indices)
    return {
        **{name: taken[name] for name in taken.column_names},
        "url_protocol": scheme,
        "url_path": path,
        "url_query": query,
    }


def _host_columns(host: str) -> tuple[str | None, ...]:
    """The values of `_OF_HOST`. A host that is not a domain name, such as an address, has only a name."""
    kind = host_kind(host)
    if kind in ("ipv4", "ipv6") or not host or host.startswith("["):
        return (host, *[None] * 10)
    labels = host.split(".")[::-1]
    parts = [*labels, None, None, None, None][:5]
    return (
        host,
        *parts,
        public_suffix(host, unknown=False),
        registered_domain(host, unknown=False),
        public_suffix(host, private=True, unknown=False),
        registered_domain(host, private=True, unknown=False),
        ".".join(labels),
    )
