"""WARC."""
