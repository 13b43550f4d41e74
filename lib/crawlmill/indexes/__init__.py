"""Indexes of URLs: bytes to captures."""
