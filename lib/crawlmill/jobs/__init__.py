"""The jobs that come with Crawlmill: `crawlmill run NAME`, or `python jobs/NAME.py` from a clone.

A job is a module of this package, called as the job is, with a class called as the module is (`tag_count`,
`TagCount`). To add one is to add its module, and its door in `jobs/`.
"""

import crawlmill.mr  # noqa: F401 - first: from then on a cluster's task reports what its node lacks
