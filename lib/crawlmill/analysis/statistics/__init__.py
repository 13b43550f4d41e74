"""The statistics of crawls, in the form published by Common Crawl."""
