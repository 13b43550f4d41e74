"""Inflates the gzip members of a cluster and writes them to stdout: the least that a look-up of all of it must do.

    python inflate_blocks.py CLUSTER_IDX

Reads the members one by one, at the offsets in cluster.idx, and inflates each at once with libdeflate.
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
