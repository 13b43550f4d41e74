"""The jobs that come with Crawlmill: `crawlmill run NAME`, or `python jobs/NAME.py` from a clone.

A job is a module of this package with the job's name, and a class with the same name (`tag_count`, `TagCount`). To add
one, add its module, and a script that runs it in `jobs/`.
"""

import crawlmill.mr  # noqa: F401 - must come first: it makes tasks on a cluster report missing packages
