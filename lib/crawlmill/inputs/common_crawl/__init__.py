"""What Common Crawl publishes: its crawls, and the path lists of each."""
