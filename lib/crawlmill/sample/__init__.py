"""The sample crawl: a synthetic crawl whose true answers are known from its construction."""
