"""The URL index of the 2012 crawl, a prefix B-tree: look-up and writer."""
