"""Indexes of URLs: from bytes to captures."""
