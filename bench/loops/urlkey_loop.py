"""Makes the keys of the URLs in a file, one per line, several times over.

python urlkey_loop.py LIBRARY FILE TIMES        LIBRARY: crawlmill, or surt; prints {"keys": …, "total": …}
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

if sys.argv[1] == "surt":
    from surt import surt as urlkey
else:
    from crawlmill.urls.surt import urlkey

URLS = Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")[:-1]

total = 0
for _ in range(int(sys.argv[3])):
    for url in URLS:
        total += len(urlkey(url))
print(json.dumps({"keys": len(set(map(urlkey, URLS))), "total": total}))
