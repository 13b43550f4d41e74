"""Inflates the gzip members of a cluster and writes them to stdout: what a look-up of all of it cannot do without.

    python inflate_blocks.py CLUSTER_IDX

Members are read one by one, at the places that cluster.idx names, and inflated whole with libdeflate.
"""

from __future__ import annotations

import sys
from pathlib import Path

import deflate

idx = Path(sys.argv[1])
shards = {}
out = sys.stdout.buffer
for row in idx.read_bytes().split(b"\n")[:-1]:
    shard, length = row.split(b"\t")[1:4:2]
    if shard not in shards:
        shards[shard] = (idx.parent / shard.decode()).open("rb")
    member = shards[shard].read(int(length))
    out.write(deflate.gzip_decompress(member))
