"""The statistics of crawls, in the form in which Common Crawl publishes them."""
