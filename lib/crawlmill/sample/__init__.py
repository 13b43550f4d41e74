"""The sample crawl: a synthetic crawl whose true answers are known from its construction."""

from __future__ import annotations

from crawlmill.sample.answers import Answers
from crawlmill.sample.archives.warc import CRAWL
from crawlmill.sample.crawl import DEFAULT_FORMATS, FORMATS, write_sample

__all__ = ["CRAWL", "DEFAULT_FORMATS", "FORMATS", "Answers", "write_sample"]
