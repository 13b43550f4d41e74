"""Crawlmill: MapReduce extraction jobs for the whole history of Common Crawl."""

__all__ = ["__version__"]

__version__ = "0.1.0"
